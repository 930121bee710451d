//! What a stateless server told on one stream is heard, though the next one was acknowledged on a faster way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{StreamExt, stream};
use switchboard_model::HttpKind;
use switchboard_wire::{Limits, Message};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, until, url};
use crate::watched::{URI, named, subscribe, updated};

/// The first stream on which somebody listens, and its id.
type First = Arc<Mutex<Option<(String, UnboundedSender<String>)>>>;

/// How long what is told on it is on its way.
const WAY: Duration = Duration::from_millis(300);

#[tokio::test]
async fn what_was_on_its_way_arrives() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(answer)).with_state(First::default());
    let end = CancellationToken::new();
    let serving = async move { axum::serve(listener, app).await.unwrap() };
    TaskTracker::new().spawn(end.clone().run_until_cancelled_owned(serving));
    let hub = Hub::start([url("a", &at, HttpKind::Streamable)]).await;
    subscribe(&hub, URI).await.unwrap();
    hub.told();
    // Right before it acknowledges this, it says that the first one has changed.
    subscribe(&hub, "scripted://other").await.unwrap();
    until("it is told", || named(&hub, updated) > 0).await;
    hub.stop().await;
    end.cancel();
}

async fn answer(State(first): State<First>, body: Bytes) -> Response {
    let Ok(Message::Request(request)) = Message::parse(&body, &Limits::DEFAULT) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let id = request.id.to_string();
    let result = match &*request.method {
        "subscriptions/listen" => {
            let wanted = request.params.unwrap().get("notifications").unwrap();
            return listen(&first, &id, wanted.as_str());
        }
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{"subscribe":true}}}"#
        }
        "resources/list" => r#"{"resultType":"complete","resources":[]}"#,
        "resources/templates/list" => r#"{"resultType":"complete","resourceTemplates":[]}"#,
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn listen(first: &First, id: &str, wanted: &str) -> Response {
    let (say, said) = unbounded_channel();
    say.send(event(id, "subscriptions/acknowledged", &format!(r#""notifications":{wanted}"#)))
        .unwrap();
    let mut first = first.lock().unwrap();
    match first.as_ref() {
        Some((id, stream)) => {
            let told = event(id, "resources/updated", &format!(r#""uri":"{URI}""#));
            let stream = stream.clone();
            TaskTracker::new().spawn(async move {
                tokio::time::sleep(WAY).await;
                // Nobody may be there any more to hear it.
                drop(stream.send(told));
            });
        }
        None => *first = Some((id.to_owned(), say.clone())),
    }
    let said = stream::unfold((say, said), |(say, mut said)| async move {
        let text: String = said.recv().await?;
        Some((Ok::<_, std::io::Error>(Bytes::from(text)), (say, said)))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(said.boxed())).into_response()
}

fn event(id: &str, about: &str, params: &str) -> String {
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let message = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{about}","params":{{{params},{meta}}}}}"#
    );
    format!("data: {message}\n\n")
}
