//! The hostile sets against the real program, with its store and a server behind it, in both eras and with a good
//! token: no panic, no 5xx, it still serves, and what was sent once more leaves next to nothing in its memory.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use switchboard_testkit::hostile::headers::{Field, bend};
use switchboard_testkit::hostile::{self, KEYS, STRINGS, VALUES};
use switchboard_testkit::script::Script;
use switchboard_wire::header;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::grown::resident;
use crate::hub::{Hub, connected, entry};
use crate::mirror::{Era, Mirror, Way, between};
use crate::verbatim::words::words;

/// One that answers, and one to which everything is right.
const SERVERS: [&str; 2] = ["a", "m"];

/// Bytes that may be left of a round in memory, and those that it sends at least: half of it kept would be seen.
const LEFT: u64 = 4 << 20;
const SENT: u64 = 2 * LEFT;
/// How long an answer may take that must come.
const LONG: Duration = Duration::from_secs(60);
/// How long one that need not come is waited for, before the hub hears that no more is sent.
const SHORT: Duration = Duration::from_millis(100);
/// What says how long a body is, when it is sent, and when the connection ends: who bends it may wait in vain.
const STEERS: [&str; 4] = ["content-length", "transfer-encoding", "expect", "connection"];

const METHODS: [&str; 7] = [
    "tools/call",
    "resources/read",
    "prompts/get",
    "tools/list",
    "tasks/get",
    "completion/complete",
    "resources/subscribe",
];

/// Whether there is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    Surely,
    Perhaps,
}

/// A client that may send anything.
struct Sender<'h> {
    hub: &'h Hub,
    era: Era,
    /// What says who it is.
    fields: Vec<Field>,
    sent: u64,
}

impl<'h> Sender<'h> {
    fn new(hub: &'h Hub, token: &str, era: Era) -> Self {
        let field = |name: &str, value: &str| (name.into(), value.into());
        let fields = vec![
            field("host", &hub.address),
            field("connection", "close"),
            field("authorization", &format!("Bearer {token}")),
            field("content-type", "application/json"),
            field("accept", "application/json, text/event-stream"),
        ];
        let mut sender = Self { hub, era, fields, sent: 0 };
        if era == Era::Session {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
            let hello = sender.message("initialize", &hello.to_string().into_bytes());
            let answer = sender.check("a greeting", &sender.fields.clone(), &hello);
            let id = between(&answer, "mcp-session-id: ", "\r\n").expect("a session");
            sender.fields.push(field("mcp-session-id", id));
        }
        sender
    }

    /// A request with these params, which are an object.
    fn message(&self, method: &str, params: &[u8]) -> Vec<u8> {
        let about = match self.era {
            Era::Session => String::new(),
            Era::Stateless => r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#.to_owned(),
        };
        let head = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{about}"#);
        [head.as_bytes(), &params[1..], b"}"].concat()
    }

    /// What it says besides, for a request of that method and name.
    fn with(&self, method: &str, name: &str) -> Vec<Field> {
        let mut fields = self.fields.clone();
        if self.era == Era::Stateless {
            let name = header::encode(name).into_owned().into_bytes();
            fields.push(("mcp-protocol-version".into(), "2026-07-28".into()));
            fields.push(("mcp-method".into(), method.into()));
            fields.extend((!name.is_empty()).then(|| ("mcp-name".into(), name)));
        }
        fields
    }

    /// Sends it as a body, which has to be answered.
    fn check(&mut self, what: &str, fields: &[Field], body: &[u8]) -> String {
        let mut fields = fields.to_vec();
        fields.push(("content-length".into(), body.len().to_string().into()));
        self.exchange(what, &fields, body, Comes::Surely)
    }

    /// Sends it as a request, whose params begin with `{`.
    fn ask(&mut self, what: &str, (method, name): (&str, &str), params: &[u8]) -> String {
        let (fields, body) = (self.with(method, name), self.message(method, params));
        self.check(what, &fields, &body)
    }

    /// What is answered, which is no failure of ours.
    fn exchange(&mut self, what: &str, fields: &[Field], body: &[u8], comes: Comes) -> String {
        let mut request = b"POST /mcp HTTP/1.1\r\n".to_vec();
        for (name, value) in fields {
            request.extend([name, &b": "[..], value, b"\r\n"].concat());
        }
        request.extend([b"\r\n", body].concat());
        let mut stream = TcpStream::connect(&self.hub.address).unwrap();
        // It may answer before it has read everything.
        let _ = stream.write_all(&request);
        self.sent += body.len() as u64;
        let mut answer = Vec::new();
        let mut is_whole = false;
        if comes == Comes::Perhaps {
            is_whole = read(&mut stream, SHORT, &mut answer);
            let _ = stream.shutdown(Shutdown::Write);
        }
        is_whole = is_whole || read(&mut stream, LONG, &mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let is_there = is_whole && !answer.is_empty();
        assert!(is_there || comes == Comes::Perhaps, "{:?}, {what}: {answer:?}", self.era);
        let is_good = answer.is_empty() || status(&answer) < 500;
        assert!(is_good, "{:?}, {what}: {answer}", self.era);
        answer
    }
}

/// Reads to the end, as far as it comes within a time; whether that was the end.
fn read(stream: &mut TcpStream, limit: Duration, answer: &mut Vec<u8>) -> bool {
    stream.set_read_timeout(Some(limit)).unwrap();
    stream.read_to_end(answer).is_ok()
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
}

/// Bodies that are no good messages, most of them.
fn bodies(sender: &mut Sender<'_>) {
    let fields = sender.with("tools/call", "a__echo");
    let mut random = Rng::with_seed(20_261_118);
    for input in hostile::small().into_iter().chain(hostile::bulky()) {
        sender.check(&input.name, &fields, &input.bytes);
    }
    for _ in 0..500 {
        sender.check("random bytes", &fields, &hostile::bytes(&mut random, 18));
    }
}

/// Values, as a message and as the arguments of a call.
fn values(sender: &mut Sender<'_>) {
    let own = VALUES.iter().map(|value| ("a value".to_owned(), value.to_vec()));
    let public = hostile::public_values().unwrap_or_default().into_iter();
    let fields = sender.with("tools/call", "m__say");
    for (what, value) in own.chain(public.map(|input| (input.name, input.bytes))) {
        sender.check(&what, &fields, &value);
        // A server that is any less tolerant does not answer to some of them.
        let params = [&br#"{"name":"m__say","arguments":"#[..], &value, b"}"].concat();
        sender.ask(&what, ("tools/call", "m__say"), &params);
    }
}

/// Texts, as an argument of a call and as the name of a tool.
fn texts(sender: &mut Sender<'_>) {
    let own = STRINGS.iter().chain(&KEYS).map(|text| (*text).to_owned());
    let public = hostile::public_strings().unwrap_or_default();
    for text in own.chain(public) {
        let call = |params: &Value| params.to_string().into_bytes();
        let params = call(&json!({"name": "a__echo", "arguments": {"text": text}}));
        sender.ask(&text, ("tools/call", "a__echo"), &params);
        sender.ask(&text, ("tools/call", &text), &call(&json!({"name": text})));
    }
}

/// Names, as each value inside of a good message.
fn keys(sender: &mut Sender<'_>) {
    for key in KEYS {
        let params = json!({"name": key, "uri": key, "cursor": key, "requestState": key, "inputResponses": {key: key}, "arguments": {key: key}, "ref": {"type": key}, "taskId": key});
        for method in METHODS {
            sender.ask(key, (method, key), &params.to_string().into_bytes());
        }
    }
}

/// Requests whose headers were bent.
fn headers(sender: &mut Sender<'_>) {
    const COUNT: u32 = 200;
    let mut sure = 0;
    let mut random = Rng::with_seed(20_261_117);
    let body = sender.message("tools/call", br#"{"name":"a__echo","arguments":{"text":"x"}}"#);
    for _ in 0..COUNT {
        let mut fields = sender.with("tools/call", "a__echo");
        fields.push(("content-length".into(), body.len().to_string().into()));
        let straight = steering(&fields);
        (0..random.usize(1..4)).for_each(|_| bend(&mut fields, &mut random));
        let comes = if steering(&fields) == straight { Comes::Surely } else { Comes::Perhaps };
        sure += u32::from(comes == Comes::Surely);
        let shown =
            |(name, value): &Field| format!("{}: {}", name.escape_ascii(), value.escape_ascii());
        let what = fields.iter().map(shown).collect::<Vec<_>>().join(", ");
        sender.exchange(&what, &fields, &body, comes);
    }
    assert!(sure > COUNT / 2, "only {sure} of {COUNT} had to be answered");
}

/// Those of the fields that say what follows them.
fn steering(fields: &[Field]) -> Vec<Field> {
    let steers =
        |(name, _): &&Field| STEERS.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
    fields.iter().filter(steers).cloned().collect()
}

#[test]
fn hostile_sets_break_nothing_and_leave_nothing() {
    let mirror = Mirror::start(Era::Session, Way::Pipe, &words());
    let entries = [entry("a", &Script::new()), mirror.entry("m")].concat();
    let text = format!("{entries}[agents.cto]\nservers = {SERVERS:?}\n");
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let log = context.work().join("log");
    let mut hub = Hub::start_logging(&context, &log);
    let processes = || {
        let now = connected(&context, &SERVERS);
        now.iter().map(|server| server["pid"].clone()).collect::<Vec<_>>()
    };
    let began = processes();
    let round = || {
        let mut senders = [Era::Session, Era::Stateless].map(|era| Sender::new(&hub, &token, era));
        for sender in &mut senders {
            [bodies, values, texts, keys, headers].iter().for_each(|send| send(sender));
        }
        senders.iter().map(|sender| sender.sent).sum::<u64>()
    };
    // So that all that is made once is there.
    round();
    // What happens to be in use differs; what is left behind, every round leaves.
    let mut left = Vec::new();
    while left.last().is_none_or(|left| *left >= LEFT) {
        assert!(left.len() < 3, "so many bytes are left of each round: {left:?}");
        let before = resident(&hub);
        assert!(round() >= SENT, "too little is sent to tell");
        left.push(resident(&hub).saturating_sub(before));
    }

    let client = Client::session(&hub, "/mcp", &token);
    let said = client.call("a__echo", json!({"text": "still here"}));
    assert_eq!(said["content"][0]["text"], "still here", "{said}");
    assert!(!mirror.take().is_empty(), "values got as far as to a server");
    assert_eq!(processes(), began, "the servers are the same ones");
    assert_eq!(hub.child.try_wait().unwrap(), None, "it runs");
    hub.stop();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
