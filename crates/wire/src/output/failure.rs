//! What an error says of the resource it is about. Never judges it.

use std::borrow::Cow;

use crate::code;
use crate::json::{Json, JsonBuf};
use crate::rewrite::{Edit, edited};
use crate::write::object;

/// The resource that an error is about (`data.uri`), if it names one.
pub fn failed_uri(error: Json<'_>) -> Option<Cow<'_, str>> {
    error.get("data")?.get("uri")?.string()
}

/// The same error about a resource of another name. `None` if that cannot be said without doubt.
pub fn failed_at(error: Json<'_>, uri: &str) -> Option<JsonBuf> {
    edited(error, &[Edit::inside("data", &[Edit::text("uri", uri)])]).ok()
}

/// The same error with the code that only a missing resource has.
pub fn not_found(error: Json<'_>) -> Option<JsonBuf> {
    let own = object(|own| own.integer("code", code::RESOURCE_NOT_FOUND));
    let code = own.as_json().get("code")?;
    edited(error, &[Edit::set("code", code)]).ok()
}
