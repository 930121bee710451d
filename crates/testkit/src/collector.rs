//! A collector of OpenTelemetry spans on the loopback, by the letter of OTLP over HTTP in JSON: what is
//! not written by its rules is refused and noted. Never forgets what it took.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;

/// A running collector; it stops taking anything when the value drops.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    spans: Vec<Taken>,
    requests: Vec<BTreeMap<String, String>>,
    faults: Vec<String>,
    answer: Option<u16>,
    has_ended: bool,
}

/// A span as it arrived.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The span itself.
    pub span: Value,
    /// Its attributes, numbers as texts.
    pub attributes: BTreeMap<String, String>,
    /// Those of whoever sent it.
    pub resource: BTreeMap<String, String>,
}

impl Collector {
    /// On a free port.
    pub fn start() -> Self {
        Self::at("127.0.0.1:0".parse().expect("an address"))
    }

    /// On this address, as after having been away.
    pub fn at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).expect("an address to listen on");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if lock(&shared).has_ended {
                    break;
                }
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, state }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it took so far.
    pub fn spans(&self) -> Vec<Taken> {
        lock(&self.state).spans.clone()
    }

    /// The headers of every request so far, names in lower case.
    pub fn requests(&self) -> Vec<BTreeMap<String, String>> {
        lock(&self.state).requests.clone()
    }

    /// What was not as OTLP wants it.
    pub fn faults(&self) -> Vec<String> {
        lock(&self.state).faults.clone()
    }

    /// Answers this from now on, and takes nothing; without a status, it is well again.
    pub fn answer(&self, status: Option<u16>) {
        lock(&self.state).answer = status;
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        lock(&self.state).has_ended = true;
        // Whoever waits for the next connection gets one, and ends.
        let _ = TcpStream::connect(self.address);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("no thread panicked with it")
}

/// One connection, request after request.
fn serve(stream: TcpStream, state: &Mutex<State>) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut input = BufReader::new(stream);
    while let Some((line, headers, body)) = request(&mut input) {
        let mut state = lock(state);
        if state.has_ended {
            return;
        }
        state.requests.push(headers.clone());
        let (status, answer) = match state.answer {
            Some(status) => (status, "{}".to_owned()),
            None => match taken(&line, &headers, &body) {
                Ok(spans) => {
                    state.spans.extend(spans);
                    (200, r#"{"partialSuccess":{}}"#.to_owned())
                }
                Err(fault) => {
                    state.faults.push(fault.clone());
                    (400, serde_json::json!({"code": 3, "message": fault}).to_string())
                }
            },
        };
        drop(state);
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        if out.write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
    }
}

type Request = (String, BTreeMap<String, String>, Vec<u8>);

fn request(input: &mut impl BufRead) -> Option<Request> {
    let mut line = || -> Option<String> {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut headers = BTreeMap::new();
    loop {
        let header = line()?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    input.read_exact(&mut body).ok()?;
    Some((first, headers, body))
}

/// The spans of a request, if it is one.
fn taken(
    line: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
) -> Result<Vec<Taken>, String> {
    ensure(line == "POST /v1/traces HTTP/1.1", || format!("`{line}` is not for spans"))?;
    let kind = headers.get("content-type").map(String::as_str);
    ensure(kind == Some("application/json"), || format!("it is {kind:?}"))?;
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let mut spans = Vec::new();
    for resource in list(&body, "resourceSpans")? {
        let of = attributes(&resource["resource"])?;
        ensure(of.contains_key("service.name"), || "nobody sends it".to_owned())?;
        for scope in list(resource, "scopeSpans")? {
            for span in list(scope, "spans")? {
                let attributes = check(span)?;
                spans.push(Taken { span: span.clone(), attributes, resource: of.clone() });
            }
        }
    }
    Ok(spans)
}

/// Whether a span is written by the rules; its attributes.
fn check(span: &Value) -> Result<BTreeMap<String, String>, String> {
    let is_id = |key: &str, length: usize| {
        let id = span[key].as_str().unwrap_or_default();
        let is_hex = id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        ensure(id.len() == length && is_hex && id.bytes().any(|byte| byte != b'0'), || {
            format!("{key} is {id:?}")
        })
    };
    is_id("traceId", 32)?;
    is_id("spanId", 16)?;
    if !span["parentSpanId"].is_null() {
        is_id("parentSpanId", 16)?;
    }
    let time = |key: &str| -> Result<u64, String> {
        let text = span[key].as_str().ok_or_else(|| format!("{key} is not a text"))?;
        text.parse().map_err(|_| format!("{key} is {text:?}"))
    };
    ensure(time("startTimeUnixNano")? <= time("endTimeUnixNano")?, || "it ends too early".into())?;
    let name = span["name"].as_str().unwrap_or_default();
    ensure(!name.is_empty(), || "it has no name".to_owned())?;
    ensure(span["kind"].as_u64().is_some_and(|kind| (1..=5).contains(&kind)), || {
        format!("its kind is {}", span["kind"])
    })?;
    let code = &span["status"]["code"];
    ensure(code.is_null() || code.as_u64().is_some_and(|code| code <= 2), || {
        format!("its status is {code}")
    })?;
    attributes(span)
}

fn attributes(of: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for attribute in list(of, "attributes")? {
        let key = attribute["key"].as_str().ok_or("an attribute has no key")?;
        let value = &attribute["value"];
        let text = value["stringValue"].as_str().or_else(|| {
            // 64 bits are a text in protobuf's JSON.
            value["intValue"].as_str().filter(|number| number.parse::<i64>().is_ok())
        });
        let text = text.ok_or_else(|| format!("{key} is {value}"))?;
        let is_new = found.insert(key.to_owned(), text.to_owned()).is_none();
        ensure(is_new, || format!("{key} is there twice"))?;
    }
    Ok(found)
}

fn list<'v>(of: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    of[key].as_array().ok_or_else(|| format!("there are no {key}"))
}

fn ensure(is_so: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(fault()) }
}
