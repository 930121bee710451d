//! An agent as a client of either era, byte by byte: what it asks, and the streams it listens to.
//! Never judges what it hears.

use std::io::{BufRead, BufReader, Lines, Read};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::hub::{Hub, sent};

/// How long something may take that must come.
const LONG: Duration = Duration::from_secs(60);

/// An agent at one door.
#[derive(Clone)]
pub(crate) struct Client {
    address: String,
    path: String,
    token: String,
    manner: Manner,
    /// What it says it can do.
    able: Value,
    /// A header of its own.
    extra: String,
    /// Who reads its requests.
    read_by: Reader,
}

/// Who reads a POST: what connections are treated like decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The hub by itself, as most.
    Hub,
    /// The HTTP library, to which it is left.
    Library,
}

impl Reader {
    /// How a connection that ends with its answer is treated.
    pub(crate) fn close(self) -> &'static str {
        match self {
            Self::Hub => "close",
            // The hub knows nothing but one word here.
            Self::Library => "close, te",
        }
    }
}

#[derive(Clone)]
enum Manner {
    /// Of the session era, with its session.
    Session(String),
    /// Of the stateless era.
    Stateless,
}

/// What a stream brings, message by message.
pub(crate) struct Stream(Receiver<Value>);

impl Client {
    /// One of the stateless era.
    pub(crate) fn stateless(hub: &Hub, path: &str, token: &str) -> Self {
        let (address, path, token) = (hub.address.clone(), path.to_owned(), token.to_owned());
        let (able, extra, read_by) = (json!({}), String::new(), Reader::Hub);
        Self { address, path, token, manner: Manner::Stateless, able, extra, read_by }
    }

    /// The same, that can do more.
    pub(crate) fn able(self, able: Value) -> Self {
        Self { able, ..self }
    }

    /// One of the session era, whose session has begun.
    pub(crate) fn session(hub: &Hub, path: &str, token: &str) -> Self {
        Self::stateless(hub, path, token).initialized("2025-11-25")
    }

    /// The same client in a session of that revision.
    pub(crate) fn initialized(self, revision: &str) -> Self {
        let mut client = self;
        let hello = json!({
            "protocolVersion": revision,
            "capabilities": client.able,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
        let answer = client.whole(&client.head("POST", ""), &body.to_string());
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        client.manner = Manner::Session(id.expect("a session").to_owned());
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(client.whole(&client.head("POST", ""), note).starts_with("HTTP/1.1 202 "));
        client
    }

    /// The same, with a header that every request carries.
    pub(crate) fn with_header(&self, name: &str, value: &str) -> Self {
        Self { extra: format!("{name}: {value}\r\n"), ..self.clone() }
    }

    /// The same, whose requests are read so.
    pub(crate) fn read_by(self, read_by: Reader) -> Self {
        Self { read_by, ..self }
    }

    /// The same with another token.
    pub(crate) fn by(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    /// The status by which a request is answered.
    pub(crate) fn status(&self, method: &str, params: Value) -> u16 {
        let (more, body) = self.request(method, params);
        let answer = self.whole(&self.head("POST", &more), &body);
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Ends its session.
    pub(crate) fn end(&self) {
        let answer = self.whole(&self.head("DELETE", ""), "");
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
    }

    /// The messages that these bytes bring, as bytes, each as soon as it is there.
    pub(crate) fn messages(
        &self,
        body: &str,
        headers: &str,
    ) -> impl Iterator<Item = String> + use<> {
        let stream = self.send(&self.head("POST", headers), body);
        stream.set_read_timeout(Some(LONG)).unwrap();
        messages(BufReader::new(stream).lines())
    }

    /// The message that answers a request.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        let (more, body) = self.request(method, params);
        let answer = self.whole(&self.head("POST", &more), &body);
        let answers = answer.lines().map(|line| line.trim_start_matches("data: "));
        let mut answers = answers.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        answers.find(|message| message["id"] == 7).unwrap_or_else(|| panic!("{answer}"))
    }

    /// The result of a tool.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// The names of its tools.
    pub(crate) fn tools(&self) -> Vec<String> {
        self.listed("tools")
    }

    /// The names in one of its lists.
    pub(crate) fn listed(&self, list: &str) -> Vec<String> {
        let answer = self.ask(&format!("{list}/list"), json!({}));
        let rows = answer["result"][list].as_array().unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The stream that tells of changes of the tools and of one resource.
    pub(crate) fn listen(&self, uri: &str) -> Stream {
        match &self.manner {
            Manner::Session(_) => {
                let done = self.ask("resources/subscribe", json!({"uri": uri}));
                assert!(done["result"].is_object(), "{done}");
                self.hear()
            }
            Manner::Stateless => {
                let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [uri]});
                self.begin("subscriptions/listen", json!({"notifications": wanted}))
            }
        }
    }

    /// The stream of what belongs to no request of the session; from now on nothing is missed.
    pub(crate) fn hear(&self) -> Stream {
        let mut lines = BufReader::new(self.send(&self.head("GET", ""), "")).lines();
        // It is among those who are told before the head is sent.
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        Stream::of(lines)
    }

    /// The stream of a session for what belongs to no call.
    pub(crate) fn general(&self) -> Stream {
        self.hear()
    }

    /// A request, and what comes before its answer.
    pub(crate) fn begin(&self, method: &str, params: Value) -> Stream {
        let (more, body) = self.request(method, params);
        Stream::of(BufReader::new(self.send(&self.head("POST", &more), &body)).lines())
    }

    /// Anything that has no answer.
    pub(crate) fn tell(&self, message: &Value) {
        let answer = self.whole(&self.head("POST", ""), &message.to_string());
        assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    }

    fn request(&self, method: &str, mut params: Value) -> (String, String) {
        let mut more = String::new();
        if let Manner::Stateless = self.manner {
            let about = &mut params["_meta"];
            about["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            about["io.modelcontextprotocol/clientCapabilities"] = self.able.clone();
            more = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                more.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        (more, body.to_string())
    }

    fn head(&self, method: &str, more: &str) -> String {
        let session = match &self.manner {
            Manner::Session(id) => format!("Mcp-Session-Id: {id}\r\n"),
            Manner::Stateless => String::new(),
        };
        format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nConnection: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {session}{more}{}",
            self.path,
            self.address,
            self.read_by.close(),
            self.token,
            self.extra,
        )
    }

    fn send(&self, head: &str, body: &str) -> TcpStream {
        sent(&self.address, &format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()))
    }

    fn whole(&self, head: &str, body: &str) -> String {
        let mut answer = String::new();
        self.send(head, body).read_to_string(&mut answer).unwrap();
        answer
    }
}

/// The messages among the lines of an answer, whether it is one or a stream of them.
fn messages(lines: Lines<BufReader<TcpStream>>) -> impl Iterator<Item = String> {
    let data = lines.map_while(Result::ok);
    let data = data.map(|line| line.trim_start_matches("data: ").to_owned());
    data.filter(|data| data.starts_with('{'))
}

impl Stream {
    fn of(lines: Lines<BufReader<TcpStream>>) -> Self {
        let (sender, receiver) = channel();
        // It ends with the hub, or when nobody listens any more.
        std::thread::spawn(move || {
            for message in messages(lines).filter_map(|data| serde_json::from_str(&data).ok()) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self(receiver)
    }

    /// Waits for a notification of that method, and passes over the others.
    pub(crate) fn until(&self, method: &str) -> Value {
        self.within(LONG, method).unwrap_or_else(|| panic!("there is no {method}"))
    }

    /// Nothing more comes so far, and the stream has not ended.
    pub(crate) fn still_open(&self) {
        let now = self.0.recv_timeout(Duration::from_millis(500));
        assert_eq!(now, Err(RecvTimeoutError::Timeout));
    }

    /// Waits until the stream has ended, and passes over what still comes.
    pub(crate) fn ended_within(&self, limit: Duration, what: &str) {
        loop {
            match self.0.recv_timeout(limit) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("the stream is still open: {what}"),
            }
        }
    }

    /// The same for a short time.
    pub(crate) fn soon(&self, method: &str) -> Option<Value> {
        self.within(Duration::from_secs(1), method)
    }

    /// The next message.
    pub(crate) fn next(&self) -> Value {
        self.0.recv_timeout(LONG).unwrap()
    }

    fn within(&self, limit: Duration, method: &str) -> Option<Value> {
        loop {
            let message = self.0.recv_timeout(limit).ok()?;
            if message["method"] == method {
                return Some(message);
            }
        }
    }
}
