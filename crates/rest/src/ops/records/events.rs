//! What happens, as it happens: a stream that can be resumed where it broke off. Ends when the hub
//! does, or when whoever listens may no longer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_model::CallOrigin;
use switchboard_store::{StoredEvent, Topic};
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use crate::answers::{BadQuery, Guarded};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::Asked;
use crate::view::server::key_id;
use crate::view::time::time;
use crate::who::{self, Caller, Known};

/// Events that are read at once.
const BATCH: u32 = 200;
/// So often something is said, so that nobody in between takes the stream for dead.
const BEAT: Duration = Duration::from_secs(15);
/// The event that says that others were missed.
const RESET: &str = "reset";

/// Where to begin.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// Behind this event; `Last-Event-ID` says the same. Without either, with what happens next.
    after: Option<i64>,
}

/// Something that happened: the data of an event, whose id is its number.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventView {
    /// Its number.
    seq: i64,
    /// When.
    at: String,
    /// What kind, such as `server.state`; also the name of the event.
    kind: String,
    /// Whom it concerns; nobody in particular is everybody.
    user: Option<String>,
    /// Which server it concerns.
    server: Option<String>,
    /// The rest.
    #[schema(value_type = Object)]
    payload: Value,
}

/// Streams events
///
/// As server-sent events, only what the caller may see. With `Last-Event-ID`, from there on. Where that
/// cannot be, the first event is `reset`: events in between are no longer kept (`payload.reason` is `gone`),
/// or that number never was (`unknown`). Its number is where the stream goes on; whoever gets it reads what
/// they follow anew.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "records",
    params(From, ("last-event-id" = Option<String>, Header, description = "The id of the last event that came.")),
    responses((status = 200, body = EventView, content_type = "text/event-stream"), BadQuery, Guarded)
)]
pub(super) async fn events(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Asked(from): Asked<From>,
    headers: HeaderMap,
) -> Result<Response> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = last.filter(|id| !id.is_empty()).map(str::parse::<i64>).transpose();
    let last = last.map_err(|_| Problem::bad_query("`Last-Event-ID` is no number of an event"))?;
    let (oldest, newest) = api.store().events().range().await?;
    let (seq, reset) = match last.or(from.after) {
        Some(seq) => begin(seq.max(0), oldest, newest),
        None => (newest, None),
    };
    let listener = Listener {
        news: api.store().watch(Topic::Events),
        people: api.store().watch(Topic::People),
        waiting: VecDeque::new(),
        reset: reset.map(|reason| missed(seq, reason, time(api.clock().now()))),
        look: Instant::now() + BEAT,
        api,
        caller,
        headers,
        seq,
    };
    let stream = stream::unfold(listener, |mut listener| async {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(BEAT)).into_response())
}

struct Listener {
    api: Api,
    caller: Caller,
    headers: HeaderMap,
    seq: i64,
    /// Said first.
    reset: Option<Event>,
    news: watch::Receiver<i64>,
    people: watch::Receiver<i64>,
    /// When to look again whether they are welcome, whatever happens meanwhile.
    look: Instant,
    waiting: VecDeque<StoredEvent>,
}

impl Listener {
    /// The next event that is for them; none at the end.
    async fn next(&mut self) -> Option<Event> {
        if let Some(reset) = self.reset.take() {
            return Some(reset);
        }
        loop {
            while let Some(event) = self.waiting.pop_front() {
                self.seq = event.seq;
                if self.concerns(&event) {
                    return Some(told(&event));
                }
            }
            self.news.borrow_and_update();
            match self.api.store().events().after(self.seq, BATCH).await {
                Ok(events) if events.is_empty() => self.wait().await?,
                Ok(events) => {
                    // Nothing is told by a credential that ended before it happened.
                    self.welcomed().await?;
                    self.waiting = events.into();
                }
                Err(error) => {
                    // They come back, and go on where they were.
                    tracing::warn!(%error, "a stream of events ends, the store does not answer");
                    return None;
                }
            }
        }
    }

    /// Waits for news; none at the end.
    async fn wait(&mut self) -> Option<()> {
        let end = self.api.end().clone();
        tokio::select! {
            () = end.cancelled() => None,
            changed = self.news.changed() => changed.ok(),
            changed = self.people.changed() => {
                changed.ok()?;
                self.welcomed().await
            }
            // A token also ends by itself, or where another instance was told.
            () = tokio::time::sleep_until(self.look) => self.welcomed().await,
        }
    }

    /// Looks whether they are still welcome; none, if they are not.
    async fn welcomed(&mut self) -> Option<()> {
        self.look = Instant::now() + BEAT;
        self.is_welcome().await.then_some(())
    }

    /// Whether the credential is still good, and still the same person's in the same role.
    async fn is_welcome(&self) -> bool {
        if self.caller.origin == CallOrigin::Cli {
            return true;
        }
        match who::identify(&self.headers, self.api.store()).await {
            Ok(Some(Known::Sure(caller) | Known::Cookie(caller, _))) => {
                caller.user == self.caller.user && caller.role == self.caller.role
            }
            Ok(None) | Err(_) => false,
        }
    }

    fn concerns(&self, stored: &StoredEvent) -> bool {
        let event = &stored.event;
        self.caller.is_administrator()
            || (event.user.as_ref().is_none_or(|user| *user == self.caller.user)
                && event
                    .server
                    .as_ref()
                    .is_none_or(|server| self.caller.sees(server, self.api.store())))
    }
}

/// Where a stream goes on that was read up to `seq`, and why that is not right behind it, if it is not.
fn begin(seq: i64, oldest: i64, newest: i64) -> (i64, Option<&'static str>) {
    match seq {
        // Numbers of another store, or of this one before it was put back.
        seq if seq > newest => (newest, Some("unknown")),
        seq if seq + 1 < oldest => (oldest - 1, Some("gone")),
        seq => (seq, None),
    }
}

/// Whoever listens has missed something, and must read anew what they follow.
fn missed(seq: i64, reason: &str, at: String) -> Event {
    let payload = serde_json::json!({"reason": reason});
    let kind = RESET.to_owned();
    told_as(&EventView { seq, at, kind, user: None, server: None, payload })
}

fn told(stored: &StoredEvent) -> Event {
    let event = &stored.event;
    let view = EventView {
        seq: stored.seq,
        at: time(stored.at),
        kind: event.kind.clone(),
        user: event.user.as_ref().map(ToString::to_string),
        server: event.server.as_ref().map(key_id),
        payload: event.payload.clone(),
    };
    told_as(&view)
}

fn told_as(view: &EventView) -> Event {
    // A line end would begin another field of the stream.
    let kind = view.kind.replace(['\r', '\n'], " ");
    let data = serde_json::to_string(view).unwrap_or_default();
    Event::default().id(view.seq.to_string()).event(kind).data(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_stream_goes_on() {
        for (seq, oldest, newest, expected) in [
            (0, 1, 0, (0, None)),
            (0, 1, 9, (0, None)),
            (9, 1, 9, (9, None)),
            (10, 1, 9, (9, Some("unknown"))),
            (3, 4, 9, (3, None)),
            (2, 4, 9, (3, Some("gone"))),
            // Nothing is kept any more.
            (9, 10, 9, (9, None)),
            (5, 10, 9, (9, Some("gone"))),
            (i64::MAX, 1, 9, (9, Some("unknown"))),
        ] {
            assert_eq!(begin(seq, oldest, newest), expected, "{seq} of {oldest} to {newest}");
        }
    }
}
