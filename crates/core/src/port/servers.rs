//! Calling a server: what `upstream` does for real servers, and the hub for its own, which knows
//! who asks.

use switchboard_model::ServerKey;
use switchboard_wire::{Json, JsonBuf, Params};

use super::call::Call;
use super::caller::{BoxFuture, Caller};
use super::error::CallError;
use crate::registry::View;

/// Servers that can be called.
pub trait Servers: Send + Sync {
    /// Makes a request to a server; the result as it came. Dropping the future cancels it.
    fn call<'a>(
        &'a self,
        server: &'a ServerKey,
        method: &'a str,
        params: Option<Params<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>>;
}

/// The hub's own server. What it answers is for one reader: it may tell only of what they see.
pub trait House: Send + Sync {
    /// Answers a call, whose params the guard has seen.
    fn call<'a>(
        &'a self,
        call: &'a Call<'a>,
        view: &'a View,
        params: Json<'a>,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>>;
}
