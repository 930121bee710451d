//! Where a question goes when the client is lost after it was asked and before anybody heard it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use switchboard_core::port::Who;
use switchboard_model::UserId;
use switchboard_wire::{Id, Json};

use super::*;
use crate::auth::{Principal, Role};
use crate::door::Door;
use crate::outbox::Keep;
use crate::port::Asking;

fn port() -> (Port, Arc<Session>) {
    let who = Who::user(UserId::parse("ann").unwrap());
    let principal = Principal { who: who.clone().into(), role: Role::Member, token: None };
    let session = Arc::new(Session::new("id".into(), Door::Own, Arc::new(principal)));
    let (out, speech) =
        (Arc::new(Outbox::new(Keep::ForReplay(1000))), Speech::Session(session.clone()));
    let patience = Duration::from_secs(600);
    (Port::new(out, speech, Arc::new(who), Asking::Allowed, patience), session)
}

/// Polls it once; it is not done.
async fn begin(future: std::pin::Pin<&mut impl Future>) {
    let mut future = future;
    let pending = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await;
    assert!(pending);
}

#[tokio::test]
async fn nobody_is_left_to_answer() {
    let (port, session) = port();
    let mut asked = pin!(port.ask_session(&session, method::ROOTS_LIST, None, None));
    begin(asked.as_mut()).await;
    // Its own stream was open once, and nobody reads it now.
    drop(session.streams(|streams| streams.own(1000)));
    port.detach();
    assert!(asked.await.unwrap_err().message.contains("gone"));
    let later = port.ask_session(&session, method::ROOTS_LIST, None, None).await;
    assert!(later.unwrap_err().message.contains("gone"));
    assert_eq!(port.out.bytes(), 0, "nothing waits where nobody looks");
}

#[tokio::test]
async fn the_sessions_own_stream_is_read() {
    let (port, session) = port();
    let mut asked = pin!(port.ask_session(&session, method::ROOTS_LIST, None, None));
    begin(asked.as_mut()).await;
    let own = session.streams(|streams| streams.own(1000));
    port.detach();
    assert!(own.bytes() > 0 && port.out.bytes() == 0, "it is asked there instead");
    let answer = |number: u64| session.answer(Id::from(number), Ok(JsonBuf::from(Json::EMPTY)));
    answer(1);
    assert!(asked.await.is_ok());
    let bytes = own.bytes();
    let mut later = pin!(port.ask_session(&session, method::ROOTS_LIST, None, None));
    begin(later.as_mut()).await;
    assert!(own.bytes() > bytes);
    answer(2);
    assert!(later.await.is_ok());
}
