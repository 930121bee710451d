//! Replacing some values inside of a value. Every other byte stays.

use crate::json::{Json, JsonBuf, push_string};

/// Values of one JSON text that become others.
pub(super) struct Splice<'a> {
    whole: Json<'a>,
    out: Vec<u8>,
    /// Bytes up to here are in `out`.
    done: usize,
}

impl<'a> Splice<'a> {
    pub(super) fn of(whole: Json<'a>) -> Self {
        Self { whole, out: Vec::new(), done: 0 }
    }

    /// `part`, a value inside the whole and behind all that were replaced before, becomes a string.
    pub(super) fn text(&mut self, part: Json<'a>, text: &str) {
        if self.skip_to(part) {
            push_string(&mut self.out, text);
        }
    }

    /// The same, with the bytes of a string that is known to be valid.
    pub(super) fn raw(&mut self, part: Json<'a>, bytes: &[&[u8]]) {
        if self.skip_to(part) {
            bytes.iter().for_each(|bytes| self.out.extend_from_slice(bytes));
        }
    }

    /// The whole with its replacements; `None` if there were none.
    pub(super) fn end(mut self) -> Option<JsonBuf> {
        if self.done == 0 {
            return None;
        }
        self.out.extend_from_slice(&self.whole.as_bytes()[self.done..]);
        Some(JsonBuf::trusted(self.out))
    }

    fn skip_to(&mut self, part: Json<'a>) -> bool {
        let whole = self.whole.as_bytes();
        let start = (part.as_bytes().as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
        let end = start.wrapping_add(part.as_bytes().len());
        let Some(between) = whole.get(self.done..start).filter(|_| end <= whole.len()) else {
            return false;
        };
        if self.out.is_empty() {
            self.out.reserve(whole.len() + 64);
        }
        self.out.extend_from_slice(between);
        self.done = end;
        true
    }
}
