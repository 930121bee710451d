//! A client of HTTP that can send anything, good or bad, and reads answers as they come.

use std::net::SocketAddr;

use serde_json::{Value, json};
use switchboard_wire::sse::{Decoder, Item};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::LIMIT;

/// Somebody with a token, and perhaps a session.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) path: String,
}

/// An answer that is being read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    stream: TcpStream,
    raw: Vec<u8>,
    /// What was taken out of its chunks and not read yet.
    body: Vec<u8>,
    framing: Framing,
    events: Decoder,
}

enum Framing {
    Length(usize),
    Chunks,
    Ended,
}

/// A request of the session era.
pub(crate) fn request(id: u64, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The call of a tool.
pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// What a request of the stateless era says of itself.
pub(crate) fn stateless(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// The names in a list.
pub(crate) fn listed(result: &Value, list: &str, key: &str) -> Vec<String> {
    let entries = result["result"][list].as_array().unwrap();
    entries.iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
}

impl Client {
    pub(crate) fn new(address: SocketAddr, token: &str) -> Self {
        let headers = [
            ("host", address.to_string()),
            ("authorization", format!("Bearer {token}")),
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Self { address, headers, path: "/mcp".to_owned() }
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// With a header instead of what was there; an empty value takes it away.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The same client in a session.
    pub(crate) async fn initialized(self, revision: &str, capabilities: Value) -> Self {
        let hello = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.post(&request(0, "initialize", hello)).await;
        assert_eq!(answer.status, 200);
        let id = answer.header("mcp-session-id").unwrap();
        let client = self.with("mcp-session-id", &id).with("mcp-protocol-version", revision);
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(client.post(note).await.status, 202);
        client
    }

    pub(crate) async fn post(&self, body: &str) -> Answer {
        self.send("POST", body.as_bytes()).await
    }

    pub(crate) async fn get(&self) -> Answer {
        self.send("GET", b"").await
    }

    /// A request of the stateless era with the headers that belong to it.
    pub(crate) async fn ask(
        &self,
        id: u64,
        method: &str,
        params: Value,
        capabilities: Value,
    ) -> Answer {
        let mut params = params;
        let mut meta = stateless(capabilities);
        if let Some(own) = params.get("_meta").and_then(Value::as_object) {
            meta.as_object_mut().unwrap().extend(own.clone());
        }
        params["_meta"] = meta;
        let subject = ["name", "uri"].iter().find_map(|key| params[*key].as_str());
        let client = self.clone().with("mcp-protocol-version", "2026-07-28");
        let client = client.with("mcp-method", method);
        let client = match subject {
            Some(subject) => client.with("mcp-name", subject),
            None => client,
        };
        client.post(&request(id, method, params)).await
    }

    pub(crate) async fn send(&self, method: &str, body: &[u8]) -> Answer {
        let mut head = format!("{method} {} HTTP/1.1\r\n", self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server may answer before it has read everything.
        let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
        Answer::read(stream).await
    }
}

impl Answer {
    pub(crate) async fn read(stream: TcpStream) -> Self {
        Self::or_closed(stream).await.unwrap_or_else(|| panic!("no answer"))
    }

    /// The same; nothing if the connection was closed instead.
    pub(crate) async fn or_closed(mut stream: TcpStream) -> Option<Self> {
        let mut raw = Vec::new();
        let end = loop {
            if let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            let read = timeout(LIMIT, stream.read_buf(&mut raw)).await.unwrap();
            if read.unwrap_or(0) == 0 {
                assert!(raw.is_empty(), "half an answer: {:?}", String::from_utf8_lossy(&raw));
                return None;
            }
        };
        let head = String::from_utf8(raw[..end].to_vec()).unwrap();
        let raw = raw[end + 4..].to_vec();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let find = |name: &str| headers.iter().find(|(other, _)| other == name);
        let framing = match find("content-length") {
            Some((_, length)) => Framing::Length(length.parse().unwrap()),
            None if find("transfer-encoding").is_some() => Framing::Chunks,
            None => Framing::Length(0),
        };
        let events = Decoder::new(64 * 1024 * 1024);
        Some(Self { status, headers, stream, raw, body: Vec::new(), framing, events })
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The whole body.
    pub(crate) async fn text(&mut self) -> String {
        while self.more().await {}
        String::from_utf8(std::mem::take(&mut self.body)).unwrap()
    }

    /// The answer as JSON: the body, or the last message of the stream.
    pub(crate) async fn json(mut self) -> Value {
        if !self.is_stream() {
            return serde_json::from_str(&self.text().await).unwrap();
        }
        self.all().await.pop().unwrap()
    }

    /// Every message until the end of the stream.
    pub(crate) async fn all(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some((_, message)) = self.next().await {
            all.push(message);
        }
        all
    }

    /// The next message of the stream and its id, passing over comments and empty ones.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        let message = async {
            loop {
                let (id, data) = self.event().await?;
                if !data.is_empty() {
                    return Some((id, serde_json::from_slice(&data).unwrap()));
                }
            }
        };
        // Comments alone would go on for ever.
        timeout(LIMIT, message).await.unwrap()
    }

    /// The next event.
    pub(crate) async fn event(&mut self) -> Option<(String, Vec<u8>)> {
        loop {
            while let Some(item) = self.events.next_item() {
                if let Item::Event(event) = item {
                    let id = self.events.last_event_id().unwrap_or_default().to_owned();
                    return Some((id, event.data.to_vec()));
                }
            }
            if !self.more().await {
                return None;
            }
            let body = std::mem::take(&mut self.body);
            self.events.feed(&body);
        }
    }

    /// What comes next, as it comes, with its comments.
    pub(crate) async fn piece(&mut self) -> String {
        assert!(self.more().await, "it has ended");
        String::from_utf8(std::mem::take(&mut self.body)).unwrap()
    }

    /// Takes more of the body; `false` at its end.
    async fn more(&mut self) -> bool {
        loop {
            match &mut self.framing {
                Framing::Ended => return false,
                Framing::Length(0) => self.framing = Framing::Ended,
                Framing::Length(left) if !self.raw.is_empty() => {
                    let taken = self.raw.len().min(*left);
                    *left -= taken;
                    self.body.extend(self.raw.drain(..taken));
                    return true;
                }
                Framing::Chunks => {
                    if let Some(chunk) = chunk(&mut self.raw) {
                        if chunk.is_empty() {
                            self.framing = Framing::Ended;
                        } else {
                            self.body.extend(chunk);
                            return true;
                        }
                        continue;
                    }
                    if !self.fill().await {
                        return false;
                    }
                }
                Framing::Length(_) => {
                    if !self.fill().await {
                        return false;
                    }
                }
            }
        }
    }

    async fn fill(&mut self) -> bool {
        let read = timeout(LIMIT, self.stream.read_buf(&mut self.raw)).await;
        read.unwrap().unwrap_or(0) > 0
    }
}

/// Takes one whole chunk out.
fn chunk(raw: &mut Vec<u8>) -> Option<Vec<u8>> {
    let line = raw.windows(2).position(|two| two == b"\r\n")?;
    let size = std::str::from_utf8(&raw[..line]).ok()?;
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let end = line + 2 + size + 2;
    if raw.len() < end {
        return None;
    }
    let chunk = raw[line + 2..line + 2 + size].to_vec();
    raw.drain(..end);
    Some(chunk)
}
