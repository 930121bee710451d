//! Servers that note the calls they get as they come, byte for byte, and answer with bytes that they were given: on
//! a pipe and behind HTTP, as JSON and as events, of either era.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What it says when it is met, and of its tools.
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mirror","version":"1"}}"#;
const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"}"#;
const TOOLS: &str = r#"{"resultType":"complete","tools":[{"name":"say","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"public"}"#;

/// The era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Session,
    Stateless,
}

/// How it answers a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Json,
    Events,
}

impl Era {
    /// The result of a request that is none of a tool.
    fn result(self, line: &str) -> Option<&'static str> {
        let asks = |method: &str| line.contains(&format!(r#""method":"{method}""#));
        match self {
            Self::Session if asks("initialize") => Some(INITIALIZED),
            Self::Stateless if asks("server/discover") => Some(DISCOVERED),
            _ if asks("tools/list") => Some(TOOLS),
            Self::Session if asks("ping") => Some("{}"),
            _ => None,
        }
    }
}

/// The same as a shell's script, which answers with what lies in the file `answer` and notes calls in `calls`.
pub(crate) fn script(era: Era) -> String {
    let row =
        |method: &str, result: &str| format!("*'\"method\":\"{method}\"'*) result='{result}' ;;");
    let rows = ["initialize", "server/discover", "tools/list", "ping"].map(|method| {
        let result = era.result(&format!(r#""method":"{method}""#));
        result.map(|result| row(method, result)).unwrap_or_default()
    });
    let rows = rows.join("\n    ");
    format!(
        r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case "$line" in
    *'"method":"tools/call"'*) printf '%s\n' "$line" >> calls; result=$(cat answer) ;;
    {rows}
    *) result='' ;;
  esac
  if [ -n "$id" ] && [ -n "$result" ]; then
    printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$result"
  elif [ -n "$id" ]; then
    printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"Method not found"}}}}\n' "$id"
  fi
done
"#
    )
}

/// One behind HTTP. Its threads end with the test.
pub(crate) struct Mirror {
    pub(crate) url: String,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Mirror {
    pub(crate) fn start(era: Era, answers: Answers, answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (calls, answer) = (Arc::new(Mutex::default()), answer.to_owned());
        let own = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (calls, answer) = (Arc::clone(&own), answer.clone());
                std::thread::spawn(move || serve(&stream, era, answers, &answer, &calls));
            }
        });
        Self { url, calls }
    }

    /// The calls so far, as they came.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

/// One request; the connection ends with its answer.
fn serve(stream: &TcpStream, era: Era, answers: Answers, answer: &str, calls: &Mutex<Vec<String>>) {
    let Some((method, body)) = read(stream) else { return };
    if method != "POST" {
        return reply(stream, "405 Method Not Allowed", "application/json", "");
    }
    let id = body.strip_prefix(r#"{"jsonrpc":"2.0","id":"#).and_then(|rest| rest.split(',').next());
    let Some(id) = id else { return reply(stream, "202 Accepted", "application/json", "") };
    let result = if body.contains(r#""method":"tools/call""#) {
        calls.lock().unwrap().push(body.clone());
        Some(answer)
    } else {
        era.result(&body)
    };
    let error = r#""error":{"code":-32601,"message":"Method not found"}"#;
    let outcome = result.map_or_else(|| error.to_owned(), |result| format!(r#""result":{result}"#));
    let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#);
    match (answers, result) {
        (Answers::Events, Some(_)) => {
            reply(stream, "200 OK", "text/event-stream", &format!("data: {message}\n\n"));
        }
        _ => reply(stream, "200 OK", "application/json", &message),
    }
}

fn read(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        let line = head[start..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head.split(' ').next()?.to_owned(), String::from_utf8(body).ok()?))
}

fn reply(mut stream: &TcpStream, status: &str, kind: &str, body: &str) {
    // Whoever does not wait for it is a hub that ends.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}
