//! What a client hears of a call that goes on with another request.

use std::task::{Context, Poll, Waker};

use switchboard_wire::Limits;

use super::*;
use crate::outbox::Keep;

fn json(text: &str) -> JsonBuf {
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap().into()
}

/// The token under which the client of a call hears of progress, after the call went on so.
#[track_caller]
fn check(went_on: Option<Option<&str>>, expected: Option<&str>) {
    let out = Arc::new(Outbox::new(Keep::UntilRead(1000)));
    let speech = Speech::Stateless { capabilities: Capabilities::read(None), level: None };
    let patience = Duration::from_secs(600);
    let port = Port::new(out.clone(), speech, Arc::default(), Asking::Allowed, patience);
    if let Some(token) = went_on {
        port.go_on(token.map(json));
    }
    port.notify(method::PROGRESS, json(r#"{"progressToken":"first","progress":1}"#));
    let mut reader = out.read(None);
    let told = match out.poll_next(&mut reader, &Context::from_waker(Waker::noop())) {
        Poll::Ready(Some((_, message))) => Some(String::from_utf8(message.to_vec()).unwrap()),
        _ => None,
    };
    let params = expected.map(|token| format!(r#""params":{{"progressToken":{token},"#));
    match (told, params) {
        (Some(told), Some(params)) => assert!(told.contains(&params), "{told}"),
        (told, params) => assert_eq!(told, params),
    }
}

#[test]
fn progress_comes_under_the_token_of_the_request_that_waits() {
    check(None, Some(r#""first""#));
    check(Some(Some("2")), Some("2"));
    check(Some(None), None);
}
