//! Who may speak at all: hosts, origins, headers, tokens, and what the client takes as an answer.
//! Looks at headers only.

#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::http::StatusCode;
use switchboard_wire::header::{ACCEPT_BOTH, JSON};

use crate::auth::{Authenticate, Principal};
use crate::head::{self, Head, Headers};

/// What is let in.
pub(crate) struct Gate {
    hosts: Vec<Box<str>>,
    origins: Vec<Box<str>>,
    headers: usize,
}

/// Why somebody is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) reason: &'static str,
}

const ACCEPT_TURNED: &str = "text/event-stream, application/json";
/// What nearly everybody calls us; found without reading an address.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Gate {
    pub(crate) fn new(hosts: &[String], origins: &[String], headers: usize) -> Self {
        let lower = |texts: &[String]| {
            texts
                .iter()
                .map(|text| text.to_ascii_lowercase().trim_end_matches('/').into())
                .collect()
        };
        Self { hosts: lower(hosts), origins: lower(origins), headers }
    }

    /// Whether a request came to us by a name of ours, from a page of ours or no page, with headers
    /// of a bearable size. A page that rebinds its own name to us fails here. The authority is the one that
    /// the request line names, if it does.
    pub(crate) fn check(&self, authority: Option<&str>, head: &Head<'_>) -> Result<(), Refused> {
        let refuse = |status, reason| Err(Refused { status, reason });
        if head.size > self.headers {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return refuse(status, "the headers are too large");
        }
        let host = match head.host.is_there() {
            true => head.host.text(),
            false => authority,
        };
        if !host.is_some_and(|host| self.is_ours(host)) {
            let reason = "the Host header names none of this hub's names";
            return refuse(StatusCode::MISDIRECTED_REQUEST, reason);
        }
        let good = head.origin.text().is_some_and(|origin| self.is_good_origin(origin));
        if head.origin.is_there() && !good {
            return refuse(StatusCode::FORBIDDEN, "pages of that origin may not call this hub");
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, _) = split(host);
        LOOPBACK.iter().any(|known| known.eq_ignore_ascii_case(name))
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name))
            || is_loopback(name)
    }

    fn is_good_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| !host.contains(['/', '@', '?', '#']) && self.is_ours(host))
    }
}

/// Whether it is an address that never leaves the machine: no name of a page's own can be one. Written out, as
/// a URL has it: what only some resolvers take for an address is a name like any other.
fn is_loopback(name: &str) -> bool {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()),
        None => name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
    }
}

/// The name and the port of an authority. What is no port makes it no name of ours.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name, Some(port))
        }
        _ => (host, None),
    }
}

/// Whose token a request carries. No token, no answer.
pub(crate) fn principal(auth: &dyn Authenticate, head: &Head<'_>) -> Option<Arc<Principal>> {
    let (scheme, token) = head.authorization.text()?.split_once(' ')?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return None;
    }
    auth.who(token)
}

/// Whether a POST is of JSON.
pub(crate) fn check_json(head: &Head<'_>) -> Result<(), Refused> {
    let kind = head.content_type.text().unwrap_or_default();
    if kind == JSON {
        return Ok(());
    }
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let reason = "the Content-Type has to be application/json";
        return Err(Refused { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, reason });
    }
    Ok(())
}

/// The same, and whether it takes both kinds of answers.
pub(crate) fn check_post(head: &Head<'_>) -> Result<(), Refused> {
    check_json(head)?;
    // What nearly all clients say, in either order.
    if head.accept.text().is_some_and(|both| both == ACCEPT_BOTH || both == ACCEPT_TURNED) {
        return Ok(());
    }
    if accepts(head.all, "application/json") && accepts(head.all, "text/event-stream") {
        return Ok(());
    }
    let reason = "the Accept header has to name application/json and text/event-stream";
    Err(Refused { status: StatusCode::NOT_ACCEPTABLE, reason })
}

/// Whether a GET takes a stream.
pub(crate) fn check_get(head: &Head<'_>) -> Result<(), Refused> {
    if accepts(head.all, "text/event-stream") {
        return Ok(());
    }
    let reason = "the Accept header has to name text/event-stream";
    Err(Refused { status: StatusCode::NOT_ACCEPTABLE, reason })
}

/// Whether the client takes answers of that type; one that does not say takes any.
fn accepts(headers: Headers<'_>, kind: &str) -> bool {
    let all = headers.of("accept");
    if all.is_empty() {
        return true;
    }
    let group = kind.split('/').next().unwrap_or_default();
    let texts = all.into_iter().filter_map(head::text);
    texts.flat_map(|value| value.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.eq_ignore_ascii_case(kind)
            || range == "*/*"
            || range.strip_suffix("/*").is_some_and(|of| of.eq_ignore_ascii_case(group))
    })
}
