//! The endpoint over HTTP: its routes, and what a POST, a GET and a DELETE do. Never looks into a
//! message: that is `exchange`.

mod batch;
mod body;
mod call;
mod legacy;
mod post;
mod read;
mod session;

use std::sync::Arc;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::routing::any;
use bytes::Bytes;
use switchboard_model::{AgentId, ServerName};
use switchboard_wire::{code, header, sse, write};

use self::body::Events;
pub use self::body::Outgoing;
pub(crate) use self::legacy::Channels;
pub use self::post::Post;
use crate::auth::Principal;
use crate::door::Door;
use crate::endpoint::Inner;
use crate::exchange::Posted;
use crate::gate::{self, Refused};
use crate::head::{self, Head, Headers};
use crate::reply::{Body, Reply};
use crate::session::EventId;

/// Known names are found without being read letter by letter.
const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);

/// Which transport a route speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Streamable,
    Legacy,
}

/// Where a request came in; without a door it is a place that nobody has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    door: Option<Door>,
    transport: Transport,
}

pub(crate) type Response = axum::http::Response<Outgoing>;

/// What is read of a request's body.
pub(crate) trait Incoming: http_body::Body<Data = Bytes> + Send + Unpin {}

impl<B: http_body::Body<Data = Bytes> + Send + Unpin> Incoming for B {}

/// The routes.
pub(crate) fn routes(inner: &Arc<Inner>) -> Router {
    let mut router = Router::new();
    for (suffix, transport) in [("", Transport::Streamable), ("/sse", Transport::Legacy)] {
        // Clients of the older transport often know no other place than the last.
        let own: &[&str] = match transport {
            Transport::Streamable => &["/mcp"],
            Transport::Legacy => &["/mcp/sse", "/sse"],
        };
        for path in own {
            let held = inner.clone();
            let handler = async move |request: Request<AxumBody>| {
                let place = Place { door: Some(Door::Own), transport };
                held.clone().enter(place, request).await.map(AxumBody::new)
            };
            router = router.route(path, any(handler));
        }
        let held = inner.clone();
        let handler = async move |Path(id): Path<String>, request: Request<AxumBody>| {
            let place = Place { door: agent(&id), transport };
            held.clone().enter(place, request).await.map(AxumBody::new)
        };
        router = router.route(&format!("/mcp/agents/{{id}}{suffix}"), any(handler));
        let held = inner.clone();
        let handler = async move |Path(name): Path<String>, request: Request<AxumBody>| {
            let place = Place { door: server(&name), transport };
            held.clone().enter(place, request).await.map(AxumBody::new)
        };
        router = router.route(&format!("/mcp/servers/{{name}}{suffix}"), any(handler));
    }
    router
}

/// Where a path leads, by the same rules as the routes; `None` if that is not here, or is written in a
/// way that has to be decoded first.
pub(crate) fn place(path: &str) -> Option<Place> {
    let (path, transport) = match path.strip_suffix("/sse") {
        Some(path) => (path, Transport::Legacy),
        None => (path, Transport::Streamable),
    };
    let door = match path {
        "/mcp" => Some(Door::Own),
        "" if transport == Transport::Legacy => Some(Door::Own),
        _ => {
            let (kind, name) = path.strip_prefix("/mcp/")?.split_once('/')?;
            if name.is_empty() || name.contains(['/', '%']) {
                return None;
            }
            match kind {
                "agents" => agent(name),
                "servers" => server(name),
                _ => return None,
            }
        }
    };
    Some(Place { door, transport })
}

fn agent(id: &str) -> Option<Door> {
    AgentId::parse(id).ok().map(Door::Agent)
}

fn server(name: &str) -> Option<Door> {
    ServerName::parse(name).ok().map(Door::Server)
}

impl Inner {
    /// One request. Whoever may not speak at all, or not here, learns nothing more.
    pub(crate) async fn enter(
        self: Arc<Self>,
        place: Place,
        request: Request<impl Incoming>,
    ) -> Response {
        // The request is gone behind this, and with it what it was read into: that is used again.
        match self.admit(place, request).await {
            Ok(entered) => self.conclude(entered).await,
            Err(refused) => *refused,
        }
    }

    /// Answers a request that was let in.
    async fn conclude(self: Arc<Self>, Entered { start, guest, turn }: Entered) -> Response {
        let response = match start {
            Start::Response(response) => *response,
            Start::Posted(posted) => self.posted(posted).await,
        };
        self.seen_off(response, guest, turn)
    }

    /// Looks at a request and begins what it asks for.
    async fn admit(
        self: &Arc<Self>,
        Place { door, transport }: Place,
        request: Request<impl Incoming>,
    ) -> Result<Entered, Box<Response>> {
        let (parts, body) = request.into_parts();
        let head = Head::of(Headers::Map(&parts.headers));
        let authority = parts.uri.authority().map(|authority| authority.as_str());
        let way = self.let_in(door, authority, &head)?;
        let (guest, turn) = (way.principal.clone(), way.turn);
        let response = match (&parts.method, transport) {
            (&Method::POST, Transport::Streamable) => {
                let start = match self.post(way, &head, body).await {
                    Ok(posted) => Start::Posted(posted),
                    Err(refused) => Start::Response(Box::new(refusal(&refused))),
                };
                return Ok(Entered { start, guest, turn });
            }
            (&Method::GET, Transport::Streamable) => self.get(&way, &head),
            (&Method::DELETE, Transport::Streamable) => self.delete(&way, &head),
            (&Method::POST, Transport::Legacy) => {
                Box::pin(self.legacy_post(way, &parts.uri, &head, body)).await
            }
            (&Method::GET, Transport::Legacy) => self.legacy_get(&way, &parts.uri, &head),
            _ => {
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
                let allowed = match transport {
                    Transport::Streamable => "GET, POST, DELETE",
                    Transport::Legacy => "GET, POST",
                };
                response.headers_mut().insert("allow", HeaderValue::from_static(allowed));
                response
            }
        };
        Ok(Entered { start: Start::Response(Box::new(response)), guest, turn })
    }

    /// Whose request it is, and what they see there; looks at nothing else that it says.
    fn let_in(
        &self,
        door: Option<Door>,
        authority: Option<&str>,
        head: &Head<'_>,
    ) -> Result<Way, Box<Response>> {
        self.gate.check(authority, head).map_err(|refused| Box::new(refusal(&refused)))?;
        // Before the token is looked at: whatever changes from here on is seen at the end.
        let turn = self.guests.turn();
        let Some(principal) = gate::principal(&*self.auth, head) else {
            return Err(Box::new(unauthorized()));
        };
        let seen = door.and_then(|door| {
            let view = self.registry.look(|now| door.view(now, &principal, &self.surface))?;
            Some((door, view))
        });
        match seen {
            Some((door, view)) => Ok(Way { door, principal, turn, view }),
            None => Err(Box::new(plain(StatusCode::NOT_FOUND, "Not found"))),
        }
    }

    /// The answer, unless the token was withdrawn meanwhile; a stream ends when it is.
    fn seen_off(&self, mut response: Response, guest: Arc<Principal>, turn: u64) -> Response {
        if let Some(events) = response.body_mut().as_events() {
            events.belongs_to(self.guests.enter(guest.clone()));
        }
        // Nearly always the same; only then is it worth a look.
        if self.guests.turn() != turn && !self.auth.still()(&guest) {
            return unauthorized();
        }
        response
    }

    /// The stream of what belongs to no call, or what is left of one that was lost.
    fn get(self: &Arc<Self>, way: &Way, head: &Head<'_>) -> Response {
        if let Err(refused) = gate::check_get(head) {
            return refusal(&refused);
        }
        let session = match self.find_session(way, head) {
            Ok(session) => session,
            Err(refused) => return refusal(&refused),
        };
        let last = match last_event(head.all) {
            Ok(last) => last,
            Err(refused) => return refusal(&refused),
        };
        let found = last.and_then(|last| session.streams(|streams| streams.find(last)));
        let life = session.streams(|streams| streams.life());
        let every = self.limits.keep_alive;
        let last = match (last, found) {
            (Some(last), Some(stream)) if last.stream > 0 => {
                let events = Events::new(stream, Some(last.message), every);
                return stream_response(events.numbered(life, last.stream));
            }
            // Not the session's own stream instead: whoever reads that would lose it.
            (Some(last), None) if last.stream > 0 => return refusal(&GONE),
            (last, found) => found.and(last).map(|last| last.message),
        };
        let out = session.streams(|streams| streams.own(self.limits.replay));
        let listener = self.listen_session(&session, &out);
        let mut first = Vec::new();
        sse::comment(&mut first, "");
        let events = Events::new(out, last, every).numbered(life, 0).first(first);
        stream_response(events.holding(listener))
    }

    /// The end of a session.
    fn delete(self: &Arc<Self>, way: &Way, head: &Head<'_>) -> Response {
        match self.find_session(way, head) {
            Ok(session) => {
                self.sessions.end(&session);
                status(StatusCode::NO_CONTENT)
            }
            Err(refused) => refusal(&refused),
        }
    }
}

/// What a client that comes back has read last.
fn last_event(headers: Headers<'_>) -> Result<Option<EventId>, Refused> {
    let first = headers.of(header::LAST_EVENT_ID).first().copied();
    let Some(last) = first.filter(|last| !last.is_empty()) else { return Ok(None) };
    let last = head::text(last).and_then(EventId::parse);
    last.map(Some).ok_or(Refused {
        status: StatusCode::BAD_REQUEST,
        reason: "the Last-Event-ID is none of this hub's",
    })
}

/// Not 404, by which a client would take its session for lost.
const GONE: Refused = Refused {
    status: StatusCode::BAD_REQUEST,
    reason: "the stream of that Last-Event-ID is not kept any more: make the call again",
};

/// A request that was let in: what it led to at first, whose it is, and the guests' turn before the token was
/// looked at.
struct Entered {
    start: Start,
    guest: Arc<Principal>,
    turn: u64,
}

/// What a request leads to at first.
enum Start {
    Response(Box<Response>),
    Posted(Posted),
}

/// Where a request came in, whose it is, and what they see.
pub(crate) struct Way {
    pub(crate) door: Door,
    pub(crate) principal: Arc<Principal>,
    /// The guests' turn before the token was looked at.
    pub(crate) turn: u64,
    pub(crate) view: Arc<switchboard_core::View>,
}

/// An answer as JSON.
fn json(reply: Reply) -> Response {
    let body = match reply.body {
        Body::Whole(bytes) => Outgoing::whole(bytes),
        Body::Pieces(pieces) => Outgoing::pieces(pieces),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::BAD_REQUEST);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(header::JSON));
    response
}

fn stream_response(events: Events) -> Response {
    let mut response = Response::new(Outgoing::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(sse::CONTENT_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(header::ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Outgoing::empty());
    *response.status_mut() = status;
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Outgoing::whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A JSON-RPC error that answers no request in particular.
fn error(status: StatusCode, code: i64, text: &str) -> Response {
    let mut out = Vec::new();
    write::error(&mut out, None, code, text, None);
    json(Reply { status: status.as_u16(), body: Body::Whole(out.into()) })
}

fn refusal(refused: &Refused) -> Response {
    error(refused.status, code::INVALID_REQUEST, refused.reason)
}

fn unauthorized() -> Response {
    let text = "a bearer token is needed: see `switchboard token`";
    let mut response = error(StatusCode::UNAUTHORIZED, code::INVALID_REQUEST, text);
    let challenge = HeaderValue::from_static("Bearer realm=\"switchboard\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

#[cfg(test)]
mod tests;
