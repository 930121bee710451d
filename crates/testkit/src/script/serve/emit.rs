//! From a reply and the faults that meet it to what is said. Never decides a reply.

use serde_json::{Value, json};
use switchboard_wire::code::{self, Raised};
use switchboard_wire::{Era, Revision};

use super::era::Refusal;
use super::outlet::{Item, Outlet, Then};
use super::world::World;
use crate::script::fault::{Fault, Junk};

/// Answers a request, as well as the faults allow.
pub(super) fn answer(
    world: &World,
    outlet: &dyn Outlet,
    id: &Value,
    reply: Result<Value, Refusal>,
    revision: Option<Revision>,
    faults: &[Fault],
) {
    world.wait_while_hung();
    let (message, status) = message(id, reply, revision, faults);
    let wrap = faults.contains(&Fault::Batch {});
    let message = if wrap { json!([message]) } else { message };
    let body = message.to_string().into_bytes();
    for fault in faults {
        before(outlet, fault, &message, &body);
    }
    let last = faults.iter().find_map(|fault| instead(fault, id, &body));
    let last = last.unwrap_or(Item::Answer { body, status });
    match faults.iter().find_map(reordered) {
        Some((count, ms)) => {
            let id = id.as_u64().unwrap_or_default();
            world.gate.reversed(id, count, ms, || outlet.put(last));
        }
        None => outlet.put(last),
    }
}

/// An error as a message.
pub(super) fn error(id: &Value, refusal: &Refusal) -> Value {
    let mut error = json!({"code": refusal.code, "message": refusal.message});
    if let Some(data) = &refusal.data {
        error["data"] = data.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

fn message(
    id: &Value,
    reply: Result<Value, Refusal>,
    revision: Option<Revision>,
    faults: &[Fault],
) -> (Value, u16) {
    for fault in faults {
        if let Fault::Error { code, message, status } = fault {
            return (error(id, &Refusal::new(*code, message)), *status);
        }
    }
    match reply {
        Ok(result) => (json!({"jsonrpc": "2.0", "id": id, "result": result}), 200),
        Err(refusal) => (error(id, &refusal), status(&refusal, revision)),
    }
}

/// In the session era only what is refused at the gate has a status of its own.
fn status(refusal: &Refusal, revision: Option<Revision>) -> u16 {
    match (revision.map(Revision::era), refusal.raised) {
        (Some(Era::Session), _) => 200,
        (None, Raised::InTheCall) => 200,
        (None | Some(Era::Stateless), raised) => code::http_status(refusal.code, raised),
    }
}

/// What is said before the answer.
fn before(outlet: &dyn Outlet, fault: &Fault, message: &Value, body: &[u8]) {
    match fault {
        Fault::Garbage { kind, count } => {
            for _ in 0..*count {
                junk(*kind).iter().for_each(|junk| outlet.put(Item::Garbage(junk.to_vec())));
            }
        }
        Fault::Duplicate { count } => {
            (1..*count).for_each(|_| outlet.put(Item::Message(body.to_vec())));
        }
        Fault::UnknownId { instead: false } => {
            outlet.put(Item::Message(strange(message).to_string().into_bytes()));
        }
        _ => {}
    }
}

/// What takes the answer's place.
fn instead(fault: &Fault, id: &Value, body: &[u8]) -> Option<Item> {
    Some(match fault {
        Fault::HalfLine {} => Item::Half { body: body.to_vec(), then: Then::Stall },
        Fault::Crash { code, mid_line: true, stderr } => {
            let then = Then::Exit { code: *code, stderr: stderr.clone() };
            Item::Half { body: body.to_vec(), then }
        }
        Fault::Huge { bytes } => {
            let head = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
            );
            Item::Huge { head: head.into_bytes(), bytes: *bytes, tail: br#""}]}}"#.to_vec() }
        }
        Fault::UnknownId { instead: true } => {
            let body = strange(&json!({"jsonrpc": "2.0", "result": {}}));
            Item::Message(body.to_string().into_bytes())
        }
        _ => return None,
    })
}

fn strange(message: &Value) -> Value {
    let mut message = message.clone();
    message["id"] = "nobody asked for this".into();
    message
}

fn reordered(fault: &Fault) -> Option<(u32, u64)> {
    match fault {
        Fault::Reorder { count, ms } => Some((*count, *ms)),
        _ => None,
    }
}

const TEXT: &[u8] = b"Server is listening, everything is fine";
const HALF: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"con"#;
const BINARY: &[u8] = b"\x00\xff\xfe\x80\x1b[31m\xc3\x28\x00";
const OTHER: &[u8] = br#"{"level":30,"msg":"request completed","pid":1}"#;

/// What is no message.
pub(super) fn junk(kind: Junk) -> &'static [&'static [u8]] {
    match kind {
        Junk::Text => &[TEXT],
        Junk::HalfJson => &[HALF],
        Junk::Binary => &[BINARY],
        Junk::OtherJson => &[OTHER],
        Junk::Mixed => &[TEXT, HALF, BINARY, OTHER],
    }
}
