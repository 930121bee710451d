//! Refuses requests that name another host: a page elsewhere must not reach a hub on loopback by
//! pointing a name of its own at it.

use std::net::{IpAddr, SocketAddr};

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use switchboard_rest::Problem;

/// Puts the check in front of every route.
pub(super) fn guarded(router: Router, listen: SocketAddr) -> Router {
    router.layer(middleware::from_fn(move |request: Request, next: Next| async move {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        match host.is_some_and(|host| is_ours(host, listen)) {
            true => next.run(request).await,
            false => refused(request.uri().path()),
        }
    }))
}

/// As whoever asked there is answered otherwise: below `/api` with problem details, elsewhere with a text.
fn refused(path: &str) -> Response {
    let (status, text) =
        (StatusCode::MISDIRECTED_REQUEST, "This hub answers only to its own address.");
    match path == "/api" || path.starts_with("/api/") {
        true => Problem::new(status, "misdirected", text)
            .remedy("Ask for the address that it listens on, or for localhost.")
            .into_response(),
        false => (status, format!("{text}\n")).into_response(),
    }
}

/// `127.0.0.1:8010`, `localhost:8010`, `[::1]:8010`, or the very address that is listened on.
fn is_ours(host: &str, listen: SocketAddr) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let local = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == listen.ip());
    local && port == Some(listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let listen = SocketAddr::from(([127, 0, 0, 1], 8010));
        for (host, ours) in [
            ("127.0.0.1:8010", true),
            ("localhost:8010", true),
            ("LOCALHOST:8010", true),
            ("[::1]:8010", true),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("localhost.evil.example:8010", false),
            ("evil.example:8010", false),
            ("127.0.0.1.nip.io:8010", false),
            ("127.0.0.1:8010@evil.example", false),
            ("", false),
            ("[", false),
            (":8010", false),
        ] {
            assert_eq!(is_ours(host, listen), ours, "{host}");
        }
    }
}
