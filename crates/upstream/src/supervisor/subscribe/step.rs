//! What happens to a subscription, and what is to be done about it. Only words.

use switchboard_wire::types::Filter;

use crate::supervisor::refusal::Refusal;

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// Something else is wanted.
    Wanted,
    /// It is time, as `Machine::due` said.
    Time,
    /// What was asked for is acknowledged, but for these resources.
    Acknowledged { untold: Vec<String> },
    /// It was, and has ended, both in one piece.
    Passed { untold: Vec<String> },
    /// It has ended instead, and the one before what stands may be heard still.
    Refused { refusal: Refusal, leaving: bool },
    /// What stood has ended.
    Fell,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It is asked for this, on a stream in place of what was asked for.
    Open(Filter),
    /// What was asked for is asked for no more.
    Drop,
    /// What was asked for stands from now on.
    Promote,
    /// What stands is closed.
    Close,
    /// What stood before that is heard no longer.
    Dismiss,
    /// What stands is the answer to whoever wants just this.
    Confirm(Filter),
    /// The refusal is the answer to what was asked for, and to these.
    Refuse(Vec<String>),
    /// It does not tell of this one, though it was asked.
    Remark(String),
    /// It does not tell of this one any more.
    Lose(String),
    /// This one may have changed while nobody heard of it.
    Look(String),
    /// So may its lists.
    Read,
    /// Which lists are heard may be another matter now.
    Reckon,
    /// It cannot be listened to.
    End,
}
