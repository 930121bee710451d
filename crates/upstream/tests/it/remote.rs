//! Scripted servers behind a URL, in this very process.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::serve::Listener;
use switchboard_model::{
    HttpKind, HttpSpec, SecretTemplate, ServerName, ServerSpec, Template, Transport,
};
use switchboard_wire::{Json, Limits, Message, sse, write};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::kit::json;

/// How the server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Session era, JSON answers.
    Json,
    /// Session era, answers as events.
    Events,
    /// Session era, the answer's stream breaks off and is taken up again.
    Broken,
    /// Stateless era.
    Stateless,
    /// HTTP+SSE.
    Old,
    /// Wants a token.
    Locked,
    /// Asks for rest before every call.
    Tired,
    /// Moves from `/mcp` to `/mcp/`.
    Moved,
}

pub(crate) struct Remote {
    pub(crate) url: String,
    pub(crate) shared: Arc<Shared>,
    _end: DropGuard,
}

pub(crate) struct Shared {
    manner: Manner,
    session: AtomicU64,
    pub(crate) seen: Mutex<Vec<String>>,
    pub(crate) calls: AtomicU64,
    kept: Mutex<HashMap<String, String>>,
    stream: Mutex<Option<mpsc::UnboundedSender<String>>>,
    tired: AtomicU64,
}

impl Remote {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        Self::serve(manner, listener, url)
    }

    /// Serves whoever the listener lets in; the URL is how it is called.
    pub(crate) fn serve(
        manner: Manner,
        listener: impl Listener<Addr = SocketAddr>,
        url: String,
    ) -> Self {
        let shared = Arc::new(Shared {
            manner,
            session: AtomicU64::new(1),
            seen: Mutex::default(),
            calls: AtomicU64::new(0),
            kept: Mutex::default(),
            stream: Mutex::default(),
            tired: AtomicU64::new(0),
        });
        let app = Router::new().fallback(any(handle)).with_state(shared.clone());
        let end = CancellationToken::new();
        let serving = async move { axum::serve(listener, app).await.unwrap() };
        TaskTracker::new().spawn(end.clone().run_until_cancelled_owned(serving));
        Self { url, shared, _end: end.drop_guard() }
    }

    pub(crate) fn spec(&self, name: &str) -> ServerSpec {
        let http = HttpSpec {
            kind: HttpKind::Streamable,
            url: Template::literal(&self.url),
            headers: [(
                "x-token".to_owned(),
                SecretTemplate::new(Template::parse("${TOKEN}").unwrap()),
            )]
            .into(),
        };
        let mut spec = ServerSpec::new(ServerName::parse(name).unwrap(), Transport::Http(http));
        spec.timing.stop_grace = Duration::from_millis(500);
        spec
    }

    /// All sessions are forgotten.
    pub(crate) fn forget(&self) {
        self.shared.session.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Whether somebody listens to the server's own stream.
    pub(crate) fn is_heard(&self) -> bool {
        self.shared.stream.lock().unwrap().as_ref().is_some_and(|stream| !stream.is_closed())
    }

    /// Ends the server's own stream; what is said until the next one is lost.
    pub(crate) fn hang_up(&self) {
        *self.shared.stream.lock().unwrap() = None;
    }

    /// Says something on the server's own stream.
    pub(crate) fn tell(&self, message: &str) {
        let stream = self.shared.stream.lock().unwrap();
        stream.as_ref().unwrap().send(format!("data: {message}\n\n")).unwrap();
    }
}

impl Shared {
    fn session(&self) -> String {
        format!("session-{}", self.session.load(Ordering::SeqCst))
    }

    fn note(&self, what: &str) {
        self.seen.lock().unwrap().push(what.to_owned());
    }
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(headers.get("x-token").unwrap(), "t0ken");
    let get = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    if shared.manner == Manner::Locked {
        let challenge = r#"Bearer resource_metadata="http://x/.well-known""#;
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    if shared.manner == Manner::Moved && uri.path() == "/mcp" {
        return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/mcp/")]).into_response();
    }
    if shared.manner == Manner::Old {
        return old(&shared, &method, &uri, &body);
    }
    let session = get("mcp-session-id");
    if !session.is_empty() && session != shared.session() {
        return StatusCode::NOT_FOUND.into_response();
    }
    match method {
        Method::GET => own_stream(&shared, &get("last-event-id")),
        Method::DELETE => {
            shared.note("DELETE");
            StatusCode::OK.into_response()
        }
        _ => post(&shared, &body, &get),
    }
}

fn own_stream(shared: &Arc<Shared>, last: &str) -> Response {
    if let Some(rest) = shared.kept.lock().unwrap().remove(last) {
        shared.note("resumed");
        return events(Body::from(rest));
    }
    if matches!(shared.manner, Manner::Json) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    live(shared, String::new())
}

fn live(shared: &Arc<Shared>, first: String) -> Response {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    sender.send(format!(": hello\n\n{first}")).unwrap();
    *shared.stream.lock().unwrap() = Some(sender);
    let stream = futures_stream(receiver);
    events(Body::from_stream(stream))
}

fn futures_stream(
    receiver: mpsc::UnboundedReceiver<String>,
) -> impl futures_util::Stream<Item = Result<String, std::io::Error>> {
    futures_util::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|text| (Ok(text), receiver))
    })
}

fn events(body: Body) -> Response {
    ([(header::CONTENT_TYPE, sse::CONTENT_TYPE)], body).into_response()
}

fn post(shared: &Arc<Shared>, body: &[u8], get: &dyn Fn(&str) -> String) -> Response {
    let message = Message::parse(body, &Limits::DEFAULT).unwrap();
    let Message::Request(request) = message else {
        shared.note(message.method().unwrap_or("answer"));
        return StatusCode::ACCEPTED.into_response();
    };
    let name = &*request.method;
    shared.note(name);
    if name == "tools/call" {
        shared.calls.fetch_add(1, Ordering::SeqCst);
        if shared.manner == Manner::Tired && shared.tired.fetch_add(1, Ordering::SeqCst) == 0 {
            return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")]).into_response();
        }
    }
    let stateless = shared.manner == Manner::Stateless;
    if stateless {
        assert_eq!(
            (get("mcp-protocol-version"), get("mcp-method")),
            ("2026-07-28".to_owned(), name.to_owned())
        );
        let subject = request.params.and_then(|params| params.get("name")?.string());
        assert_eq!(get("mcp-name"), subject.unwrap_or_default());
        if name == "tools/call" {
            assert_eq!(get("mcp-param-region"), "eu");
        }
    } else if !matches!(name, "initialize" | "server/discover") {
        assert_eq!(
            (get("mcp-session-id"), get("mcp-protocol-version")),
            (shared.session(), "2025-11-25".to_owned())
        );
    }
    let Some(result) = result(name, stateless) else {
        let mut out = Vec::new();
        write::error(&mut out, None, -32000, "Bad Request: Server not initialized", None);
        return (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], out)
            .into_response();
    };
    if name == "subscriptions/listen" {
        return live(shared, String::new());
    }
    let mut out = Vec::new();
    write::result(&mut out, request.id, json(result).as_json());
    answer(shared, name, out)
}

fn answer(shared: &Arc<Shared>, name: &str, message: Vec<u8>) -> Response {
    let session = [("mcp-session-id", shared.session())];
    let message = String::from_utf8(message).unwrap();
    match (shared.manner, name) {
        (Manner::Events, _) => {
            (session, events(Body::from(format!("data: {message}\n\n")))).into_response()
        }
        (Manner::Broken, "tools/call") => {
            shared
                .kept
                .lock()
                .unwrap()
                .insert("e1".to_owned(), format!("id: e2\ndata: {message}\n\n"));
            events(Body::from("retry: 10\nid: e1\ndata:\n\n"))
        }
        (Manner::Stateless, _) => {
            ([(header::CONTENT_TYPE, "application/json")], message).into_response()
        }
        _ => (session, [(header::CONTENT_TYPE, "application/json")], message).into_response(),
    }
}

fn result(name: &str, stateless: bool) -> Option<&'static str> {
    Some(match name {
        "server/discover" if stateless => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}"#
        }
        "initialize" if !stateless => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}},"serverInfo":{"name":"remote","version":"2"}}"#
        }
        "resources/list" => r#"{"resources":[]}"#,
        "resources/templates/list" => r#"{"resourceTemplates":[]}"#,
        "resources/subscribe" => "{}",
        "tools/list" => {
            r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}]}"#
        }
        "tools/call" => r#"{"content":[{"type":"text","text":"done"}]}"#,
        "ping" => "{}",
        "subscriptions/listen" if stateless => "{}",
        _ => return None,
    })
}

/// The older transport: a stream, and another URL to send to.
fn old(shared: &Arc<Shared>, method: &Method, uri: &Uri, body: &[u8]) -> Response {
    match (method, uri.path()) {
        (&Method::GET, "/mcp") => {
            live(shared, "event: endpoint\ndata: /messages?id=1\n\n".to_owned())
        }
        (&Method::POST, "/messages") => {
            let message = Message::parse(body, &Limits::DEFAULT).unwrap();
            shared.note(message.method().unwrap_or("answer"));
            if let Message::Request(request) = message {
                let mut out = Vec::new();
                match result(&request.method, false) {
                    Some(found) => write::result(&mut out, request.id, json(found).as_json()),
                    None => {
                        write::error(&mut out, Some(request.id), -32601, "no", None::<Json<'_>>)
                    }
                }
                let stream = shared.stream.lock().unwrap();
                let text = String::from_utf8(out).unwrap();
                stream.as_ref().unwrap().send(format!("event: message\ndata: {text}\n\n")).unwrap();
            }
            StatusCode::ACCEPTED.into_response()
        }
        _ => {
            shared.note(method.as_str());
            StatusCode::METHOD_NOT_ALLOWED.into_response()
        }
    }
}
