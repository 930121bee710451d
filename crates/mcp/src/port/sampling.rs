//! What a request for sampling needs of the client besides `sampling` itself. Looks only at members.

#[cfg(test)]
mod tests;

use switchboard_wire::types::Capabilities;
use switchboard_wire::{Edit, Json, JsonBuf, Revision, rewrite};

/// The capability within `sampling` without which a client must not be asked. Tools came with a
/// capability of their own; a client that does not know it would leave them out without a word.
pub(super) fn needs(params: Option<&JsonBuf>) -> Option<&'static str> {
    let params = params?.as_json();
    let has = |key: &str| params.get(key).is_some_and(|value| !value.is_null());
    (has("tools") || has("toolChoice")).then_some("tools")
}

/// The request as this client may be asked it. To include context could be asked of every client
/// before 2025-11-25, and has needed a capability since. Any client may do without, so that what it
/// did not declare is left out: many servers ask for it by habit.
pub(super) fn fitting(
    params: Option<JsonBuf>,
    abilities: Option<&Capabilities>,
    revision: Revision,
) -> Option<JsonBuf> {
    let params = params?;
    let context = params.as_json().get("includeContext").and_then(Json::string);
    let declared = abilities.is_some_and(|abilities| abilities.has(&["sampling", "context"]));
    if context.is_none_or(|context| context == "none")
        || declared
        || revision < Revision::V2025_11_25
    {
        return Some(params);
    }
    Some(rewrite::edited(params.as_json(), &[Edit::remove("includeContext")]).unwrap_or(params))
}
