//! The states of a server's connection and how one follows from another. Pure: never waits, never
//! looks at a clock.

#[cfg(test)]
mod tests;

use std::time::SystemTime;

/// Where a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It is declared and switched off.
    Disabled,
    /// Variables are missing.
    NeedsSetup {
        /// Which ones.
        variables: Vec<String>,
    },
    /// Nobody has approved its command line.
    NeedsApproval,
    /// It wants to know who calls.
    NeedsAuth {
        /// The link to open, if there is one.
        url: Option<String>,
        /// What the server said.
        detail: String,
    },
    /// It is being started and asked what it speaks.
    Connecting {
        /// When that began.
        since: SystemTime,
        /// How many tries failed before this one.
        failures: u32,
        /// Whether it takes longer than its connect timeout.
        pace: Pace,
    },
    /// It answers.
    Connected {
        /// Since when.
        since: SystemTime,
        /// How many tries failed before; 0 again once the connection has proved itself.
        failures: u32,
        /// The revision of the protocol it speaks.
        revision: String,
    },
    /// The last try failed, and the next one is set.
    Failed {
        /// What went wrong, and what to do about it.
        error: Trouble,
        /// How many tries have failed in a row.
        attempt: u32,
        /// When it is tried again.
        next_try: SystemTime,
    },
    /// Nothing runs, and nothing is wrong.
    Disconnected {
        /// What brings it back.
        until: Until,
    },
}

/// How a start proceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Within its connect timeout.
    InTime,
    /// Beyond it, and still waited for.
    Slow,
}

/// What brings a disconnected server back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The next call: it starts late, or was idle.
    NextCall,
    /// A person or a change of the configuration.
    Told,
}

/// What went wrong, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The kind, stable across versions.
    pub code: &'static str,
    /// What happened and why, in one sentence without a full stop.
    pub message: String,
    /// What to do next; empty if nothing but waiting helps.
    pub remedy: String,
}

/// What happens to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Its declaration switches it off.
    Disable,
    /// Variables are missing.
    Lack {
        /// Which ones.
        variables: Vec<String>,
    },
    /// Its command line waits for approval.
    AwaitApproval,
    /// A start begins.
    Begin {
        /// When.
        now: SystemTime,
    },
    /// The connect timeout has passed.
    RunLate,
    /// The server answered and its catalog is there.
    Establish {
        /// When.
        now: SystemTime,
        /// What it speaks.
        revision: String,
    },
    /// The connection has lasted, or served.
    Prove,
    /// The server wants to know who calls.
    Challenge {
        /// The link to open.
        url: Option<String>,
        /// What the server said.
        detail: String,
    },
    /// The start failed, or the connection broke.
    Fail {
        /// What went wrong.
        error: Trouble,
        /// When to try again.
        next_try: SystemTime,
    },
    /// It is stopped on purpose.
    Rest {
        /// What brings it back.
        until: Until,
    },
    /// Its declaration changed, or a person asked anew: what failed before no longer counts.
    Renew,
}

impl ServerState {
    /// Where a connection begins.
    pub const START: Self = Self::Disconnected { until: Until::Told };

    /// The state as it is shown and searched for, stable across versions.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NeedsSetup { .. } => "needs_setup",
            Self::NeedsApproval => "needs_approval",
            Self::NeedsAuth { .. } => "needs_auth",
            Self::Connecting { .. } => "connecting",
            Self::Connected { .. } => "connected",
            Self::Failed { .. } => "failed",
            Self::Disconnected { .. } => "disconnected",
        }
    }

    /// The state for a person: what is, why, and what to do next.
    pub fn sentence(&self) -> String {
        match self {
            Self::Disabled => "It is switched off.".to_owned(),
            Self::NeedsSetup { variables } => {
                let (names, verb) =
                    (variables.join(", "), if variables.len() == 1 { "is" } else { "are" });
                format!("{names} {verb} not set; set the environment and reconnect.")
            }
            Self::NeedsApproval => {
                "An administrator has to approve its command line before it is started.".to_owned()
            }
            Self::NeedsAuth { url: Some(url), .. } => {
                format!("It wants you to sign in: open {url}")
            }
            Self::NeedsAuth { url: None, detail } => {
                format!("It wants a credential: {detail}. Check its token, or sign in.")
            }
            Self::Connecting { pace: Pace::InTime, .. } => "It is starting.".to_owned(),
            Self::Connecting { pace: Pace::Slow, .. } => {
                "It is still starting; a first start may have to download it.".to_owned()
            }
            Self::Connected { revision, .. } => format!("It is connected and speaks {revision}."),
            Self::Failed { error, attempt, .. } => {
                let tries = if *attempt == 1 { "try" } else { "tries" };
                let remedy = if error.remedy.is_empty() { "" } else { "; " };
                let text = format!("{}{remedy}{}", error.message, error.remedy);
                format!("{text}. {attempt} {tries} failed, the next one is set.")
            }
            Self::Disconnected { until: Until::NextCall } => {
                "It is not running; the next call starts it.".to_owned()
            }
            Self::Disconnected { until: Until::Told } => "It is not running.".to_owned(),
        }
    }

    /// Whether calls can be made now.
    pub const fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }

    /// Whether it will not become anything else by itself within moments.
    pub const fn is_settled(&self) -> bool {
        match self {
            Self::Connecting { .. } => false,
            Self::Disabled
            | Self::NeedsSetup { .. }
            | Self::NeedsApproval
            | Self::NeedsAuth { .. }
            | Self::Connected { .. }
            | Self::Failed { .. }
            | Self::Disconnected { .. } => true,
        }
    }

    /// How many tries have failed in a row.
    pub const fn failures(&self) -> u32 {
        match self {
            Self::Connecting { failures, .. } | Self::Connected { failures, .. } => *failures,
            Self::Failed { attempt, .. } => *attempt,
            Self::Disabled
            | Self::NeedsSetup { .. }
            | Self::NeedsApproval
            | Self::NeedsAuth { .. }
            | Self::Disconnected { .. } => 0,
        }
    }

    /// What follows from this state when `input` happens. What cannot happen in a state leaves it
    /// as it is.
    #[must_use]
    pub fn next(&self, input: Input) -> Self {
        match input {
            Input::Disable => Self::Disabled,
            Input::Lack { variables } => Self::NeedsSetup { variables },
            Input::AwaitApproval => Self::NeedsApproval,
            Input::Begin { now } => {
                Self::Connecting { since: now, failures: self.failures(), pace: Pace::InTime }
            }
            Input::Challenge { url, detail } => Self::NeedsAuth { url, detail },
            Input::Fail { error, next_try } => {
                Self::Failed { error, attempt: self.failures().saturating_add(1), next_try }
            }
            Input::Rest { until } => Self::Disconnected { until },
            Input::RunLate => self.late(),
            Input::Establish { now, revision } => self.established(now, revision),
            Input::Prove => self.without_failures(Keep::OnlyConnected),
            Input::Renew => self.without_failures(Keep::All),
        }
    }

    fn late(&self) -> Self {
        match self {
            Self::Connecting { since, failures, .. } => {
                Self::Connecting { since: *since, failures: *failures, pace: Pace::Slow }
            }
            Self::Disabled
            | Self::NeedsSetup { .. }
            | Self::NeedsApproval
            | Self::NeedsAuth { .. }
            | Self::Connected { .. }
            | Self::Failed { .. }
            | Self::Disconnected { .. } => self.clone(),
        }
    }

    fn established(&self, now: SystemTime, revision: String) -> Self {
        match self {
            Self::Connecting { failures, .. } => {
                Self::Connected { since: now, failures: *failures, revision }
            }
            Self::Disabled
            | Self::NeedsSetup { .. }
            | Self::NeedsApproval
            | Self::NeedsAuth { .. }
            | Self::Connected { .. }
            | Self::Failed { .. }
            | Self::Disconnected { .. } => self.clone(),
        }
    }

    fn without_failures(&self, keep: Keep) -> Self {
        match (self.clone(), keep) {
            (Self::Connected { since, revision, .. }, _) => {
                Self::Connected { since, failures: 0, revision }
            }
            (Self::Connecting { since, pace, .. }, Keep::All) => {
                Self::Connecting { since, failures: 0, pace }
            }
            (Self::Failed { .. }, Keep::All) => Self::START,
            (
                other @ (Self::Disabled
                | Self::NeedsSetup { .. }
                | Self::NeedsApproval
                | Self::NeedsAuth { .. }
                | Self::Connecting { .. }
                | Self::Failed { .. }
                | Self::Disconnected { .. }),
                _,
            ) => other,
        }
    }
}

/// Whose failures are forgotten.
#[derive(Clone, Copy)]
enum Keep {
    OnlyConnected,
    All,
}
