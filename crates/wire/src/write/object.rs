//! Writing an object member by member. Never reorders, never checks for repeated keys.

use crate::id::push_number;
use crate::json::{Json, JsonBuf, push_string};

/// An object being written.
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

/// An object of its own: `object(|o| o.text("name", "x"))`.
pub fn object(write: impl FnOnce(&mut Object<'_>)) -> JsonBuf {
    let mut out = Vec::with_capacity(128);
    let mut object = Object::begin(&mut out);
    write(&mut object);
    object.end();
    JsonBuf::trusted(out)
}

impl<'o> Object<'o> {
    /// Appends `{`; call [`Object::end`] when all members are there.
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Appends `}`.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// A member whose value is copied.
    pub fn raw(&mut self, key: &str, value: Json<'_>) {
        self.key(key);
        self.out.extend_from_slice(value.as_bytes());
    }

    /// A member that is a string.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(self.out, value);
    }

    /// A member that is an integer.
    pub fn integer(&mut self, key: &str, value: i64) {
        self.key(key);
        if value < 0 {
            self.out.push(b'-');
        }
        push_number(self.out, value.unsigned_abs());
    }

    /// A member that is `true` or `false`.
    pub fn boolean(&mut self, key: &str, value: bool) {
        self.raw(key, Json::trusted(if value { b"true" } else { b"false" }));
    }

    /// A member that is an object itself.
    pub fn object(&mut self, key: &str, write: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        let mut inner = Object::begin(self.out);
        write(&mut inner);
        inner.end();
    }

    /// A member that is an array of strings.
    pub fn texts<'t>(&mut self, key: &str, values: impl IntoIterator<Item = &'t str>) {
        self.key(key);
        array(self.out, values, push_string);
    }

    /// A member that is an array of values that are copied.
    pub fn raws<'t>(&mut self, key: &str, values: impl IntoIterator<Item = Json<'t>>) {
        self.key(key);
        array(self.out, values, |out, value| out.extend_from_slice(value.as_bytes()));
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        push_string(self.out, key);
        self.out.push(b':');
    }
}

fn array<T>(
    out: &mut Vec<u8>,
    values: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (nth, value) in values.into_iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        push(out, value);
    }
    out.push(b']');
}
