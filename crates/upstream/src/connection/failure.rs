//! What an error means where that is not plain: the eras say the same thing by different codes, and
//! what is true of one round of a call is not true of the call. Never invents one.

use switchboard_core::port::{CallError, Delivery, RpcError};
use switchboard_wire::{Era, Json, Params, code, method, output};

use crate::peer::Peer;

/// The error as everybody here understands it. That a resource does not exist has a code of its own
/// in the session era; the stateless era says it with the code of wrong params, so that only one
/// which names the very resource that was asked for is surely that.
pub(super) fn told(peer: &Peer, name: &str, params: &Params<'_>, error: CallError) -> CallError {
    let CallError::Rpc(error) = error else { return error };
    let is_read = name == method::RESOURCES_READ && peer.era() == Era::Stateless;
    if !is_read || error.code != code::INVALID_PARAMS {
        return error.into();
    }
    let asked = params.subject("uri").and_then(Json::string);
    let named = output::failed_uri(error.raw.as_json());
    let not_found = match asked.is_some() && asked == named {
        true => output::not_found(error.raw.as_json()),
        false => None,
    };
    match not_found {
        Some(raw) => RpcError { code: code::RESOURCE_NOT_FOUND, raw, ..error }.into(),
        None => error.into(),
    }
}

/// The error of a call that goes on after its server asked back. That this round never reached the server
/// is no reason to begin anew: an earlier one did, and the client would be asked again.
pub(super) fn begun(error: CallError) -> CallError {
    match error {
        CallError::Lost { reason, delivery: Delivery::No } => {
            CallError::lost(reason, Delivery::Perhaps)
        }
        error => error,
    }
}

/// Whether it is an answer to `server/discover` that only a server of another era or revision gives, where
/// one of this era answered before: each of these codes was seen from servers of the session era.
pub(super) fn is_foreign(peer: &Peer, error: &RpcError) -> bool {
    peer.era() == Era::Stateless
        && matches!(
            error.code,
            code::METHOD_NOT_FOUND
                | code::INVALID_PARAMS
                | code::INVALID_REQUEST
                | code::UNSUPPORTED_VERSION
                | NO_SESSION
        )
}

/// What a server of the session era says to whoever has no session; no code of the specification's.
const NO_SESSION: i64 = -32000;
