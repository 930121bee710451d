//! The machine as a table: from, what happens, to.

use std::time::Duration;

use super::*;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn trouble() -> Trouble {
    Trouble { code: "gone", message: "it ended".into(), remedy: "look at its log".into() }
}

fn connecting(failures: u32, pace: Pace) -> ServerState {
    ServerState::Connecting { since: at(1), failures, pace }
}

fn connected(failures: u32) -> ServerState {
    ServerState::Connected { since: at(2), failures, revision: "2025-11-25".into() }
}

fn failed(attempt: u32) -> ServerState {
    ServerState::Failed { error: trouble(), attempt, next_try: at(9) }
}

fn all() -> Vec<ServerState> {
    vec![
        ServerState::Disabled,
        ServerState::NeedsSetup { variables: vec!["A".into()] },
        ServerState::NeedsApproval,
        ServerState::NeedsAuth { url: None, detail: "401".into() },
        connecting(3, Pace::InTime),
        connected(3),
        failed(3),
        ServerState::START,
    ]
}

#[test]
fn inputs_that_mean_the_same_everywhere() {
    for state in all() {
        let failures = state.failures();
        let auth = Input::Challenge { url: None, detail: "401".into() };
        let check = |input, to| assert_eq!(state.next(input), to, "from {}", state.code());
        check(Input::Disable, ServerState::Disabled);
        check(Input::AwaitApproval, ServerState::NeedsApproval);
        check(
            Input::Lack { variables: vec!["B".into()] },
            ServerState::NeedsSetup { variables: vec!["B".into()] },
        );
        check(auth, ServerState::NeedsAuth { url: None, detail: "401".into() });
        check(Input::Begin { now: at(1) }, connecting(failures, Pace::InTime));
        check(Input::Fail { error: trouble(), next_try: at(9) }, failed(failures + 1));
        let until = Until::NextCall;
        check(Input::Rest { until }, ServerState::Disconnected { until });
    }
}

#[test]
fn inputs_that_depend_on_the_state() {
    let establish = || Input::Establish { now: at(2), revision: "2025-11-25".into() };
    for state in all() {
        let (late, made, proved, renewed) = match &state {
            ServerState::Connecting { .. } => (
                connecting(3, Pace::Slow),
                connected(3),
                state.clone(),
                connecting(0, Pace::InTime),
            ),
            ServerState::Connected { .. } => {
                (state.clone(), state.clone(), connected(0), connected(0))
            }
            ServerState::Failed { .. } => {
                (state.clone(), state.clone(), state.clone(), ServerState::START)
            }
            other => (other.clone(), other.clone(), other.clone(), other.clone()),
        };
        assert_eq!(state.next(Input::RunLate), late, "late {}", state.code());
        assert_eq!(state.next(establish()), made, "established {}", state.code());
        assert_eq!(state.next(Input::Prove), proved, "proved {}", state.code());
        assert_eq!(state.next(Input::Renew), renewed, "renewed {}", state.code());
    }
}

/// A server that connects and drops at once must not look fresh at every try.
#[test]
fn the_counter_survives_a_connection_that_proved_nothing() {
    let flap = |state: ServerState| {
        let state = state.next(Input::Begin { now: at(1) });
        let state = state.next(Input::Establish { now: at(2), revision: String::new() });
        state.next(Input::Fail { error: trouble(), next_try: at(9) })
    };
    let twice = flap(flap(ServerState::START));
    assert_eq!(twice.failures(), 2);
    let lasting = twice.next(Input::Begin { now: at(1) });
    let lasting = lasting.next(Input::Establish { now: at(2), revision: String::new() });
    let lasting = lasting.next(Input::Prove);
    assert_eq!(lasting.next(Input::Fail { error: trouble(), next_try: at(9) }).failures(), 1);
}

#[test]
fn words() {
    let codes: Vec<_> = all().iter().map(ServerState::code).collect();
    assert_eq!(
        codes,
        [
            "disabled",
            "needs_setup",
            "needs_approval",
            "needs_auth",
            "connecting",
            "connected",
            "failed",
            "disconnected",
        ]
    );
    let sentences: Vec<_> = all().iter().map(ServerState::sentence).collect();
    assert_eq!(sentences[1], "A is not set; set the environment and reconnect.");
    assert_eq!(sentences[6], "it ended; look at its log. 3 tries failed, the next one is set.");
    assert!(sentences.iter().all(|sentence| !sentence.contains("{")));
}
