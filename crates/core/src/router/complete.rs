//! Completions of servers that have none: nothing to suggest, and no error. The hub says that it can complete, since
//! some of its servers can; clients that are told that there is no such method ask none of them again.

use switchboard_wire::{code, method};

use crate::port::{Call, CallError, RpcError};

/// Whether a server has nothing to suggest, which need not be asked of it.
pub(super) fn is_beyond(call: &Call<'_>) -> bool {
    call.method == method::COMPLETE && !call.offer.capabilities.has(&["completions"])
}

/// Whether a server cannot complete, whatever it said of itself.
pub(super) fn is_unknown(call: &Call<'_>, error: &CallError) -> bool {
    call.method == method::COMPLETE
        && matches!(error, CallError::Rpc(RpcError { code: code::METHOD_NOT_FOUND, .. }))
}
