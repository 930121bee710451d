//! Calling a server: what `upstream` does for real servers, and the hub for its own.

use switchboard_model::ServerKey;
use switchboard_wire::{Json, JsonBuf};

use super::caller::{BoxFuture, Caller};
use super::error::CallError;

/// Servers that can be called.
pub trait Servers: Send + Sync {
    /// Makes a request to a server; the result as it came. Dropping the future cancels it.
    fn call<'a>(
        &'a self,
        server: &'a ServerKey,
        method: &'a str,
        params: Option<Json<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>>;
}
