//! Asking the API: of the running hub through its socket, or, where none runs, on its store. The same
//! operations, and the same answers.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, header};
use serde_json::Value;
use switchboard_config::Loader;
use switchboard_model::SystemClock;

use crate::app::Offline;
use crate::control::Client;
use crate::state_dir::StateDir;

/// Asks for something.
pub(super) fn get(path: &str) -> Result<Value> {
    request(&Method::GET, path, None)
}

/// Asks, with a body or without; the body of the answer.
pub(super) fn request(method: &Method, path: &str, body: Option<&Value>) -> Result<Value> {
    request_held(method, path, body, None)
}

/// The same, if the thing is still of this revision.
pub(super) fn request_held(
    method: &Method,
    path: &str,
    body: Option<&Value>,
    revision: Option<i64>,
) -> Result<Value> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(async {
        let request = made(method, path, body, revision)?;
        let places = super::places();
        let state = StateDir::open(places.state.clone())?;
        let (status, body) = match Client::connect(&state.socket()).await? {
            Some(client) => client.request(request).await?,
            None => {
                let loaded = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load();
                let offline = Offline::open(loaded, places.data).await?;
                let answer = offline.request(request).await;
                offline.close().await;
                answer?
            }
        };
        let value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if status.is_success() {
            return Ok(value);
        }
        let said = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let detail = said("detail").unwrap_or_else(|| format!("the hub answered {status}"));
        match said("remedy") {
            Some(remedy) => bail!("{detail}; {remedy}"),
            None => bail!("{detail}"),
        }
    })
}

fn made(
    method: &Method,
    path: &str,
    body: Option<&Value>,
    revision: Option<i64>,
) -> Result<Request<Full<Bytes>>> {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "hub");
    if let Some(revision) = revision {
        request = request.header(header::IF_MATCH, format!("\"r{revision}\""));
    }
    let (request, body) = match body {
        Some(body) => (
            request.header(header::CONTENT_TYPE, "application/json"),
            Bytes::from(serde_json::to_vec(body)?),
        ),
        None => (request, Bytes::new()),
    };
    Ok(request.body(Full::new(body))?)
}

/// A part of a path, as it must be written there.
pub(super) fn part(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:".contains(&byte);
    let written = |byte: u8| match keep(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(written).collect()
}

/// A query; what is not given is left out.
pub(super) fn query(pairs: &[(&str, Option<String>)]) -> String {
    let given = pairs.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let written: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", part(value))).collect();
    if written.is_empty() { String::new() } else { format!("?{}", written.join("&")) }
}
