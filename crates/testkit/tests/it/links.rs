//! The three transports, as a client has them: messages out, messages in. Never knows what they say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};
use switchboard_wire::{header, meta, method};

use crate::http;

/// A way to a server. What is no JSON arrives as `{"junk": text}`, an end as `{"closed": …}`.
pub(crate) trait Link: Send {
    fn send(&mut self, message: &Value);

    /// Opens the way for what nobody asked for, where there is one of its own.
    fn open_channel(&mut self) {}
}

pub(crate) struct Pipes {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
}

impl Pipes {
    pub(crate) fn start(script: &Script) -> (Self, Receiver<Value>) {
        let (command, arguments) = Scripted::stdio(script);
        let mut child = Command::new(command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, inbox) = channel();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let whole = line.ends_with(b"\n");
                let text = String::from_utf8_lossy(line.trim_ascii_end());
                let message = match serde_json::from_slice::<Value>(&line) {
                    Ok(message) if whole && message.get("level").is_none() => message,
                    _ => json!({"junk": text, "whole": whole}),
                };
                if sender.send(message).is_err() {
                    return;
                }
                line.clear();
            }
            drop(sender.send(json!({"closed": true})));
        });
        let stdin = child.stdin.take();
        (Self { child, stdin }, inbox)
    }
}

impl Link for Pipes {
    fn send(&mut self, message: &Value) {
        if let Some(stdin) = &mut self.stdin {
            drop(stdin.write_all(format!("{message}\n").as_bytes()));
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) struct Http {
    pub(crate) server: Scripted,
    session: Arc<Mutex<Option<String>>>,
    version: Arc<Mutex<Option<String>>>,
    sender: Sender<Value>,
}

impl Http {
    pub(crate) fn start(script: &Script) -> (Self, Receiver<Value>) {
        let (sender, inbox) = channel();
        let server = Scripted::http(script);
        let (session, version) = (Arc::default(), Arc::default());
        (Self { server, session, version, sender }, inbox)
    }

    fn headers(&self, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("accept", header::ACCEPT_BOTH.to_owned()),
            ("content-type", header::JSON.to_owned()),
        ];
        let params = &message["params"];
        let named = params[meta::META][meta::PROTOCOL_VERSION].as_str();
        if let Some(named) = named {
            let method = message["method"].as_str().unwrap();
            headers.push((header::METHOD, method.to_owned()));
            headers.push((header::PROTOCOL_VERSION, named.to_owned()));
            if let Some(subject) = method::subject(method) {
                headers.push((header::NAME, params[subject].as_str().unwrap().to_owned()));
            }
        }
        let session = self.session.lock().unwrap().clone();
        headers.extend(session.map(|session| (header::SESSION_ID, session)));
        let version = self.version.lock().unwrap().clone();
        headers.extend(version.map(|version| (header::PROTOCOL_VERSION, version)));
        headers
    }
}

impl Link for Http {
    fn send(&mut self, message: &Value) {
        let (url, body) = (self.server.url().to_owned(), message.to_string());
        let (headers, sender) = (self.headers(message), self.sender.clone());
        let (session, version) = (Arc::clone(&self.session), Arc::clone(&self.version));
        thread::spawn(move || {
            let headers: Vec<_> = headers.iter().map(|(name, text)| (*name, &text[..])).collect();
            let response = match http::send("POST", &url, &headers, body.as_bytes()) {
                Ok(response) => response,
                Err(error) => return drop(sender.send(json!({"closed": error.to_string()}))),
            };
            if let Some(id) = response.header(header::SESSION_ID) {
                *session.lock().unwrap() = Some(id.to_owned());
            }
            let initialized = session.lock().unwrap().is_some();
            forward(response, &sender, |answer| {
                let agreed = answer["result"]["protocolVersion"].as_str();
                if let Some(agreed) = agreed.filter(|_| initialized) {
                    *version.lock().unwrap() = Some(agreed.to_owned());
                }
            });
        });
    }

    fn open_channel(&mut self) {
        let session = self.session.lock().unwrap().clone().unwrap();
        let headers = [("accept", "text/event-stream"), (header::SESSION_ID, &session)];
        let response = http::send("GET", self.server.url(), &headers, b"").unwrap();
        assert_eq!(response.status, 200);
        let sender = self.sender.clone();
        thread::spawn(move || forward(response, &sender, |_| {}));
    }
}

pub(crate) struct Sse {
    _server: Scripted,
    endpoint: String,
}

impl Sse {
    pub(crate) fn start(script: &Script) -> (Self, Receiver<Value>) {
        let server = Scripted::sse(script);
        let response =
            http::send("GET", server.url(), &[("accept", "text/event-stream")], b"").unwrap();
        let (sender, inbox) = channel();
        let (tell, told) = channel();
        thread::spawn(move || {
            let ended = response.events(|kind, _, data| match kind {
                "endpoint" => tell.send(String::from_utf8(data.to_vec()).unwrap()).is_ok(),
                _ => sender.send(parsed(data)).is_ok(),
            });
            drop(sender.send(json!({"closed": format!("{ended:?}")})));
        });
        let path = told.recv().unwrap();
        let endpoint = server.url().replace("/sse", &path);
        (Self { _server: server, endpoint }, inbox)
    }
}

impl Link for Sse {
    fn send(&mut self, message: &Value) {
        let headers = [("content-type", "application/json")];
        let body = message.to_string();
        let response = http::send("POST", &self.endpoint, &headers, body.as_bytes()).unwrap();
        assert_eq!(response.status, 202);
    }
}

fn forward(response: http::Response, sender: &Sender<Value>, mut look: impl FnMut(&Value)) {
    let status = response.status;
    if response.is_events() {
        let ended = response.events(|_, _, data| {
            let message = parsed(data);
            look(&message);
            // An event that only carries an id says nothing.
            data.is_empty() || sender.send(message).is_ok()
        });
        return drop(ended.map_err(|error| sender.send(json!({"closed": error.to_string()}))));
    }
    match response.body() {
        Ok(body) if body.is_empty() => {}
        Ok(body) => {
            let mut message = parsed(&body);
            look(&message);
            if status != 200 {
                message["status"] = status.into();
            }
            drop(sender.send(message));
        }
        Err(error) => drop(sender.send(json!({"closed": error.to_string()}))),
    }
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| json!({"junk": String::from_utf8_lossy(bytes)}))
}
