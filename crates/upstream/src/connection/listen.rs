//! A stream of changes that somebody else than the hub listens to: `subscriptions/listen` of the
//! stateless era, open until its caller lets go of it. Never reads what comes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard_core::port::{CallError, Caller, RpcError};
use switchboard_wire::{Era, Json, JsonBuf, Params, code, method};

use super::{Connection, compose};
use crate::channel::{Outgoing, Waiting};
use crate::pulse::Patience;

/// For ever.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 3600);

impl Connection {
    /// Listens until the server or the caller ends it. What comes goes to the caller's port. It
    /// takes no call's turn, and a server that somebody listens to is not idle.
    pub(crate) async fn listen(
        &self,
        params: Option<Json<'_>>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        if self.peer.era() == Era::Session {
            return Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found").into());
        }
        let _heard = Heard::by(&self.heard);
        let wanted = compose::Wanted {
            peer: &self.peer,
            capabilities: caller.port.as_deref().map_or(Json::EMPTY, |port| port.capabilities()),
            progress: false,
        };
        let params = Params::from(params.unwrap_or(Json::EMPTY));
        let headers = self.headers(method::LISTEN, Some(&params));
        let waiting = Waiting { listener: caller.port.clone(), ..Waiting::default() };
        let params = |out: &mut Vec<u8>, id| wanted.write(out, &params, id);
        let patience = Patience::of(ENDLESS);
        let outgoing = Outgoing { method: method::LISTEN, params, headers, patience, waiting };
        self.channel.request(outgoing).await
    }
}

/// One who listens.
struct Heard<'c>(&'c AtomicU32);

impl<'c> Heard<'c> {
    fn by(count: &'c AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Heard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
