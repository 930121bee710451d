//! HTTP+SSE: everything said over one stream, everything heard by POST. Never works on a request.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::{method, sse};

use super::mangle::{self, Mangle};
use super::telling::{Ids, Leaving, Telling};
use super::wire::{End, TEXT, Wire};
use super::{Door, Request};
use crate::script::fault::{Fault, ResetAt};
use crate::script::serve::dispatch::{self, Arrival, Flow};
use crate::script::serve::session::Session;
use crate::script::serve::stream::Stream;
use crate::script::serve::world::{World, held};

/// Answers one HTTP request.
pub(super) fn answer(
    world: &Arc<World>,
    socket: &TcpStream,
    request: &Request,
    door: Door,
) -> io::Result<End> {
    world.wait_while_hung();
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/sse") => open(world, socket, request, door),
        ("POST", "/messages") => hear(world, socket, request, door),
        _ => Wire::plain(socket).whole(405, &[], TEXT, b"not so"),
    }
}

fn open(world: &Arc<World>, socket: &TcpStream, request: &Request, door: Door) -> io::Result<End> {
    world.note(&json!({"at": "sse", "http": "GET", "headers": request.headers()}));
    let faults = world.faults(Some("GET"), None, &Value::Null);
    if let Some(end) = mangle::instead(world, socket, request, door, &faults) {
        return end;
    }
    let wire = Wire { socket, mangle: Mangle::new(&faults) };
    if faults.contains(&Fault::Silent {}) {
        return Ok(wire.outwait());
    }
    let stream = Arc::new(Stream::new(0));
    let id = format!("{}-{}-{}", world.script.name, std::process::id(), world.number());
    let session = Arc::new(Session::new(id.clone(), Arc::clone(&stream) as _));
    held(&session.streams).insert(0, Arc::clone(&stream));
    world.add_session(&session);
    let mut greeting = Vec::new();
    let endpoint = format!("/messages?session_id={id}");
    sse::event(&mut greeting, Some("endpoint"), None, endpoint.as_bytes());
    let telling = Telling {
        world,
        wire,
        stream: &stream,
        headers: Vec::new(),
        greeting,
        ids: Ids::None,
        leaving: Leaving::GivesUp,
        patience: Duration::from_millis(100),
    };
    let end = telling.as_events(0);
    world.drop_session(&id);
    end
}

fn hear(world: &Arc<World>, socket: &TcpStream, request: &Request, door: Door) -> io::Result<End> {
    let wire = Wire::plain(socket);
    let Ok(message @ Value::Object(_)) = serde_json::from_slice(&request.body) else {
        return wire.whole(400, &[], TEXT, b"no message");
    };
    world.note(&json!({
        "at": "sse", "http": "POST", "headers": request.headers(), "message": message,
    }));
    let arrival = Arrival::new(world, message);
    if let Some(end) = mangle::instead(world, socket, request, door, &arrival.faults) {
        return end;
    }
    let id = request.query.strip_prefix("session_id=").unwrap_or_default();
    let Some(session) = world.session(id) else {
        return wire.whole(404, &[], TEXT, b"no such session");
    };
    let cuts = |fault: &Fault| {
        let at = ResetAt::Response;
        *fault == Fault::Reset { at }
            || matches!(fault, Fault::DropStream { .. } | Fault::Truncate {})
    };
    let is_slow = arrival.is_request() && arrival.method() != Some(method::INITIALIZE);
    if arrival.faults.iter().any(cuts) {
        held(&session.streams).values().for_each(|stream| stream.cut());
    }
    if dispatch::meet(world, &session, &arrival) == Flow::On {
        if is_slow {
            session.begin(&arrival.message["id"]);
        }
        let (world, outlet) = (Arc::clone(world), Arc::clone(&session.channel));
        let work = move || dispatch::handle(&world, &session, &outlet, arrival);
        // What changes the session comes in its turn.
        if is_slow { drop(thread::spawn(work)) } else { work() }
    }
    wire.whole(202, &[], TEXT, b"Accepted")
}
