//! Composing messages around payloads that are copied, not serialised. Never ends a line or an
//! event: that is framing.

mod object;
#[cfg(test)]
mod tests;

pub use object::{Object, object};

use crate::id::Id;
use crate::json::{Json, push_string};

/// Appends a request.
pub fn request(out: &mut Vec<u8>, id: Id<'_>, method: &str, params: Option<Json<'_>>) {
    out.reserve(64 + method.len() + params.map_or(0, |params| params.as_bytes().len()));
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
    out.push(b',');
    method_and_params(out, method, params);
}

/// Appends a request whose params `write` appends; if it fails, nothing is left behind.
pub fn request_with<E>(
    out: &mut Vec<u8>,
    id: Id<'_>,
    method: &str,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
    out.extend_from_slice(b",\"method\":");
    push_string(out, method);
    out.extend_from_slice(b",\"params\":");
    close_or_undo(out, start, write)
}

/// Appends a notification.
pub fn notification(out: &mut Vec<u8>, method: &str, params: Option<Json<'_>>) {
    out.reserve(64 + method.len() + params.map_or(0, |params| params.as_bytes().len()));
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    method_and_params(out, method, params);
}

/// Appends a notification whose params `write` appends; if it fails, nothing is left behind.
pub fn notification_with<E>(
    out: &mut Vec<u8>,
    method: &str,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    push_string(out, method);
    out.extend_from_slice(b",\"params\":");
    close_or_undo(out, start, write)
}

/// Appends the good answer to a request.
pub fn result(out: &mut Vec<u8>, id: Id<'_>, result: Json<'_>) {
    out.reserve(64 + result.as_bytes().len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result.as_bytes());
    out.push(b'}');
}

/// Appends a good answer whose result `write` appends; if it fails, nothing is left behind.
pub fn result_with<E>(
    out: &mut Vec<u8>,
    id: Id<'_>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
    out.extend_from_slice(b",\"result\":");
    close_or_undo(out, start, write)
}

/// Appends the bad answer to a request. MCP leaves the id out where none could be read.
pub fn error(
    out: &mut Vec<u8>,
    id: Option<Id<'_>>,
    code: i64,
    message: &str,
    data: Option<Json<'_>>,
) {
    error_head(out, id);
    let mut error = Object::begin(out);
    error.integer("code", code);
    error.text("message", message);
    if let Some(data) = data {
        error.raw("data", data);
    }
    error.end();
    out.push(b'}');
}

/// Appends a bad answer that passes on an `error` object as it came.
pub fn error_raw(out: &mut Vec<u8>, id: Option<Id<'_>>, error: Json<'_>) {
    error_head(out, id);
    out.extend_from_slice(error.as_bytes());
    out.push(b'}');
}

/// Appends `text` as a JSON string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    push_string(out, text);
}

fn error_head(out: &mut Vec<u8>, id: Option<Id<'_>>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = id {
        out.extend_from_slice(b"\"id\":");
        id.write(out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"error\":");
}

fn method_and_params(out: &mut Vec<u8>, method: &str, params: Option<Json<'_>>) {
    out.extend_from_slice(b"\"method\":");
    push_string(out, method);
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        out.extend_from_slice(params.as_bytes());
    }
    out.push(b'}');
}

fn close_or_undo<E>(
    out: &mut Vec<u8>,
    start: usize,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let written = write(out);
    match written {
        Ok(()) => out.push(b'}'),
        Err(_) => out.truncate(start),
    }
    written
}
