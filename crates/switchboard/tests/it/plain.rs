//! Requests as most clients send them, which the hub reads by itself, beside the same ones written so that they are left
//! to the HTTP library: the answers are the same. And what comes in several ways on one connection.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Reader;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

const ABOUT: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;

struct Answer {
    status: String,
    /// Sorted, without what differs from moment to moment.
    headers: Vec<String>,
    body: String,
}

impl Answer {
    /// The first answer in a text, and what comes behind it.
    fn read(text: &str) -> (Self, &str) {
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().to_owned();
        let mut headers: Vec<String> = lines
            .map(str::to_ascii_lowercase)
            .filter(|line| !line.starts_with("date: ") && !line.starts_with("connection: "))
            .collect();
        headers.sort();
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
        let (body, rest) = match length {
            Some(length) => {
                let (body, rest) = rest.split_at(length.parse().unwrap());
                (body.to_owned(), rest)
            }
            None if headers.iter().any(|line| line == "transfer-encoding: chunked") => joined(rest),
            None => (String::new(), rest),
        };
        (Self { status, headers, body }, rest)
    }

    fn code(&self) -> u16 {
        self.status.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

/// The chunks of a body in one piece, and what comes behind them.
fn joined(mut rest: &str) -> (String, &str) {
    let mut body = String::new();
    loop {
        let (size, more) = rest.split_once("\r\n").unwrap();
        let (chunk, more) = more.split_at(usize::from_str_radix(size, 16).unwrap());
        rest = more.strip_prefix("\r\n").unwrap();
        body.push_str(chunk);
        if chunk.is_empty() {
            return (body, rest);
        }
    }
}

struct Scene {
    context: Context,
    hub: Hub,
    token: String,
}

impl Scene {
    fn new() -> Self {
        let file = format!("{}\n[agents.cto]\nservers = [\"a\"]\n", entry("a", &Script::new()));
        let context = Context::new().with("switchboard.toml", &file);
        let hub = Hub::start(&context);
        connected(&context, &["a"]);
        let (token, _) = token(&context, "cto");
        Self { context, hub, token }
    }

    /// A request for a tool, on a connection that is treated in this way.
    fn call(&self, connection: &str, tool: &str, arguments: &str) -> String {
        let params = format!(r#"{{"name":"a__{tool}","arguments":{arguments},{ABOUT}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#);
        let more = format!(
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: a__{tool}\r\n"
        );
        self.post(connection, "/mcp", &more, &body)
    }

    fn post(&self, connection: &str, path: &str, more: &str, body: &str) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: {connection}\r\n\
             Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\n\r\n{body}",
            self.hub.address,
            self.token,
            body.len(),
        )
    }

    fn open(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.hub.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends these, each a moment after the one before, and reads to the end.
    fn sent(&self, parts: &[&str]) -> String {
        let mut stream = self.open();
        for (nth, part) in parts.iter().enumerate() {
            if nth > 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            stream.write_all(part.as_bytes()).unwrap();
        }
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

#[test]
fn the_answer_is_the_same_whoever_reads_the_request() {
    let scene = Scene::new();
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(20_000));
    let requests = |connection: &str| {
        let post = |path: &str, more: &str, body: &str| scene.post(connection, path, more, body);
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        vec![
            (200, scene.call(connection, "echo", r#"{"text":"é"}"#)),
            (200, scene.call(connection, "echo", &long)),
            // A stream, since something comes before the answer.
            (200, scene.call(connection, "progress", r#"{"steps":3,"ms":1}"#)),
            (400, post("/mcp", "", ping)),
            (400, post("/mcp", "", "{")),
            (400, post("/mcp", "", "")),
            (404, post("/mcp/agents/other", "", ping)),
            (404, post("/mcp/nowhere", "", ping)),
            (404, post("/nowhere", "", "{}")),
            (405, post("/healthz", "", "{}")),
            (415, post("/mcp", "Content-Type: text/plain\r\n", ping)),
            (403, post("/mcp", "Origin: http://evil.example\r\n", ping)),
            (401, post("/mcp", "Authorization: Bearer other\r\n", ping)),
            (403, post("/api/v1/servers", "", "{}")),
        ]
    };
    let [own, left] = [Reader::Hub, Reader::Library].map(|reader| requests(reader.close()));
    for ((code, own), (_, left)) in own.into_iter().zip(left) {
        let (own_said, left_said) = (scene.sent(&[&own]), scene.sent(&[&left]));
        let ((own_answer, rest), (left_answer, _)) =
            (Answer::read(&own_said), Answer::read(&left_said));
        assert_eq!(rest, "", "{own}");
        assert_eq!(own_answer.code(), code, "{own}\n{own_said}");
        assert_eq!(own_answer.status, left_answer.status, "{own}");
        assert_eq!(own_answer.headers, left_answer.headers, "{own}");
        assert_eq!(own_answer.body, left_answer.body, "{own}");
    }
}

#[test]
fn a_request_may_come_in_parts_and_several_at_once() {
    let scene = Scene::new();
    let (stay, last) = (scene.call("keep-alive", "echo", "{}"), scene.call("close", "echo", "{}"));
    let health = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", scene.hub.address);
    let chunked = last.replace("Content-Length: ", "Transfer-Encoding: chunked\r\nX: ");
    let (head, body) = chunked.split_once("\r\n\r\n").unwrap();
    let chunked = format!("{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let (head, body) = last.split_once("{").unwrap();
    let behind = format!("{{{body}");
    let halves = last.split_at(40);
    let ends = last.split_at(last.len() - 1);
    // Longer, in all, than a body is waited for by the hub itself.
    let tail = last.len() - 8;
    let bits: Vec<&str> = (tail..last.len()).map(|at| &last[at..=at]).collect();
    let slowly = [&[&last[..tail]], &bits[..]].concat();
    let stories: [(&[&str], usize); 10] = [
        (&[&last], 1),
        (&[head, &behind], 1),
        (&[halves.0, halves.1], 1),
        (&[ends.0, ends.1], 1),
        (&slowly, 1),
        (&[&stay, &stay, &last], 3),
        (&[&format!("{stay}{stay}{last}")], 3),
        (&[&format!("{stay}{}", halves.0), halves.1], 2),
        (&[&stay, &health, &stay, &last], 4),
        (&[&stay, &chunked], 2),
    ];
    for (parts, count) in stories {
        let said = scene.sent(parts);
        let mut rest = &*said;
        for nth in 0..count {
            let (answer, more) = Answer::read(rest);
            assert_eq!(answer.code(), 200, "{nth} of {parts:?}: {said}");
            rest = more;
        }
        assert_eq!(rest, "", "{parts:?}");
    }
}

#[test]
fn a_client_that_goes_gives_its_call_up() {
    let scene = Scene::new();
    let in_flight = || {
        let status = scene.context.json(&["status"]);
        status["servers"][0]["in_flight"].as_u64().unwrap()
    };
    for connection in ["keep-alive", Reader::Library.close()] {
        let mut stream = scene.open();
        stream.write_all(scene.call(connection, "sleep", r#"{"ms":600000}"#).as_bytes()).unwrap();
        wait("the call is under way", || in_flight() == 1);
        stream.shutdown(Shutdown::Both).unwrap();
        wait("nobody waits for it", || in_flight() == 0);
    }
}
