//! A request with an idempotency key that a crash cut short: it may be tried again, and is then done once.

use std::io::Read;
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::context::Context;
use crate::hub::{Hub, sent, wait};
use crate::rest::person;

/// Sends the request with its key, and does not wait.
fn send(hub: &Hub, token: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let request = format!(
        "POST /api/v1/servers HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nIdempotency-Key: k\r\n\
         Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        hub.address,
        body.len(),
    );
    sent(&hub.address, &request)
}

/// The status, whether it is an earlier answer, and the answer.
fn answer(mut stream: TcpStream) -> (u16, bool, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (status, head.contains("idempotency-replayed"), serde_json::from_str(body).unwrap())
}

#[test]
fn a_request_that_a_crash_cut_short_is_tried_again() {
    let context = Context::new();
    let mut hub = Hub::start(&context);
    let admin = person(&context, "admin");
    // A server that never answers: whoever adds it waits.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let new = json!({"name": "silent", "scope": "global", "entry": {"url": url}});
    let cut_short = send(&hub, &admin, &new);
    let connection = silent.accept().unwrap();
    let (status, _, said) = answer(send(&hub, &admin, &new));
    assert_eq!((status, &said["code"]), (409, &json!("under_way")), "{said}");
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    drop((cut_short, connection, silent));

    let hub = Hub::start(&context);
    let mut last = Value::Null;
    wait("it is tried again", || {
        let (status, _, said) = answer(send(&hub, &admin, &new));
        assert_eq!(status, 409, "{said}");
        last = said;
        last["code"] != "under_way"
    });
    // What the first one did is there; once it is gone, the same key does the same anew.
    assert_eq!(last["code"], "exists", "{last}");
    assert_eq!(hub.rest("DELETE", "/api/v1/servers/global:silent", &admin, None).status, 204);
    let (status, replayed, made) = answer(send(&hub, &admin, &new));
    assert_eq!((status, replayed), (201, false), "{made}");
    let (status, replayed, again) = answer(send(&hub, &admin, &new));
    assert_eq!((status, replayed), (201, true), "{again}");
    assert_eq!(made["id"], again["id"]);
}
