//! JSON that was checked once and is never checked again. Never builds a tree of values.

mod check;
mod members;
mod skip;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::fault::Fault;
use crate::limits::Limits;

pub(crate) use check::{Checker, Pass, Step};
pub use members::{Elements, Key, Member, Members};
pub(crate) use text::push_string;

/// One valid JSON value, byte for byte as it came, without white space around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Json<'a>(&'a [u8]);

/// What a [`Json`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// Any number.
    Number,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
}

impl<'a> Json<'a> {
    /// `{}`
    pub const EMPTY: Json<'static> = Json(b"{}");
    /// `null`
    pub const NULL: Json<'static> = Json(b"null");

    /// Checks the bytes: size, UTF-8, grammar, depth; white space around the value is dropped.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, Fault> {
        let mut checker = Checker::new(bytes, limits)?;
        let value = checker.value()?;
        checker.end()?;
        Ok(value)
    }

    /// Bytes of which a check, or the code that wrote them, has made sure.
    pub(crate) const fn trusted(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The bytes as text.
    pub fn as_str(self) -> &'a str {
        std::str::from_utf8(self.0).unwrap_or_default()
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The members of an object in their order; none of anything else.
    pub fn members(self) -> Members<'a> {
        Members::of(self.0)
    }

    /// The elements of an array in their order; none of anything else.
    pub fn elements(self) -> Elements<'a> {
        Elements::of(self.0)
    }

    /// The member called `key`; the last one if there are several, as most parsers have it.
    /// Where the answer guards something, take [`Json::pick`], which refuses repetition.
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        self.members().filter(|member| member.key.is(key)).last().map(|member| member.value)
    }

    /// The first member called `key`, without a look at what comes behind it. Only where it is known, or
    /// found out elsewhere before anything happens, that there is no second one.
    pub fn first(self, key: &str) -> Option<Json<'a>> {
        self.members().find(|member| member.key.is(key)).map(|member| member.value)
    }

    /// The members called `keys`, in one pass; an error if one of them is there twice.
    pub fn pick<const N: usize>(
        self,
        keys: [&'static str; N],
    ) -> Result<[Option<Json<'a>>; N], crate::Repeated> {
        let mut found = [None; N];
        for member in self.members() {
            let Some(at) = member.key.position(keys) else { continue };
            if found[at].replace(member.value).is_some() {
                return Err(crate::Repeated(keys[at]));
            }
        }
        Ok(found)
    }

    /// The text of a string; `None` for anything else and for a string with a lone surrogate,
    /// which is no text.
    pub fn string(self) -> Option<Cow<'a, str>> {
        text::decode(self.inner()?, text::LoneSurrogate::Refuse)
    }

    /// Whether it is this text, written without an escape. Where not, it may still mean the same: see [`Json::string`].
    pub fn is_plainly(self, text: &str) -> bool {
        self.inner() == Some(text.as_bytes()) && !text.contains('\\')
    }

    /// The text of a string, lone surrogates replaced, for showing; `None` for anything else.
    pub fn string_lossy(self) -> Option<Cow<'a, str>> {
        text::decode(self.inner()?, text::LoneSurrogate::Replace)
    }

    /// The beginning of a string's text, as far as `limit` bytes of how it is written go, and how many
    /// bytes are left: for showing, without decoding all of a long one. `None` for anything else.
    pub fn string_start(self, limit: usize) -> Option<(Cow<'a, str>, usize)> {
        let inner = self.inner()?;
        let end = text::whole_up_to(inner, limit);
        let start = text::decode(inner.get(..end)?, text::LoneSurrogate::Replace)?;
        Some((start, inner.len() - end))
    }

    /// `true` or `false`; `None` for anything else.
    pub fn boolean(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The value of a number, as near as a double comes; `None` for anything else.
    pub fn number(self) -> Option<f64> {
        if self.kind() == Kind::Number { self.as_str().parse().ok() } else { None }
    }

    /// The value of a number without a fraction (`7`, `7.0`, `7e0`) that 64 bits hold exactly.
    pub fn integer(self) -> Option<i64> {
        /// 2^53: up to here a double is exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if self.kind() != Kind::Number {
            return None;
        }
        if let Ok(exact) = self.as_str().parse() {
            return Some(exact);
        }
        let near = self.number()?;
        #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is in range")]
        (near.fract() == 0.0 && near.abs() < EXACT).then_some(near as i64)
    }

    /// What is between the quotes of a string.
    fn inner(self) -> Option<&'a [u8]> {
        match self.0 {
            [b'"', inner @ .., b'"'] => Some(inner),
            _ => None,
        }
    }
}

impl fmt::Debug for Json<'_> {
    /// Only what it is and how long: payloads do not belong in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({:?}, {} bytes)", self.kind(), self.0.len())
    }
}

/// A [`Json`] that owns its bytes, or shares them with the message it came in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonBuf(Bytes);

impl JsonBuf {
    /// Checks and keeps the bytes.
    pub fn parse(bytes: Bytes, limits: &Limits) -> Result<Self, Fault> {
        let json = Json::parse(&bytes, limits)?;
        Ok(Self::within(&bytes, json))
    }

    /// `json`, which is a part of `bytes`, sharing them; copied if it is no part of them.
    pub fn within(bytes: &Bytes, json: Json<'_>) -> Self {
        let start = (json.0.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        match start.checked_add(json.0.len()) {
            Some(end) if end <= bytes.len() => Self(bytes.slice(start..end)),
            _ => Self(Bytes::copy_from_slice(json.0)),
        }
    }

    /// `part`, which is a part of this, sharing its bytes.
    pub fn part(&self, part: Json<'_>) -> Self {
        Self::within(&self.0, part)
    }

    /// The value.
    pub fn as_json(&self) -> Json<'_> {
        Json(&self.0)
    }

    /// The bytes, shared.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// Bytes that our own writer made.
    pub(crate) fn trusted(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<Json<'_>> for JsonBuf {
    fn from(json: Json<'_>) -> Self {
        match json.0 {
            // What is said most often takes no memory.
            b"{}" => Self(Bytes::from_static(b"{}")),
            other => Self(Bytes::copy_from_slice(other)),
        }
    }
}

impl fmt::Debug for JsonBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_json().fmt(f)
    }
}
