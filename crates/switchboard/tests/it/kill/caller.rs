//! One who calls a tool and remembers which calls were answered, and when. A record may be lost with the hub only if it
//! is young: gathered for a fifth of a second, and under way to the database.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_model::{Clock as _, SystemClock};

use super::door::Door;

/// Far more than the interval and two writes, so that a stalled machine loses nothing that counts.
const YOUNG: Duration = Duration::from_secs(5);

/// A life in which some records grow old enough to count.
pub(super) const LONG_LIFE: Duration = Duration::from_secs(8);

pub(super) struct Caller {
    random: fastrand::Rng,
    /// The trace of each call, and when it was answered.
    answered: Vec<(String, Instant)>,
    killed: Option<Instant>,
}

impl Caller {
    pub(super) fn new(random: fastrand::Rng) -> Self {
        Self { random, answered: Vec::new(), killed: None }
    }

    /// Calls until nobody answers any more; how often that was done.
    pub(super) fn call(&mut self, door: &Door) -> u32 {
        let call = json!({"name": "mcp__a__echo", "arguments": {"text": "x"}});
        let before = self.answered.len();
        loop {
            let trace = format!("{:032x}", self.random.u128(1..));
            let header = format!("traceparent: 00-{trace}-00000000000000ab-01\r\n");
            let answer = door.ask_with("POST", "/api/v1/tools/call", &header, Some(&call));
            let Some((status, _)) = answer else { break };
            if status == 200 {
                self.answered.push((trace, SystemClock.monotonic()));
            }
        }
        u32::try_from(self.answered.len() - before).unwrap()
    }

    /// The hub was about to be killed.
    pub(super) fn killed(&mut self, at: Instant) {
        self.killed = Some(at);
    }

    /// Every call that was answered long enough before the end is in the log; how many those were.
    pub(super) fn look(&mut self, door: &Door, life: u32) -> u32 {
        let Some(killed) = self.killed.take() else { return 0 };
        let old = |at: &Instant| killed.saturating_duration_since(*at) > YOUNG;
        let mut missing: HashSet<String> =
            self.answered.drain(..).filter(|(_, at)| old(at)).map(|(trace, _)| trace).collect();
        let due = u32::try_from(missing.len()).unwrap();
        let mut cursor = String::new();
        while !missing.is_empty() {
            let path = format!("/api/v1/audit?action=mcp_tool_call&limit=500{cursor}");
            let (status, page) = door.ask("GET", &path, None).expect("the hub answers");
            assert_eq!(status, 200, "{page}");
            for row in page["items"].as_array().unwrap() {
                let trace = row["trace"].as_str().unwrap_or_default();
                missing.retain(|wanted| !trace.contains(wanted.as_str()));
            }
            match &page["next"] {
                Value::String(next) => cursor = format!("&cursor={next}"),
                _ => break,
            }
        }
        assert!(missing.is_empty(), "life {life}: {} of {due} old calls are lost", missing.len());
        due
    }
}
