//! Says in the log that something waits for the database: at once, then rarely, and when it goes on. An
//! outage is one thing that happened, however often it is met.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::Error;

/// Between two remarks on the same outage.
const RARELY: Duration = Duration::from_secs(5 * 60);

/// What waits, and since when that was last said.
#[derive(Debug)]
pub struct Outage {
    what: &'static str,
    said: Option<Instant>,
}

impl Outage {
    /// Of whatever this sentence says is not done meanwhile.
    pub const fn new(what: &'static str) -> Self {
        Self { what, said: None }
    }

    /// The database did not answer, once more.
    pub fn met(&mut self, error: &Error) {
        self.met_at(error, Instant::now());
    }

    /// Whether that was said.
    fn met_at(&mut self, error: &Error, now: Instant) -> bool {
        let due = self.said.is_none_or(|said| now.duration_since(said) >= RARELY);
        if due {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "{}; it is tried again and again", self.what);
            self.said = Some(now);
        }
        due
    }

    /// It answers.
    pub fn over(&mut self) {
        if self.said.take().is_some() {
            tracing::info!("the store answers again, after: {}", self.what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_at_first_and_then_rarely() {
        let mut outage = Outage::new("nothing is written");
        let begin = Instant::now();
        let away = Error::Refused("away");
        let at = |second| begin + Duration::from_secs(second);
        let remarks: Vec<u64> = (0..1000).filter(|s| outage.met_at(&away, at(*s))).collect();
        assert_eq!(remarks, [0, 300, 600, 900]);
        outage.over();
        assert!(outage.met_at(&away, at(1000)), "the next one is another");
    }
}
