//! Servers that answer at once, by hand: a process, a thread, or a process behind a URL.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

/// The argument of a server on standard input and output.
pub(crate) const STDIO: &str = "serve-stdio";
/// The argument of one behind a URL.
pub(crate) const HTTP: &str = "serve-http";

/// Answers lines until there are none.
pub(crate) fn stdio() {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if answer(&line, &mut out) {
            out.push(b'\n');
        }
        line.clear();
        if input.buffer().is_empty() && !out.is_empty() {
            if io::stdout().write_all(&out).and_then(|()| io::stdout().flush()).is_err() {
                return;
            }
            out.clear();
        }
    }
}

/// Serves HTTP on a port that it prints, until standard input ends.
pub(crate) fn http() {
    let inside = Inside::start();
    println!("{}", inside.url());
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

/// A server on a thread of this process.
pub(crate) struct Inside {
    pub(crate) address: SocketAddr,
}

impl Inside {
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let (listener, tasks) =
                    (TcpListener::from_std(listener).unwrap(), TaskTracker::new());
                while let Ok((stream, _)) = listener.accept().await {
                    tasks.spawn(converse(stream));
                }
            });
        });
        Self { address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

/// The same in another process.
pub(crate) struct Outside {
    pub(crate) url: String,
    child: Child,
}

impl Outside {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(HTTP)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { url: url.trim().to_owned(), child }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn converse(mut stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut input, mut out, mut body) = (Vec::with_capacity(8192), Vec::new(), Vec::new());
    loop {
        let whole = loop {
            match whole(&input) {
                Some(whole) => break whole,
                None => (stream.read_buf(&mut input).await.ok()? > 0).then_some(())?,
            }
        };
        let (head, message) = (input[..whole.0].starts_with(b"POST"), &input[whole.0..whole.1]);
        out.clear();
        body.clear();
        match (head, answer(message, &mut body)) {
            (true, true) => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(&body);
            }
            (true, false) => {
                out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
            }
            (false, _) => {
                out.extend_from_slice(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n");
            }
        }
        stream.write_all(&out).await.ok()?;
        input.drain(..whole.1);
    }
}

/// Where the head and the body of the first message end, if it is there.
pub(crate) fn whole(input: &[u8]) -> Option<(usize, usize)> {
    let head = input.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&input[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let end = head + length.unwrap_or(0_usize);
    (input.len() >= end).then_some((head, end))
}

/// Appends the answer; `false` if there is none.
fn answer(message: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(id) = number_after(message, b"\"id\":") else { return false };
    let has = |text: &[u8]| message.windows(text.len()).any(|window| window == text);
    let result = if has(b"\"tools/call\"") {
        r#""result":{"content":[{"type":"text","text":"hello"}]}"#
    } else if has(b"\"initialize\"") {
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#
    } else if has(b"\"tools/list\"") {
        r#""result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#
    } else if has(b"\"ping\"") {
        r#""result":{}"#
    } else {
        r#""error":{"code":-32601,"message":"Method not found"}"#
    };
    out.extend_from_slice(format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#).as_bytes());
    true
}

/// The number that follows.
pub(crate) fn number_after(message: &[u8], before: &[u8]) -> Option<u64> {
    let at = message.windows(before.len()).position(|window| window == before)?;
    let digits = message[at + before.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}
