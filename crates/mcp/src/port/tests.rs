//! What a client hears of a call that goes on with another request.

use std::pin::pin;
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

/// It is the server that says how long its questions are; people answer what they can read.
#[tokio::test]
async fn questions_that_wait_are_bounded() {
    let out = Arc::new(Outbox::new(Keep::UntilRead(1000)));
    let capabilities = json(r#"{"elicitation":{}}"#);
    let capabilities = Capabilities::read(Some(capabilities.as_json()));
    let speech = Speech::Stateless { capabilities, level: None };
    let port = Port::new(out, speech, Arc::default(), Asking::Allowed, Duration::from_secs(600));
    let params = |bytes: usize| Some(json(&format!(r#"{{"message":"{}"}}"#, "x".repeat(bytes))));
    let mut first = pin!(port.ask(method::ELICIT, params(ASKED - 100), None));
    let context = &mut Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(context).is_pending());
    let Poll::Ready(second) = pin!(port.ask(method::ELICIT, params(100), None)).poll(context)
    else {
        panic!("it is not held")
    };
    assert!(second.unwrap_err().message.contains("too long together"));
    assert_eq!(port.take_asks().len(), 1);
    let mut third = pin!(port.ask(method::ELICIT, params(100), None));
    assert!(third.as_mut().poll(context).is_pending(), "what was taken is counted elsewhere");
}

#[test]
fn progress_comes_under_the_token_of_the_request_that_waits() {
    check(None, Some(r#""first""#));
    check(Some(Some("2")), Some("2"));
    check(Some(None), None);
}
