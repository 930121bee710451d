//! Streams of events: the answer to one request, and the one on which a server speaks by itself.
//! A stream that breaks is taken up where it broke, where the server allows it.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderValue};
use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::sse::{self, Decoder, Item};
use switchboard_wire::{Era, header};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::answer::Answer;
use super::{Content, HttpLink, content_type, unsent};
use crate::channel::{Channel, Kinds, LIMITS, Related};
use crate::transport::Link;

/// Between two tries, unless the server says otherwise.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// How often one answer is taken up again without anything new.
const RESUMPTIONS: u32 = 5;
/// How long the end of a stream is waited for after its answer, so that the connection lives on.
const DRAIN: Duration = Duration::from_secs(1);
/// How long the server's own stream is waited for; one that answers later is heard from then on.
const OPENING: Duration = Duration::from_secs(2);
/// A stream of its own that lasted for so long was a good one, and the next one is not waited for longer.
const LASTED: Duration = Duration::from_secs(5);

/// Reads the answer of a request from its stream, and from those that take it up again.
pub(super) async fn answer(
    link: &HttpLink,
    channel: &Arc<Channel>,
    id: u64,
    response: Answer,
) -> Result<(), CallError> {
    let mut decoder = Decoder::new(LIMITS.max_bytes);
    let mut response = Some(response);
    let mut tries = 0;
    loop {
        let before = decoder.last_event_id().map(str::to_owned);
        if let Some(response) = response.take() {
            let rest = follow(channel, &mut decoder, response, Related::To(id), Some(id)).await;
            if !channel.waits(id) {
                if let Ok(Rest::Unread(rest)) = rest {
                    link.tasks.spawn(drain(rest));
                }
                return Ok(());
            }
            if matches!(rest, Ok(Rest::TooLong)) {
                // It would be as long if it were asked for again.
                return Err(CallError::Malformed("an event of the answer is too long".to_owned()));
            }
        }
        let Some(last) = decoder.last_event_id().map(str::to_owned) else {
            return Err(CallError::lost("the response ended before the answer", Delivery::Perhaps));
        };
        tries = if before.as_deref() == Some(&*last) { tries + 1 } else { 0 };
        if tries > RESUMPTIONS || link.era() == Some(Era::Stateless) {
            return Err(CallError::lost("the response broke off", Delivery::Perhaps));
        }
        sleep(pause(&decoder, tries)).await;
        let wait = decoder.retry();
        decoder = Decoder::new(LIMITS.max_bytes);
        // The new decoder has to know what the old one knew.
        let mut known = Vec::new();
        sse::retry(&mut known, wait.unwrap_or(1000));
        known.extend_from_slice(format!("id: {last}\n\n").as_bytes());
        decoder.feed(&known);
        let _ = decoder.next_item();
        response = get(link, Some(&last)).await.ok();
    }
}

/// Opens the stream on which the server speaks by itself, as long as the channel lives. While there is none,
/// the server's lists are looked at instead, whatever it declares.
///
/// Returns when it is open or known not to be there: a call before that could make the server ask
/// something on a stream that nobody reads, and servers do not ask twice.
pub(crate) async fn listen(channel: &Arc<Channel>) {
    channel.changed.set_unheard(Kinds::ALL);
    let owned = channel.clone();
    let (opened, open) = oneshot::channel();
    channel.tasks().spawn(async move {
        let end = owned.token().clone();
        tokio::select! {
            () = end.cancelled() => {}
            () = keep_listening(&owned, opened) => {}
        }
    });
    let _ = timeout(OPENING, open).await;
}

async fn keep_listening(channel: &Arc<Channel>, opened: oneshot::Sender<()>) {
    let Link::Http(link) = channel.link() else { return };
    let mut opened = Some(opened);
    let (mut last, mut tries): (Option<String>, u32) = (None, 0);
    loop {
        let mut decoder = Decoder::new(LIMITS.max_bytes);
        let response = get(link, last.as_deref()).await;
        match response {
            Ok(response) => {
                hear(channel, opened.take(), last.is_some());
                let began = Instant::now();
                let _ = follow(channel, &mut decoder, response, Related::Unknown, None).await;
                last = decoder.last_event_id().map(str::to_owned).or(last);
                // One that ends at once, again and again, must not have everything read anew each time.
                if last.is_some() || began.elapsed() >= LASTED {
                    tries = 0;
                }
            }
            Err(CallError::Lost { delivery: Delivery::No, reason }) if link.end.is_cancelled() => {
                return channel.close(reason);
            }
            Err(error) => {
                tracing::debug!(%error, "the server's own stream is not there");
                go_unheard(channel, opened.take());
                // What it does not remember any more cannot be taken up; the stream may be there all the same.
                if is_final(&error) && last.take().is_none() {
                    return;
                }
            }
        }
        sleep(pause(&decoder, tries)).await;
        tries = tries.saturating_add(1);
    }
}

/// The server's own stream is open. What it told before reached nobody, unless that is told again on a stream
/// that goes on where the last one broke off.
fn hear(channel: &Channel, opened: Option<oneshot::Sender<()>>, goes_on: bool) {
    let before = channel.changed.set_unheard(Kinds::NONE);
    // Whoever waits for the first one has read nothing yet.
    let is_first = opened.is_some_and(|opened| opened.send(()).is_ok());
    let is_whole = is_first || (goes_on && before == Kinds::NONE);
    if !is_whole {
        channel.changed.note_missed();
    }
}

/// It is not open, and nobody knows whether it ever will be.
fn go_unheard(channel: &Channel, opened: Option<oneshot::Sender<()>>) {
    if channel.changed.set_unheard(Kinds::ALL) != Kinds::ALL {
        // Read at once: how long they hold is another matter from here on.
        channel.changed.note(Kinds::ALL);
    }
    opened.map(|opened| opened.send(()));
}

/// Most servers have no such stream, and say so; some only that it is not to be had now.
pub(crate) fn is_final(error: &CallError) -> bool {
    match error {
        CallError::Http { status, .. } => {
            matches!(status, 400..=499) && !matches!(status, 408 | 409 | 425 | 429)
        }
        _ => false,
    }
}

async fn get(link: &HttpLink, last: Option<&str>) -> Result<Answer, CallError> {
    let mut request = link
        .endpoint
        .client
        .get(link.endpoint.url.clone())
        .headers(link.headers())
        .header(ACCEPT, sse::CONTENT_TYPE);
    if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
        request = request.header(header::LAST_EVENT_ID, last);
    }
    let response = request.send().await.map(Answer::Shared).map_err(|error| unsent(&error))?;
    match response.status() {
        StatusCode::OK if content_type(&response) == Content::Events => Ok(response),
        StatusCode::OK => {
            Err(CallError::Http { status: 405, detail: "no event stream".to_owned() })
        }
        status => Err(match link.refused(response).await {
            // The status says it, however it is explained.
            CallError::Rpc(error) => {
                CallError::Http { status: status.as_u16(), detail: error.message }
            }
            error => error,
        }),
    }
}

/// What is left of a stream.
enum Rest {
    /// Nothing.
    None,
    /// Nothing, but an event was too long to be taken.
    TooLong,
    /// What came after the answer.
    Unread(Answer),
}

/// Takes events in until the stream ends or `until` is answered; then what is left of it.
async fn follow(
    channel: &Arc<Channel>,
    decoder: &mut Decoder,
    mut response: Answer,
    related: Related,
    until: Option<u64>,
) -> Result<Rest, CallError> {
    let mut end = Rest::None;
    while let Some(chunk) = response.chunk().await? {
        decoder.feed(&chunk);
        while let Some(item) = decoder.next_item() {
            match item {
                Item::Event(event)
                    if event.kind.as_deref().is_none_or(|kind| kind == "message") =>
                {
                    if !event.data.is_empty() {
                        channel.dispatch(&event.data, related);
                    }
                }
                Item::Event(_) => {}
                Item::TooLong => {
                    channel.journal.remark("an event was too long and is left out");
                    end = Rest::TooLong;
                }
            }
        }
        if until.is_some_and(|id| !channel.waits(id)) {
            return Ok(Rest::Unread(response));
        }
    }
    Ok(end)
}

async fn drain(mut response: Answer) {
    let end = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _ = timeout(DRAIN, end).await;
}

fn pause(decoder: &Decoder, tries: u32) -> Duration {
    let wait = decoder.retry().map_or(RETRY, Duration::from_millis);
    wait.saturating_mul(1 << tries.min(6)).min(LONGEST_RETRY)
}
