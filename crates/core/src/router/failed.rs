//! A server's error in the caller's words. Only what names the resource changes.

use switchboard_wire::{method, output};

use super::resolve::Target;
use crate::port::{CallError, RpcError};

impl Target<'_> {
    /// The error as the caller may read it: a resource is called what the caller calls it.
    pub(super) fn failed(&self, method: &str, error: CallError) -> CallError {
        let CallError::Rpc(RpcError { code, message, raw }) = error else { return error };
        let names_it = matches!(method, method::RESOURCES_READ | method::SUBSCRIBE)
            && output::failed_uri(raw.as_json()).is_some_and(|uri| uri == self.subject);
        let renamed = names_it.then(|| output::failed_at(raw.as_json(), &self.published)).flatten();
        RpcError { code, message, raw: renamed.unwrap_or(raw) }.into()
    }
}
