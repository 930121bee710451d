//! Requests with an idempotency key: the first is done, the same again gets the first one's answer.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Limited};
use switchboard_model::UserId;
use switchboard_store::{Claim, Held, Replay};

use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{MAX_BODY, too_large};
use crate::who::Caller;

/// The header that carries the key.
pub(super) const KEY: &str = "idempotency-key";
/// How long an answer is remembered.
const LASTING: Duration = Duration::from_secs(24 * 60 * 60);
/// How often the key of a request that takes long is held for longer.
const RENEW: Duration = Duration::from_secs(5);
const MAX_KEY: usize = 200;
const BROKEN: &str = "the hub could not do it; its log says why";

/// What is kept for those who ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// The answer.
    Answer,
    /// That it was answered, and not with what.
    Nothing,
}

pub(super) async fn run(
    api: &Api,
    caller: &Caller,
    key: (&HeaderValue, Keeps),
    request: Request,
    next: Next,
) -> Response {
    match once(api, caller, key, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn once(
    api: &Api,
    caller: &Caller,
    key: (&HeaderValue, Keeps),
    request: Request,
    next: Next,
) -> Result<Response> {
    let (key, keeps) = key;
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= MAX_KEY);
    let key = key.ok_or_else(|| {
        let text = format!("an idempotency key has 1 to {MAX_KEY} visible characters");
        Problem::new(StatusCode::BAD_REQUEST, "bad_key", text)
    })?;
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await.map_err(|_| too_large())?.to_bytes();
    let mut asked = format!("{} {}\n", head.method, head.uri.path()).into_bytes();
    asked.extend_from_slice(&body);
    let principal = caller
        .agent
        .as_ref()
        .map_or_else(|| format!("user {}", caller.user), |agent| format!("agent {agent}"));
    let request = Request::from_parts(head, Body::from(body));
    let principal = (caller.user.clone(), principal);
    let work = claimed(api.clone(), (principal, key.to_owned(), asked), keeps, request, next);
    // What has begun is ended even if whoever asked is gone: the same request finds its answer.
    let done = api.tasks().spawn(work).await;
    done.map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", BROKEN))?
}

async fn claimed(
    api: Api,
    ((user, principal), key, asked): ((UserId, String), String, Vec<u8>),
    keeps: Keeps,
    request: Request,
    next: Next,
) -> Result<Response> {
    let keys = api.store().idempotency();
    let held = match keys.claim((&user, &principal), &key, &asked, LASTING).await? {
        Claim::First(held) => held,
        Claim::Done(replay) => return Ok(answer(&replay)),
        Claim::UnderWay => {
            let text = "a request with this key is being done";
            return Err(Problem::conflict("under_way", text).remedy("Ask again in a moment."));
        }
        Claim::Other => {
            let text = "this key came with another request before";
            return Err(Problem::invalid(text).remedy("Use a new key for a new request."));
        }
    };
    let response = renewed(&api, &held, next.run(request)).await;
    if !response.status().is_success() {
        keys.abandon(&held).await?;
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|_| Problem::invalid("the answer broke"))?.to_bytes();
    let replay = match keeps {
        Keeps::Answer => {
            let status = head.status.as_u16();
            Replay { status, headers: kept(&head.headers), body: body.to_vec() }
        }
        Keeps::Nothing => told(),
    };
    keys.finish(&held, &replay).await?;
    Ok(Response::from_parts(head, Body::from(body)))
}

/// The key is held as long as the request is being done: whoever asks again is told so, and nobody has to
/// wait for a hub that died.
async fn renewed(api: &Api, held: &Held, work: impl Future<Output = Response>) -> Response {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            response = &mut work => return response,
            () = tokio::time::sleep(RENEW) => {}
        }
        if let Err(error) = api.store().idempotency().renew(held).await {
            tracing::warn!(%error, "the key of a request is not held for longer");
        }
    }
}

/// What is answered instead of something that is told once.
fn told() -> Replay {
    let text = "the request with this key was done, and what it made was told once and is not kept";
    let problem = Problem::conflict("told_once", text).remedy("Ask with another key for another.");
    Replay { status: StatusCode::CONFLICT.as_u16(), headers: Vec::new(), body: problem.body() }
}

/// The headers of an answer that say where it is and which one it is.
fn kept(headers: &HeaderMap) -> Vec<(String, String)> {
    let value = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
    let pair = |name: HeaderName| value(&name).map(|value| (name.to_string(), value));
    [header::ETAG, header::LOCATION].into_iter().filter_map(pair).collect()
}

fn answer(replay: &Replay) -> Response {
    let status = StatusCode::from_u16(replay.status).unwrap_or(StatusCode::OK);
    let kind = match status.is_success() {
        true => "application/json",
        false => "application/problem+json",
    };
    let kind = [(header::CONTENT_TYPE, kind)];
    let mut response = (status, kind, replay.body.clone()).into_response();
    let headers = response.headers_mut();
    for (name, value) in &replay.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            headers.insert(name, value);
        }
    }
    headers.insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}
