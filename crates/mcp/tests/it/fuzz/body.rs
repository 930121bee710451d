//! The body of the fuzz target `endpoint`: bytes as a request, head and body, through every part of
//! the endpoint that reads one, and a POST also as one that was read whole. The target and the tests that replay its
//! corpus share it.
//!
//! ```text
//! POST /mcp
//! Mcp-Session-Id: {session}
//!
//! {"jsonrpc": …
//! ```
//!
//! A good token and host are added where none is given; `{session}` is one that lives.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request};
use axum::response::Response;
use bytes::Bytes;
use switchboard_core::port::{BoxFuture, CallError, Caller, Servers, Who};
use switchboard_core::results::Bounds;
use switchboard_core::{Audience, Offer, Ports, Registry, Results, Router};
use switchboard_mcp::{Authenticate, Endpoint, Options, Post, Principal, Role};
use switchboard_model::{AgentId, ServerKey, ServerName, SystemClock};
use switchboard_wire::types::{Entry, PromptEntry, ResourceEntry, ToolEntry};
use switchboard_wire::{Json, JsonBuf, Limits, method};
use tower_service::Service as _;

/// Longer is a hang: nothing here waits for anybody.
const LIMIT: Duration = Duration::from_secs(8);
/// What is said before a message is looked at.
const REFUSALS: [u16; 7] = [401, 403, 406, 413, 415, 421, 431];
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{},"roots":{}}}}"#;

thread_local! {
    static SUBJECT: Subject = Subject::new();
}

/// Whatever it is: it is answered, and the fault is never ours.
pub(crate) fn run(data: &[u8]) {
    SUBJECT.with(|subject| subject.take(data));
}

struct Subject {
    runtime: tokio::runtime::Runtime,
    endpoint: Endpoint,
}

impl Subject {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap();
        let endpoint = runtime.block_on(async { endpoint() });
        Self { runtime, endpoint }
    }

    fn take(&self, data: &[u8]) {
        let text = b"{session}";
        let wants_session = data.windows(text.len()).any(|part| part == text);
        let work = async {
            let session = match wants_session {
                true => Some(self.begin().await),
                false => None,
            };
            let Some(request) = request(data, session.as_deref()) else { return };
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let whole = self.post(&head, &body).await;
            let parts = self.send(Request::from_parts(head, Body::from(body))).await;
            if let Some(whole) = &whole {
                // Whoever is let in by one way is by the other.
                let at_door = |response: &Response| REFUSALS.contains(&response.status().as_u16());
                let statuses = (whole.status(), parts.status());
                assert!(
                    !at_door(whole) && !at_door(&parts) || statuses.0 == statuses.1,
                    "{statuses:?}"
                );
            }
            for response in whole.into_iter().chain([parts]) {
                is_good(response).await;
            }
            if let Some(session) = session {
                let end = format!("DELETE /mcp\nmcp-session-id: {session}\n\n");
                if let Some(end) = request_of(end.as_bytes()) {
                    self.send(end).await;
                }
            }
        };
        let done = self.runtime.block_on(async { tokio::time::timeout(LIMIT, work).await });
        assert!(done.is_ok(), "no answer in {LIMIT:?}");
    }

    async fn begin(&self) -> String {
        let hello = request_of(format!("POST /mcp\n\n{HELLO}").as_bytes()).unwrap();
        let response = self.send(hello).await;
        let id = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        id.unwrap().to_owned()
    }

    /// Sends a POST as one that was read whole, if it can be.
    async fn post(&self, head: &Parts, body: &Bytes) -> Option<Response> {
        let fields = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let headers: &[_] = &fields.collect::<Vec<_>>();
        let path = head.uri.path_and_query()?.as_str();
        let is_plain = head.method == Method::POST && head.uri.authority().is_none();
        let answer = is_plain.then(|| self.endpoint.post(Post { path, headers, body }))??;
        Some(answer.await.map(Body::new))
    }

    async fn send(&self, request: Request<Body>) -> Response {
        match self.endpoint.router().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// It is no fault of ours, and what is said to be JSON is.
async fn is_good(response: Response) {
    assert!(response.status().as_u16() < 500, "{}", response.status());
    let is_json = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/json");
    if response.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let readable = Json::parse(&body, &Limits::DEFAULT).is_ok();
        assert!(readable, "{:?}", String::from_utf8_lossy(&body));
    }
}

fn request_of(data: &[u8]) -> Option<Request<Body>> {
    request(data, None)
}

/// The bytes as a request; `None` where they could never come to us as one.
fn request(data: &[u8], session: Option<&str>) -> Option<Request<Body>> {
    let end = data.windows(2).position(|two| two == b"\n\n")?;
    let (head, body) = (&data[..end], &data[end + 2..]);
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = std::str::from_utf8(lines.next()?).ok()?;
    let (verb, path) = first.split_once(' ')?;
    let mut request = Request::builder().method(verb).uri(path).body(Body::from(body.to_vec()));
    let headers = request.as_mut().ok()?.headers_mut();
    for line in lines {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..at]).ok()?;
        let value = line[at + 1..].trim_ascii();
        let value = match session {
            Some(session) if value == b"{session}" => session.as_bytes(),
            _ => value,
        };
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    let both = "application/json, text/event-stream";
    for (name, value) in [
        (HOST, "localhost"),
        (AUTHORIZATION, "Bearer good"),
        (CONTENT_TYPE, "application/json"),
        (ACCEPT, both),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    request.ok()
}

fn endpoint() -> Endpoint {
    let registry = Registry::default();
    let key = ServerKey::global(ServerName::parse("a").unwrap());
    let buffer =
        |text: &str| JsonBuf::from(Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap());
    let mirrored = r#"{"name":"say","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#;
    let tools = [mirrored, r#"{"name":"ask","inputSchema":{}}"#];
    let offer = Offer {
        tools: tools.iter().filter_map(|text| ToolEntry::read(buffer(text)).ok()).collect(),
        resources: ResourceEntry::read(buffer(r#"{"uri":"x://y","name":"r"}"#))
            .into_iter()
            .collect(),
        prompts: PromptEntry::read(buffer(r#"{"name":"p"}"#)).into_iter().collect(),
        ..Offer::default()
    };
    registry.publish(&key, Arc::new(offer));
    let agent = AgentId::parse("cto").unwrap();
    registry.set_audience(Audience::default().with_agent(agent, &[key]));
    let results = Results::new(Arc::new(SystemClock), Bounds::default());
    let router = Router::new(Ports::new(Arc::new(Answering)), results, [7; 32]);
    let mut options = Options::new(registry, router, Arc::new(Token), [9; 32]);
    // Whoever is asked here never answers.
    options.limits.input = Duration::from_millis(20);
    options.limits.gather = Duration::from_millis(1);
    Endpoint::new(options)
}

struct Token;

impl Authenticate for Token {
    fn who(&self, bearer: &str) -> Option<Arc<Principal>> {
        let who = Who::agent(AgentId::parse("cto").ok()?, None);
        (bearer == "good")
            .then(|| Arc::new(Principal { who: who.into(), role: Role::Member, token: None }))
    }
}

/// A server that answers everything at once, and asks where it is told to.
struct Answering;

impl Servers for Answering {
    fn call<'a>(
        &'a self,
        _: &'a ServerKey,
        _: &'a str,
        params: Option<switchboard_wire::Params<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        Box::pin(async move {
            let name = params.and_then(|params| params.subject("name")?.string());
            if let (Some("ask"), Some(port)) = (name.as_deref(), &caller.port) {
                return Ok(port.request(method::ELICIT, Some(Json::EMPTY.into())).await?);
            }
            Ok(Json::EMPTY.into())
        })
    }
}
