//! The endpoint over HTTP: its routes, and what a POST, a GET and a DELETE do. Never looks into a
//! message: that is `exchange`.

mod body;
mod call;
mod legacy;
mod read;

use std::sync::Arc;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::routing::any;
use bytes::Bytes;
use switchboard_model::{AgentId, ServerName};
use switchboard_wire::{code, header, sse, write};

use self::body::Events;
pub use self::body::Outgoing;
pub(crate) use self::call::mirror;
pub(crate) use self::legacy::Channels;
use crate::auth::Principal;
use crate::door::Door;
use crate::endpoint::Inner;
use crate::gate::{self, Refused};
use crate::reply::{Body, Reply};
use crate::session::{EventId, Session};

// Known names are found without being read letter by letter.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
const NAME: HeaderName = HeaderName::from_static(header::NAME);

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
                held.enter(place, request).await.map(AxumBody::new)
            };
            router = router.route(path, any(handler));
        }
        let held = inner.clone();
        let handler = async move |Path(id): Path<String>, request: Request<AxumBody>| {
            let place = Place { door: agent(&id), transport };
            held.enter(place, request).await.map(AxumBody::new)
        };
        router = router.route(&format!("/mcp/agents/{{id}}{suffix}"), any(handler));
        let held = inner.clone();
        let handler = async move |Path(name): Path<String>, request: Request<AxumBody>| {
            let place = Place { door: server(&name), transport };
            held.enter(place, request).await.map(AxumBody::new)
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
        self: &Arc<Self>,
        Place { door, transport }: Place,
        request: Request<impl Incoming>,
    ) -> Response {
        let (head, body) = request.into_parts();
        if let Err(refused) = self.gate.check(&head.uri, &head.headers) {
            return refusal(&refused);
        }
        let Some(principal) = gate::principal(&*self.auth, &head.headers) else {
            return unauthorized();
        };
        let now = self.registry.load();
        let seen = door.and_then(|door| {
            let view = door.view(&now, &principal, &self.surface)?;
            Some((door, view))
        });
        let Some((door, view)) = seen else { return plain(StatusCode::NOT_FOUND, "Not found") };
        let way = Way { door, principal, view };
        match (&head.method, transport) {
            (&Method::POST, Transport::Streamable) => self.post(way, &head, body).await,
            (&Method::GET, Transport::Streamable) => self.get(&way, &head),
            (&Method::DELETE, Transport::Streamable) => self.delete(&way, &head),
            (&Method::POST, Transport::Legacy) => self.legacy_post(way, &head, body).await,
            (&Method::GET, Transport::Legacy) => self.legacy_get(&way, &head),
            _ => {
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
                let allowed = match transport {
                    Transport::Streamable => "GET, POST, DELETE",
                    Transport::Legacy => "GET, POST",
                };
                response.headers_mut().insert("allow", HeaderValue::from_static(allowed));
                response
            }
        }
    }

    /// The stream of what belongs to no call, or what is left of one that was lost.
    fn get(self: &Arc<Self>, way: &Way, head: &Parts) -> Response {
        if let Err(refused) = gate::check_get(&head.headers) {
            return refusal(&refused);
        }
        let session = match self.session(way, &head.headers) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        let last = head.headers.get(header::LAST_EVENT_ID);
        let last = last.and_then(|id| EventId::parse(id.to_str().ok()?));
        let found = last.and_then(|last| {
            let stream = session.streams(|streams| streams.find(last))?;
            Some((last, stream))
        });
        let life = session.streams(|streams| streams.life());
        let every = self.limits.keep_alive;
        let last = match found {
            Some((last, stream)) if last.stream > 0 => {
                let events = Events::new(stream, Some(last.message), every);
                return stream_response(events.numbered(life, last.stream));
            }
            found => found.map(|(last, _)| last.message),
        };
        let out = session.streams(|streams| streams.own(self.limits.replay));
        let listener = self.listen_session(&session, &way.view, &out);
        let mut first = Vec::new();
        sse::comment(&mut first, "");
        let events = Events::new(out, last, every).numbered(life, 0).first(first);
        stream_response(events.holding(listener))
    }

    /// The end of a session.
    fn delete(self: &Arc<Self>, way: &Way, head: &Parts) -> Response {
        match self.session(way, &head.headers) {
            Ok(session) => {
                self.sessions.end(&session);
                status(StatusCode::NO_CONTENT)
            }
            Err(response) => *response,
        }
    }

    /// The session that a request belongs to.
    fn session(
        &self,
        way: &Way,
        headers: &axum::http::HeaderMap,
    ) -> Result<Arc<Session>, Box<Response>> {
        let Some(id) = headers.get(SESSION_ID) else {
            let text = "the Mcp-Session-Id header is missing: begin with `initialize`";
            return Err(Box::new(error(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, text)));
        };
        let found = id.to_str().ok();
        let found = found.and_then(|id| self.sessions.find(id, &way.principal, &way.door));
        found.ok_or_else(|| {
            let text = "there is no such session: begin again with `initialize`";
            Box::new(error(StatusCode::NOT_FOUND, code::INVALID_REQUEST, text))
        })
    }
}

/// Where a request came in, whose it is, and what they see.
pub(crate) struct Way {
    pub(crate) door: Door,
    pub(crate) principal: Arc<Principal>,
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
