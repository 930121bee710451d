//! Requests through the whole program, from a client's bytes to a server and back, with what is told and asked on the
//! way: what is nobody's business passes byte for byte, whichever way there is between them. What the hub has to
//! put in other words (names, URIs, ids, tokens for progress, states) is not compared.

mod door;
mod library;
mod lists;
pub(crate) mod words;

use serde_json::json;

use self::door::Door;
use self::words::{reply, requests, words};
use crate::agents::token;
use crate::client::{Client, Reader};
use crate::context::Context;
use crate::hub::{Hub, connected};
use crate::mirror::{Era, Mirror, Way, Words, between};

/// What a request of the stateless era says of itself, with that it wants to hear what is logged.
const ABOUT: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/logLevel":"debug","#;

/// Servers by name.
const SERVERS: [(&str, Era, Way); 7] = [
    ("session-events", Era::Session, Way::Events),
    ("session-json", Era::Session, Way::Json),
    ("session-pipe", Era::Session, Way::Pipe),
    ("session-sse", Era::Session, Way::Sse),
    ("stateless-events", Era::Stateless, Way::Events),
    ("stateless-json", Era::Stateless, Way::Json),
    ("stateless-pipe", Era::Stateless, Way::Pipe),
];

fn mirrors() -> Vec<(&'static str, Mirror)> {
    let start = |(name, era, way)| (name, Mirror::start(era, way, &words()));
    SERVERS.map(start).into()
}

/// A hub in front of them, and the token of an agent who may use them all.
fn hub(mirrors: &[(&str, Mirror)]) -> (Context, Hub, String) {
    let names = SERVERS.map(|(name, ..)| name);
    let entries: String = mirrors.iter().map(|(name, mirror)| mirror.entry(name)).collect();
    let text = format!("{entries}[agents.cto]\nservers = {names:?}\n");
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &names);
    (context, hub, token)
}

/// Clients of both eras at every door that there is for them.
fn doors(context: &Context, hub: &Hub, token: &str) -> Vec<(String, Era, Door)> {
    let mut doors = Vec::new();
    for read_by in [Reader::Hub, Reader::Library] {
        let able = json!({"elicitation": {}});
        let client = Client::stateless(hub, "/mcp", token).able(able).read_by(read_by);
        let session = client.clone().initialized("2025-11-25");
        for (era, client) in [(Era::Session, session), (Era::Stateless, client)] {
            doors.push((format!("read by {read_by:?}"), era, Door::Posts(client)));
        }
    }
    for era in [Era::Session, Era::Stateless] {
        doors.push(("on a pipe".to_owned(), era, Door::pipe(context, "cto", era)));
    }
    doors.push(("older".to_owned(), Era::Session, Door::older(hub, token)));
    doors
}

/// A client of an era before a server.
struct Pair<'p> {
    era: Era,
    door: &'p Door,
    name: &'p str,
    mirror: &'p Mirror,
    /// What to call it where it fails.
    label: String,
}

impl Pair<'_> {
    /// The client's word for something of the server's.
    fn published(&self, method: &str, own: &str) -> String {
        match method {
            "resources/read" => format!("mcp://{}/{own}", self.name),
            _ => format!("{}__{own}", self.name),
        }
    }

    /// Sends a request; the messages that come.
    fn send(&self, method: &str, own: &str, params: &str) -> impl Iterator<Item = String> {
        let subject = self.published(method, own);
        let (about, headers) = match self.era {
            Era::Session => ("", String::new()),
            Era::Stateless => (
                ABOUT,
                format!(
                    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {subject}\r\n"
                ),
            ),
        };
        let meta = format!(r#""_meta":{{{about}"progressToken":"mine","own":1.0}}"#);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params},{meta}}}}}"#
        );
        self.door.messages(&body, &headers)
    }

    fn check(&self, method: &str, own: &str, before: &str) {
        let label = format!("{}, {own}", self.label);
        let params = format!("{before}\"{}\"", self.published(method, own));
        let mut messages = self.send(method, own, &params);
        if own == "work" {
            self.told(&label, &mut messages);
        }
        let answer = match own {
            "ask" => self.asked(&label, &params, messages),
            _ => messages.last(),
        };
        self.answered(&label, method, own, &answer.unwrap());
        let notes = self.mirror.take();
        let theirs = format!(r#""method":"{method}","params":{{{before}"{own}""#);
        assert_eq!(notes.len(), if own == "ask" { 2 } else { 1 }, "{label}: {notes:?}");
        assert!(notes[0].contains(&theirs), "{label}: {notes:?}");
        assert!(notes[0].contains(r#""own":1.0"#), "{label}: {notes:?}");
        let Some(last) = notes.get(1) else { return };
        let (same, reply) = match self.mirror.era() {
            Era::Session => (String::new(), format!(r#""result":{}}}"#, reply())),
            Era::Stateless => (theirs, format!(r#""inputResponses":{{"q":{}}}"#, reply())),
        };
        assert!(last.contains(&same) && last.contains(&reply), "{label}: {last}");
    }

    /// The answer: the same to the last byte in the session era, else with that era's members behind it.
    fn answered(&self, label: &str, method: &str, own: &str, answer: &str) {
        let words = words();
        if own == "fail" {
            let error = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{}}}"#, words.error);
            return assert_eq!(answer, error, "{label}");
        }
        let said = match method {
            "tools/call" => words.call,
            "resources/read" => words.read.replace(own, &self.published(method, own)),
            _ => words.prompt,
        };
        if (self.era, self.mirror.era()) == (Era::Session, Era::Session) {
            let whole = Era::Session.whole(&said);
            assert_eq!(
                answer,
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{whole}}}"#),
                "{label}"
            );
        } else {
            let said = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{said}"#);
            assert!(answer.starts_with(&said), "{label}: {answer}\n{said}");
        }
    }

    /// What is told before the answer.
    fn told(&self, label: &str, messages: &mut impl Iterator<Item = String>) {
        let Words { progress, log, .. } = words();
        let progress = format!(r#"{{"progressToken":"mine",{progress}}}"#);
        for (method, params) in [("progress", progress), ("message", log)] {
            let told = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#
            );
            assert_eq!(messages.next().as_ref(), Some(&told), "{label}");
        }
    }

    /// What is asked before the answer, and answered; the answer.
    fn asked(
        &self,
        label: &str,
        params: &str,
        mut messages: impl Iterator<Item = String>,
    ) -> Option<String> {
        let (question, reply) = (words().question, reply());
        let asked = messages.next()?;
        match self.era {
            Era::Session => {
                let id = between(&asked, r#""id":"#, ",")?;
                let same = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{question}}}"#
                );
                assert_eq!(asked, same, "{label}");
                let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{reply}}}"#);
                assert_eq!(self.door.messages(&reply, "").next(), None, "{label}");
                messages.last()
            }
            Era::Stateless => {
                // A server of the session era does not name its questions.
                let key = match self.mirror.era() {
                    Era::Session => "user_name",
                    Era::Stateless => "q",
                };
                let same =
                    format!(r#"{{"{key}":{{"method":"elicitation/create","params":{question}}}}}"#);
                assert!(asked.contains(&same), "{label}: {asked}");
                let state = between(&asked, r#""requestState":""#, "\"")?;
                let more =
                    format!(r#""inputResponses":{{"{key}":{reply}}},"requestState":"{state}""#);
                self.send("tools/call", "ask", &format!("{params},{more}")).last()
            }
        }
    }
}

#[test]
fn what_is_nobodys_business_passes_byte_for_byte() {
    let mirrors = mirrors();
    let (context, hub, token) = hub(&mirrors);
    for (way, era, door) in &doors(&context, &hub, &token) {
        for (name, mirror) in &mirrors {
            let label = format!("{way}, {era:?} before {name}");
            let pair = Pair { era: *era, door, name, mirror, label };
            for (method, own, before) in requests() {
                pair.check(method, own, &before);
            }
        }
    }
}
