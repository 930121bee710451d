//! Lists as a hub gives them out: entries under other names. Never judges an entry.

use crate::json::{Json, JsonBuf};
use crate::rewrite::{Edit, edited};
use crate::types::Entry;

use super::visit::{Hit, Place, rewritten};

/// An entry under another name, and with other URIs of what it refers to; `None` if nothing of it
/// changes.
pub fn listed<E: Entry>(
    raw: Json<'_>,
    name: Option<&str>,
    uri: &dyn Fn(&str) -> Option<String>,
) -> Option<JsonBuf> {
    let app = rewritten(raw, Place::Entry, &|hit| match hit {
        Hit::Uri(own) => uri(own),
        Hit::Task(_) => None,
    });
    let Some(name) = name else { return app };
    let entry = app.as_ref().map_or(raw, JsonBuf::as_json);
    // An entry whose key is there twice was refused when it was read.
    edited(entry, &[Edit::text(E::KEY, name)]).ok()
}

/// An array that is being written.
#[derive(Default)]
pub struct List(Vec<u8>);

impl List {
    /// Appends a value.
    pub fn push(&mut self, value: Json<'_>) {
        self.0.push(if self.0.is_empty() { b'[' } else { b',' });
        self.0.extend_from_slice(value.as_bytes());
    }

    /// The array.
    pub fn end(mut self) -> JsonBuf {
        if self.0.is_empty() {
            self.0.push(b'[');
        }
        self.0.push(b']');
        JsonBuf::trusted(self.0)
    }
}
