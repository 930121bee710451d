//! Which hosts, origins and kinds of answers are let in.

use axum::http::header::{ACCEPT, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::{Gate, accepts};
use crate::head::{Head, Headers};

fn headers(rows: &[(HeaderName, &'static str)]) -> HeaderMap {
    rows.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

fn check(host: &'static str, origin: Option<&'static str>) -> u16 {
    let hosts = ["hub.example".to_owned(), "proxy.example:8443".to_owned()];
    let gate = Gate::new(&hosts, &["https://page.example".to_owned()], 10_000);
    let mut all = headers(&[(HOST, host)]);
    if let Some(origin) = origin {
        all.insert(ORIGIN, HeaderValue::from_static(origin));
    }
    match gate.check(None, &Head::of(Headers::Map(&all))) {
        Ok(()) => 200,
        Err(refused) => refused.status.as_u16(),
    }
}

#[test]
fn hosts() {
    let rows = [
        ("localhost", 200),
        ("LocalHost:8010", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8010", 200),
        ("[::1]", 200),
        ("hub.example", 200),
        ("HUB.example:443", 200),
        ("proxy.example:8443", 200),
        ("proxy.example:80", 421),
        ("proxy.example", 421),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("localhost:80@evil.example", 421),
        ("localhost:", 421),
        ("localhost:8x", 421),
        ("127.0.0.1.", 421),
        ("127.0.0.2:8010", 200),
        ("127.255.255.254", 200),
        ("[0:0:0:0:0:0:0:1]:8010", 200),
        ("127.1", 421),
        ("127.0.0.02:8010", 421),
        ("0x7f.1", 421),
        ("0x7f000001", 421),
        ("0177.0.0.1", 421),
        ("2130706433:8010", 421),
        ("[127.0.0.2]:8010", 421),
        ("[::ffff:127.0.0.1]:8010", 421),
        ("[::127.0.0.1]", 421),
        ("[::1%lo]", 421),
        ("[::2]", 421),
        ("[[::1]]", 421),
        ("[::1", 421),
        ("128.0.0.1", 421),
        ("127.0.0.2.evil.example", 421),
        ("127.0.0.2:80@evil.example", 421),
        ("127.0.0.2:", 421),
        ("0.0.0.0:8010", 421),
        ("::1", 421),
        ("", 421),
    ];
    for (host, status) in rows {
        assert_eq!(check(host, None), status, "{host}");
    }
}

#[test]
fn origins() {
    let rows = [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://127.0.0.2:8010", 200),
        ("http://[::1]:8010", 200),
        ("http://127.1", 403),
        ("http://2130706433", 403),
        ("http://[::ffff:127.0.0.1]", 403),
        ("http://127.0.0.2.evil.example", 403),
        ("http://127.0.0.2@evil.example", 403),
        ("https://hub.example", 200),
        ("https://page.example", 200),
        ("http://page.example", 403),
        ("null", 403),
        ("http://evil.example", 403),
        ("http://localhost@evil.example", 403),
        ("http://localhost/", 403),
        ("file://localhost", 403),
        ("", 403),
    ];
    for (origin, status) in rows {
        assert_eq!(check("localhost", Some(origin)), status, "{origin}");
    }
}

#[test]
fn kinds_of_answers() {
    let rows = [
        ("application/json, text/event-stream", true),
        ("text/event-stream;q=0.5,application/json;q=1", true),
        ("*/*", true),
        ("Text/*, Application/*", true),
        ("application/json", false),
        ("text/html", false),
        ("", false),
    ];
    for (value, both) in rows {
        let all = headers(&[(ACCEPT, value)]);
        let kinds = ["application/json", "text/event-stream"];
        assert_eq!(kinds.iter().all(|kind| accepts(Headers::Map(&all), kind)), both, "{value}");
    }
    assert!(accepts(Headers::Fields(&[]), "application/json"), "who does not say takes any");
}
