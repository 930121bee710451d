//! A request as part of a trace. Never begins one.

use crate::json::{Json, JsonBuf};
use crate::meta;
use crate::rewrite::{Edit, edited};

/// The params of a request whose work lies below the span that `parent` names.
pub fn below(params: Json<'_>, parent: &str) -> Option<JsonBuf> {
    edited(params, &[Edit::inside(meta::META, &[Edit::text(meta::TRACEPARENT, parent)])]).ok()
}
