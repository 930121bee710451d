//! What a server says by ending a subscription before it acknowledges anything. Never decides what follows.

use switchboard_core::port::CallError;
use switchboard_wire::code;

use super::streams::Ended;
use crate::transport::http;

/// How much of a no it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// None: it does not answer at all, or only wants to know who asks.
    Away,
    /// It may agree a moment later.
    Now,
    /// It refuses what it was asked for, whatever else is open.
    Request,
    /// It has no such thing.
    Never,
}

impl Refusal {
    /// What the end says. Anything from 500 on is no final answer, nor is that it has no time now.
    pub(super) fn of(ended: &Ended) -> Self {
        match ended {
            Err(CallError::Lost { .. } | CallError::Unauthorized { .. }) => Self::Away,
            Err(CallError::Rpc(error)) => match error.code {
                code::METHOD_NOT_FOUND => Self::Never,
                code::INVALID_PARAMS | code::RESOURCE_NOT_FOUND => Self::Request,
                _ => Self::Now,
            },
            Err(CallError::Malformed(_) | CallError::Http { status: ..400, .. }) => Self::Never,
            Err(error) if http::is_final(error) => Self::Never,
            Err(_) | Ok(_) => Self::Now,
        }
    }
}
