//! How long a server is given, and left alone. Moments are counted from the begin of its connection. Never decides
//! what it is asked.

use std::time::Duration;

use crate::supervisor::refusal::Refusal;

/// Between two subscriptions: at first, and at most. One that lived for longer was a good one.
const RESUBSCRIBE: Duration = Duration::from_millis(200);
const RESUBSCRIBE_LATER: Duration = Duration::from_secs(5);
/// The most that is waited for an acknowledgement, however long one took.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is asked after a stream was closed for the next one, which a server may need a moment to see: after
/// [`RESUBSCRIBE`], and after twice as long each time. Together that is less than anybody waits who subscribes.
const TRIES: u32 = 4;

/// For so long a server may not have seen that another stream took the place of one, which over HTTP is closed a second
/// later.
const UNSEEN: Duration = Duration::from_secs(2);

/// What is known of how fast it is.
#[derive(Debug)]
pub(super) struct Pace {
    /// How long it may take to acknowledge something: twice as long as it once took, if that was too long.
    patience: Duration,
    /// How often in a row it has refused, and how many streams in a row were over soon.
    refusals: u32,
    ends: u32,
}

impl Pace {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, refusals: 0, ends: 0 }
    }

    /// When it is late that is asked for something now.
    pub(super) fn late(&self, now: Duration) -> Duration {
        now + self.patience
    }

    /// It has acknowledged something, and took so long.
    pub(super) fn acknowledged(&mut self, took: Duration) {
        self.refusals = 0;
        if took > self.patience {
            self.patience = self.patience.max((took * 2).min(PATIENCE));
        }
    }

    /// A stream is over that lasted for so long.
    pub(super) fn lasted(&mut self, lived: Duration) {
        if lived > RESUBSCRIBE_LATER {
            self.ends = 0;
        }
    }

    /// When it is asked again after it has ended a stream: later and later if they last for a moment.
    pub(super) fn after_end(&mut self, now: Duration) -> Duration {
        self.ends = self.ends.saturating_add(1);
        now + pause(self.ends - 1)
    }

    /// When it is asked again after it has refused something: later and later if it agrees to nothing.
    pub(super) fn after_refusal(&mut self, now: Duration) -> Duration {
        self.refusals = self.refusals.saturating_add(1);
        now + pause(self.refusals - 1)
    }
}

/// When it is asked for what was left out. Whoever was told no meanwhile may need a moment to see it.
pub(super) fn soon(now: Duration) -> Duration {
    now + RESUBSCRIBE
}

/// Whether it may not have seen yet that a stream was replaced then.
pub(super) fn is_lately(now: Duration, replaced: Duration) -> bool {
    now.saturating_sub(replaced) < UNSEEN
}

/// When it is asked again that needs a moment to see that a stream was closed, and has refused so often since.
pub(super) fn after_close(now: Duration, tries: u32) -> Duration {
    now + RESUBSCRIBE * (1 << tries)
}

/// Whether it may have refused for that alone.
pub(super) fn may_yet_agree(tries: u32, refusal: Refusal) -> bool {
    tries
        < match refusal {
            Refusal::Away => 0,
            Refusal::Now => TRIES,
            Refusal::Request | Refusal::Never => 1,
        }
}

/// Before it is asked again, after so many times.
fn pause(times: u32) -> Duration {
    RESUBSCRIBE.saturating_mul(1 << times.min(10)).min(RESUBSCRIBE_LATER)
}
