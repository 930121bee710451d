//! Which sessions are remembered when they end, and that they stay ended.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use switchboard_core::port::Who;
use switchboard_model::UserId;
use switchboard_testkit::clock::ManualClock;
use switchboard_wire::Revision;
use switchboard_wire::types::Capabilities;

use super::*;
use crate::auth::Role;
use crate::outbox::{Keep, Outbox};

fn greeting() -> Hello {
    Hello { revision: Revision::V2025_11_25, capabilities: Capabilities::read(None) }
}

fn ann() -> Arc<Principal> {
    let who = Who::user(UserId::parse("ann").unwrap());
    Arc::new(Principal { who: who.into(), role: Role::Member, token: None })
}

#[test]
fn only_what_could_come_back_is_remembered() {
    let clock = Arc::new(ManualClock::new());
    let limits = Limits::default();
    let sessions = Sessions::new(Arc::new(Seal::new([1; 32])), clock.clone(), limits, None);
    let principal = ann();
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

/// Does something, once, when it is asked for the time of day: as somebody else would at that moment.
#[derive(Default)]
struct Meddler(ManualClock, Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Clock for Meddler {
    fn now(&self) -> SystemTime {
        let act = self.1.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        self.0.now()
    }

    fn monotonic(&self) -> Instant {
        self.0.monotonic()
    }
}

/// A session that ends and is asked for at the same time, one in the middle of the other.
#[test]
fn what_has_ended_does_not_come_back() {
    #[derive(Debug)]
    enum Race {
        FoundWhileItEnds,
        EndedWhileItComesBack,
        HeldAgainWhileItEnds,
    }
    for race in [Race::FoundWhileItEnds, Race::EndedWhileItComesBack, Race::HeldAgainWhileItEnds] {
        let clock = Arc::new(Meddler::default());
        let seal = Arc::new(Seal::new([1; 32]));
        let sessions = Sessions::new(seal, clock.clone(), Limits::default(), None);
        let (sessions, principal) = (Arc::new(sessions), ann());
        let session = sessions.open(&principal, &Door::Own, Some(greeting())).unwrap();
        let again = Arc::new(OnceLock::new());
        let find = {
            let (sessions, id, again) = (sessions.clone(), session.id.clone(), again.clone());
            let principal = principal.clone();
            move || drop(again.set(sessions.find(&id, &principal, &Door::Own)))
        };
        let let_go = || drop(sessions.write().remove(&tail(&session.id).unwrap()));
        let meanwhile = |act: Box<dyn FnOnce() + Send>| *clock.1.lock().unwrap() = Some(act);
        match race {
            Race::FoundWhileItEnds => {
                meanwhile(Box::new(find));
                sessions.end(&session);
            }
            Race::EndedWhileItComesBack => {
                let_go();
                let (sessions, session) = (sessions.clone(), session.clone());
                meanwhile(Box::new(move || sessions.end(&session)));
                find();
                assert!(again.get().unwrap().is_none(), "{race:?}");
            }
            Race::HeldAgainWhileItEnds => {
                let_go();
                let out = Arc::new(Outbox::new(Keep::UntilRead(1)));
                let (own, came) = (out.clone(), again.clone());
                meanwhile(Box::new(move || {
                    find();
                    let came = came.get().unwrap().as_ref().unwrap();
                    came.streams(|streams| streams.set_own(own));
                }));
                sessions.end(&session);
                assert!(out.is_ended(), "what came back by the id has ended, too");
            }
        }
        assert!(again.get().is_some(), "{race:?}: it was asked for");
        assert_eq!(sessions.count(), 0, "{race:?}");
        assert!(sessions.find(&session.id, &principal, &Door::Own).is_none(), "{race:?}");
    }
}
