//! Whether a call may run. Only the port; rules, pins and approvals stand behind it.

use std::borrow::Cow;

use switchboard_model::Decision;

use super::call::Call;
use super::caller::{BoxFuture, Caller};

/// What was decided, and why in a sentence for people and models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What becomes of the call.
    pub decision: Decision,
    /// Why.
    pub reason: Cow<'static, str>,
}

impl Verdict {
    /// It runs.
    pub const fn allow(reason: &'static str) -> Self {
        Self { decision: Decision::Allow, reason: Cow::Borrowed(reason) }
    }

    /// A person is asked.
    pub fn ask(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { decision: Decision::Ask, reason: reason.into() }
    }

    /// It is refused.
    pub fn deny(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { decision: Decision::Deny, reason: reason.into() }
    }
}

/// No decision could be made, which refuses the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no decision could be made: {0}")]
pub struct Undecided(pub String);

/// A person's answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call runs.
    Approved,
    /// It does not, and why.
    Refused(Cow<'static, str>),
}

/// Turns a call into allow, ask or deny.
pub trait Decide: Send + Sync {
    /// Decides at once: never waits, for a call must not wait for a database.
    fn decide(&self, call: &Call<'_>) -> Result<Verdict, Undecided>;

    /// Brings a person's answer to an ask; the call is held meanwhile. With nobody to ask, it is
    /// refused.
    fn approve<'a>(
        &'a self,
        call: &'a Call<'a>,
        verdict: &'a Verdict,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Answer, Undecided>> {
        let _ = (call, verdict, caller);
        let nobody = "it needs a person's approval, and there is nobody to ask";
        Box::pin(std::future::ready(Ok(Answer::Refused(nobody.into()))))
    }
}

/// Lets every call run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Decide for AllowAll {
    fn decide(&self, _: &Call<'_>) -> Result<Verdict, Undecided> {
        Ok(Verdict::allow("no rules"))
    }
}
