//! Streamable HTTP, both eras on one path. Never works on a request itself.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::{Era, Revision, code, header, meta, method, sse};

use super::mangle::{self, Dropped, Mangle};
use super::telling::{Ids, Leaving, Telling, place};
use super::wire::{End, Wire};
use super::{Door, Request, mirror};
use crate::script::document::Answers;
use crate::script::fault::Fault;
use crate::script::serve::dispatch::{self, Arrival, Flow};
use crate::script::serve::emit;
use crate::script::serve::era::{self, Refusal};
use crate::script::serve::outlet::Outlet;
use crate::script::serve::session::Session;
use crate::script::serve::stream::Stream;
use crate::script::serve::world::{World, held};

const SHARED: &str = "shared";
const LOST: &str = "Session not found";
const SOON: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_millis(200);

/// Answers one HTTP request.
pub(super) fn answer(
    world: &Arc<World>,
    socket: &TcpStream,
    request: &Request,
    door: Door,
) -> io::Result<End> {
    let parsed = serde_json::from_slice::<Value>(&request.body);
    let at = if door == Door::Own { "http" } else { "other" };
    let message = parsed.as_ref().ok().filter(|_| request.method == "POST");
    world.note(&json!({
        "at": at, "http": request.method, "headers": request.headers(), "message": message,
    }));
    let arrival = match request.method.as_str() {
        "POST" => Arrival::new(world, parsed.unwrap_or_default()),
        other => {
            Arrival { message: Value::Null, faults: world.faults(Some(other), None, &Value::Null) }
        }
    };
    world.wait_while_hung();
    if let Some(end) = mangle::instead(world, socket, request, door, &arrival.faults) {
        return end;
    }
    let wire = Wire { socket, mangle: Mangle::new(&arrival.faults) };
    let exchange = Exchange { world, wire, request };
    match request.method.as_str() {
        "POST" => exchange.post(arrival),
        "GET" => exchange.get(&arrival.faults),
        "DELETE" => exchange.delete(),
        _ => exchange.refuse(405, code::INVALID_REQUEST, "Method not allowed"),
    }
}

struct Exchange<'a> {
    world: &'a Arc<World>,
    wire: Wire<'a>,
    request: &'a Request,
}

/// Whose session a request belongs to, or the status and the error that it has none.
type Found = Result<(Arc<Session>, Era), (u16, Refusal)>;

impl Exchange<'_> {
    fn post(self, arrival: Arrival) -> io::Result<End> {
        let Self { world, request, .. } = self;
        if !(request.accepts(header::JSON) && request.accepts(sse::CONTENT_TYPE)) {
            return self.refuse(406, -32000, "Not acceptable: both content types must be accepted");
        }
        if !request.header("content-type").is_some_and(|kind| kind.starts_with(header::JSON)) {
            return self.refuse(415, -32000, "Unsupported media type");
        }
        if !arrival.message.is_object() {
            return self.refuse(400, code::PARSE_ERROR, "Parse error");
        }
        let (session, era) = match self.find(&arrival) {
            Ok(found) => found,
            Err((404, _)) => return self.lost(&arrival.message["id"], &arrival.faults),
            Err((status, refusal)) => {
                return self.refuse_with(status, &arrival.message["id"], &refusal);
            }
        };
        if dispatch::meet(world, &session, &arrival) == Flow::Dropped {
            return Ok(self.wire.outwait());
        }
        if arrival.is_request() {
            return self.work(&session, era, arrival);
        }
        dispatch::handle(world, &session, &session.channel, arrival);
        self.wire.whole(202, &[], header::JSON, b"")
    }

    /// Has the request worked on, and tells what comes of it.
    fn work(self, session: &Arc<Session>, era: Era, arrival: Arrival) -> io::Result<End> {
        let Self { world, wire, .. } = self;
        let stream = Arc::new(Stream::new(world.number()));
        held(&session.streams).insert(stream.id, Arc::clone(&stream));
        let mut headers = Vec::new();
        if arrival.method() == Some(method::INITIALIZE) && session.id != SHARED {
            headers.push((header::SESSION_ID, session.id.clone()));
        }
        let dropped = wire.mangle.dropped;
        let gate = era::revision(
            world,
            session,
            arrival.method().unwrap_or(""),
            &arrival.message["params"],
        );
        let newest = session.revision() >= Some(Revision::V2025_11_25);
        let ids = match (era, dropped) {
            (Era::Stateless, _) | (_, Some(Dropped { resumable: false, .. })) => Ids::None,
            (Era::Session, Some(_)) => Ids::Primed,
            (Era::Session, None) if newest => Ids::Primed,
            (Era::Session, None) => Ids::Plain,
        };
        let eager = world.script.answers == Answers::Sse
            || world.script.keep_alive_ms.is_some()
            || dropped.is_some();
        let outlet: Arc<dyn Outlet> = Arc::clone(&stream) as _;
        let worker = (Arc::clone(world), Arc::clone(session));
        session.begin(&arrival.message["id"]);
        thread::spawn(move || dispatch::handle(&worker.0, &worker.1, &outlet, arrival));
        let leaving = match era {
            Era::Session => Leaving::MeansNothing,
            Era::Stateless => Leaving::GivesUp,
        };
        let telling = Telling {
            world,
            wire,
            stream: &stream,
            headers,
            greeting: Vec::new(),
            ids,
            leaving,
            patience: SOON,
        };
        let end = if eager && gate.is_ok() { telling.as_events(0) } else { telling.as_json() };
        if matches!(end, Ok(End::Next)) {
            held(&session.streams).remove(&stream.id);
        }
        end
    }

    fn find(&self, arrival: &Arrival) -> Found {
        let Self { world, request, .. } = self;
        let speaks = |era| world.script.speaks.revisions().any(|one| one.era() == era);
        let params = &arrival.message["params"];
        let named = params[meta::META][meta::PROTOCOL_VERSION].as_str();
        let alone = || (Arc::new(self.new_session(String::new())), Era::Stateless);
        match (named, request.header(header::SESSION_ID)) {
            (Some(named), _) if speaks(Era::Stateless) => {
                mirror::check(request, arrival, named).map_err(|refusal| (400, refusal))?;
                Ok(alone())
            }
            _ if !speaks(Era::Session) => Ok(alone()),
            _ if self.header_revision().map(Revision::era) == Some(Era::Stateless)
                && speaks(Era::Stateless) =>
            {
                let message = format!("Missing {} in _meta", meta::PROTOCOL_VERSION);
                Err((400, Refusal::gate(code::INVALID_PARAMS, message)))
            }
            (_, id) => Ok((self.session(id, arrival)?, Era::Session)),
        }
    }

    fn session(&self, id: Option<&str>, arrival: &Arrival) -> Result<Arc<Session>, (u16, Refusal)> {
        let Self { world, .. } = self;
        let ids = world.script.session_ids;
        if !ids {
            let session = world.session(SHARED).unwrap_or_else(|| self.add(SHARED.to_owned()));
            if session.revision().is_none() {
                let revision = self.header_revision().unwrap_or(Revision::WITHOUT_HEADER);
                session.open(revision, Value::Null);
            }
            return Ok(session);
        }
        if arrival.method() == Some(method::INITIALIZE) {
            let id = format!("{}-{}-{}", world.script.name, std::process::id(), world.number());
            return Ok(self.add(id));
        }
        let Some(id) = id else {
            let refusal = Refusal::gate(-32000, "Bad Request: Mcp-Session-Id header is required");
            return Err((400, refusal));
        };
        let lost = || (404, Refusal::gate(-32001, LOST));
        let session = world.session(id).ok_or_else(lost)?;
        let before = session.requests.fetch_add(1, Ordering::SeqCst);
        let expired = arrival.faults.iter().any(
            |fault| matches!(fault, Fault::ExpireSessions { requests } if before >= *requests),
        );
        if expired {
            self.forget(id);
            return Err(lost());
        }
        Ok(session)
    }

    fn get(self, faults: &[Fault]) -> io::Result<End> {
        let Self { world, request, .. } = self;
        let id = if world.script.session_ids {
            request.header(header::SESSION_ID)
        } else {
            Some(SHARED)
        };
        let Some(id) = id else {
            return self.refuse(405, code::INVALID_REQUEST, "Method not allowed");
        };
        let Some(session) = world.session(id) else {
            return self.lost(&Value::Null, faults);
        };
        if !request.accepts(sse::CONTENT_TYPE) {
            return self.refuse(406, -32000, "Not acceptable");
        }
        if faults.contains(&Fault::Silent {}) {
            return Ok(self.wire.outwait());
        }
        let last =
            request.header(header::LAST_EVENT_ID).map(|id| place(id).unwrap_or((u64::MAX, 0)));
        let (stream, from) = match last {
            Some((stream, from)) => (held(&session.streams).get(&stream).cloned(), Some(from)),
            None => (held(&session.streams).get(&0).cloned(), None),
        };
        let Some(stream) = stream else {
            return self.refuse(400, -32000, "No such stream");
        };
        let from = from.unwrap_or_else(|| stream.unread());
        Telling {
            world,
            wire: self.wire,
            stream: &stream,
            headers: Vec::new(),
            greeting: Vec::new(),
            ids: Ids::Plain,
            leaving: Leaving::MeansNothing,
            patience: LATER,
        }
        .as_events(from)
    }

    fn delete(self) -> io::Result<End> {
        let gone = self.request.header(header::SESSION_ID).and_then(|id| self.forget(id));
        let status = if gone.is_some() { 200 } else { 404 };
        self.wire.whole(status, &[], header::JSON, b"")
    }

    fn forget(&self, id: &str) -> Option<()> {
        let session = self.world.drop_session(id)?;
        held(&session.streams).values().for_each(|stream| stream.cut());
        Some(())
    }

    fn add(&self, id: String) -> Arc<Session> {
        let session = Arc::new(self.new_session(id));
        self.world.add_session(&session);
        session
    }

    fn new_session(&self, id: String) -> Session {
        let standalone = Arc::new(Stream::new(0));
        let session = Session::new(id, Arc::clone(&standalone) as _);
        held(&session.streams).insert(0, standalone);
        session
    }

    fn header_revision(&self) -> Option<Revision> {
        self.request.header(header::PROTOCOL_VERSION).and_then(Revision::parse)
    }

    /// Nobody knows the session.
    fn lost(&self, id: &Value, faults: &[Fault]) -> io::Result<End> {
        for fault in faults {
            if let Fault::StrangeSessions { status, code, message } = fault {
                return self.refuse(*status, *code, message);
            }
        }
        self.refuse_with(404, id, &Refusal::gate(-32001, LOST))
    }

    fn refuse(&self, status: u16, code: i64, message: &str) -> io::Result<End> {
        self.refuse_with(status, &Value::Null, &Refusal::gate(code, message))
    }

    fn refuse_with(&self, status: u16, id: &Value, refusal: &Refusal) -> io::Result<End> {
        let body = emit::error(id, refusal).to_string();
        self.wire.whole(status, &[], header::JSON, body.as_bytes())
    }
}
