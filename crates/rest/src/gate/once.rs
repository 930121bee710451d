//! Requests with an idempotency key: the first is done, the same again gets the first one's answer.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Limited};
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

pub(super) async fn run(
    api: &Api,
    caller: &Caller,
    key: &HeaderValue,
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
    key: &HeaderValue,
    request: Request,
    next: Next,
) -> Result<Response> {
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
    let work = claimed(api.clone(), (principal, key.to_owned(), asked), request, next);
    // What has begun is ended even if whoever asked is gone: the same request finds its answer.
    let done = api.tasks().spawn(work).await;
    done.map_err(|_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", BROKEN))?
}

async fn claimed(
    api: Api,
    (principal, key, asked): (String, String, Vec<u8>),
    request: Request,
    next: Next,
) -> Result<Response> {
    let keys = api.store().idempotency();
    let held = match keys.claim(&principal, &key, &asked, LASTING).await? {
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
    let replay = Replay { status: head.status.as_u16(), body: body.to_vec() };
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

fn answer(replay: &Replay) -> Response {
    let status = StatusCode::from_u16(replay.status).unwrap_or(StatusCode::OK);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (status, kind, replay.body.clone()).into_response();
    response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}
