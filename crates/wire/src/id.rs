//! The id of a request: echoed byte for byte, compared by meaning. Never makes ids up.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::json::{Json, JsonBuf, Kind};

/// Ids are kept in tables for as long as a call runs, so a sender cannot choose their size.
const LONGEST: usize = 1024;

/// An id as it came, or a number of our own.
#[derive(Clone, Copy, PartialEq)]
pub struct Id<'a>(Repr<'a>);

#[derive(Clone, Copy, PartialEq)]
enum Repr<'a> {
    Ours(u64),
    Theirs(Json<'a>),
}

impl<'a> Id<'a> {
    /// Takes a string or a number; MCP forbids `null`, and nothing else can be an id.
    pub fn parse(json: Json<'a>) -> Option<Self> {
        let fits = json.as_bytes().len() <= LONGEST;
        let kind = matches!(json.kind(), Kind::String | Kind::Number);
        (fits && kind).then_some(Self(Repr::Theirs(json)))
    }

    /// The value of an integral id, without any allocation: how a client finds its own calls.
    pub fn number(self) -> Option<i64> {
        match self.0 {
            Repr::Ours(number) => i64::try_from(number).ok(),
            Repr::Theirs(json) => json.integer(),
        }
    }

    /// What it is compared by.
    pub fn key(self) -> IdKey {
        if let Some(number) = self.number() {
            return IdKey::Number(number);
        }
        match self.0 {
            Repr::Ours(number) => IdKey::Other(number.to_string().into()),
            Repr::Theirs(json) => match json.string() {
                Some(text) => IdKey::Text(text.into()),
                None => IdKey::Other(json.as_str().into()),
            },
        }
    }

    /// A copy to keep.
    pub fn to_buf(self) -> IdBuf {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        IdBuf(JsonBuf::trusted(bytes))
    }

    /// Appends it as it came.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self.0 {
            Repr::Ours(number) => push_number(out, number),
            Repr::Theirs(json) => out.extend_from_slice(json.as_bytes()),
        }
    }
}

impl From<u64> for Id<'_> {
    fn from(number: u64) -> Self {
        Self(Repr::Ours(number))
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Ours(number) => number.fmt(f),
            Repr::Theirs(json) => f.write_str(json.as_str()),
        }
    }
}

/// An id that outlives the message it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct IdBuf(JsonBuf);

impl IdBuf {
    /// The id.
    pub fn as_id(&self) -> Id<'_> {
        Id(Repr::Theirs(self.0.as_json()))
    }

    /// The id as a value, to be put into a payload (`requestId`, the subscription's id).
    pub fn as_json(&self) -> Json<'_> {
        self.0.as_json()
    }
}

/// What an id means: `1`, `1.0` and `1e0` are the same, `"1"` is another, and so is `"a"` however
/// it is escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKey {
    /// An integer.
    Number(i64),
    /// A string.
    Text(Box<str>),
    /// A number that is no integer of 64 bits, or a string that is no text: by its bytes.
    Other(Box<str>),
}

/// Appends a number in decimal.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
