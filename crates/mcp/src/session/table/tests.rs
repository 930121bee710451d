//! Which sessions are remembered when they end.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::port::Who;
use switchboard_model::UserId;
use switchboard_testkit::clock::ManualClock;
use switchboard_wire::Revision;
use switchboard_wire::types::Capabilities;

use super::*;
use crate::auth::Role;

#[test]
fn only_what_could_come_back_is_remembered() {
    let clock = Arc::new(ManualClock::new());
    let limits = Limits::default();
    let sessions = Sessions::new(Arc::new(Seal::new([1; 32])), clock.clone(), limits, None);
    let who = Who::user(UserId::parse("ann").unwrap());
    let principal = Arc::new(Principal { who, role: Role::Member, token: None });
    let greeting =
        || Hello { revision: Revision::V2025_11_25, capabilities: Capabilities::read(None) };
    let ended = |hello: Option<Hello>, after: Duration| {
        let session = sessions.open(&principal, &Door::Own, hello).unwrap();
        clock.advance(after);
        sessions.end(&session);
        sessions.ended.has(&tail(&session.id).unwrap())
    };
    assert!(ended(Some(greeting()), Duration::ZERO));
    assert!(!ended(None, Duration::ZERO), "it lives on a single connection");
    assert!(!ended(Some(greeting()), limits.session_life * 2), "its id is good no more");
}
