//! The same calls by hand: as many under way, the same bytes, on the same kind of pipe or socket.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::task::TaskTracker;

use crate::sample::Sample;
use crate::server::{self, number_after, whole};

/// The bytes that a call is.
fn request(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn child() -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(server::STDIO)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let stdout = BufReader::with_capacity(64 * 1024, child.stdout.take().unwrap());
    (child, stdin, stdout)
}

/// A process of our own, and its pipes.
pub(crate) struct Pipe {
    _child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Pipe {
    pub(crate) async fn start() -> Self {
        let (child, stdin, stdout) = child();
        Self { _child: child, stdin, stdout, next: 1 }
    }

    /// In a task, as the hub's own: one that the runtime only waits for is woken more slowly.
    pub(crate) async fn run(mut self, window: usize, span: Duration) -> (Self, Sample) {
        let task = TaskTracker::new().spawn(async move {
            let sample = self.pump(window, span).await;
            (self, sample)
        });
        task.await.unwrap()
    }

    /// Writes until the window is full, reads what is there, writes as much again.
    async fn pump(&mut self, window: usize, span: Duration) -> Sample {
        let first = self.next;
        let (began, mut sent, mut each) = (Instant::now(), Vec::new(), Vec::new());
        let mut line = Vec::new();
        let mut due = window;
        loop {
            let mut out = String::new();
            for _ in 0..due {
                out.push_str(&request(self.next));
                out.push('\n');
                self.next += 1;
                sent.push(Instant::now());
            }
            if due > 0 {
                self.stdin.write_all(out.as_bytes()).await.unwrap();
            }
            let mut answered = 0;
            loop {
                line.clear();
                self.stdout.read_until(b'\n', &mut line).await.unwrap();
                let id = number_after(&line, b"\"id\":").unwrap();
                each.push(sent[usize::try_from(id - first).unwrap()].elapsed());
                answered += 1;
                if !self.stdout.buffer().contains(&b'\n') {
                    break;
                }
            }
            due = if began.elapsed() < span { answered } else { 0 };
            if due == 0 && each.len() == sent.len() {
                return Sample::of(each, began.elapsed());
            }
        }
    }
}

/// A task for each call under way, with a connection of its own.
pub(crate) async fn sockets(address: SocketAddr, window: usize, span: Duration) -> Sample {
    let began = Instant::now();
    side_by_side(window, began, move |at| async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (mut each, mut input) = (Vec::new(), Vec::with_capacity(4096));
        let mut id = at as u64 * 1_000_000;
        while began.elapsed() < span {
            let start = Instant::now();
            id += 1;
            let body = request(id);
            let head = format!(
                "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            input.clear();
            while whole(&input).is_none() {
                stream.read_buf(&mut input).await.unwrap();
            }
            assert!(number_after(&input, b"\"id\":") == Some(id));
            each.push(start.elapsed());
        }
        each
    })
    .await
}

/// The same through the HTTP client that `upstream` uses, and nothing else of it.
pub(crate) async fn pooled(url: &str, window: usize, span: Duration) -> Sample {
    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap();
    let (began, url) = (Instant::now(), url.to_owned());
    side_by_side(window, began, move |at| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let mut each = Vec::new();
            let mut id = at as u64 * 1_000_000;
            while began.elapsed() < span {
                let start = Instant::now();
                id += 1;
                let request = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-protocol-version", "2025-11-25")
                    .body(request(id));
                let body = request.send().await.unwrap().bytes().await.unwrap();
                assert!(number_after(&body, b"\"id\":") == Some(id));
                each.push(start.elapsed());
            }
            each
        }
    })
    .await
}

pub(crate) async fn side_by_side<F>(
    window: usize,
    began: Instant,
    work: impl Fn(usize) -> F,
) -> Sample
where
    F: Future<Output = Vec<Duration>> + Send + 'static,
{
    let tasks = TaskTracker::new();
    let running: Vec<_> = (0..window).map(|at| tasks.spawn(work(at))).collect();
    let mut each = Vec::new();
    for task in running {
        each.extend(task.await.unwrap());
    }
    Sample::of(each, began.elapsed())
}
