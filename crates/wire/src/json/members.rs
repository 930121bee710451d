//! Walking over the members of an object and the elements of an array that are known to be valid.
//! Never goes below the first level.

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Json, skip, text};

/// The key of a member as it stands in the bytes, escapes and all.
#[derive(Clone, Copy)]
pub struct Key<'a>(&'a [u8]);

impl<'a> Key<'a> {
    pub(super) const fn trusted(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// What is between the quotes.
    pub const fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Whether it means `name`, however it is written: `"na\u006de"` is `name`.
    #[inline]
    pub fn is(self, name: &str) -> bool {
        // An escape is longer than what it stands for.
        let escaped = self.0.len() > name.len() && self.is_escaped();
        self.0 == name.as_bytes() || (escaped && self.text().as_deref() == Some(name))
    }

    /// Its text; `None` if it has a lone surrogate.
    pub fn text(self) -> Option<Cow<'a, str>> {
        text::decode(self.0, text::LoneSurrogate::Refuse)
    }

    /// Which of `names` it means.
    #[inline]
    pub(crate) fn position<'n>(
        self,
        names: impl IntoIterator<Item = &'n str, IntoIter: Clone>,
    ) -> Option<usize> {
        let mut names = names.into_iter();
        let plain = names.clone().position(|name| self.0 == name.as_bytes());
        if plain.is_some() || !self.is_escaped() {
            return plain;
        }
        let text = self.text()?;
        names.position(|name| text == name)
    }

    /// Keys are too short for anything cleverer.
    #[inline]
    fn is_escaped(self) -> bool {
        self.0.contains(&b'\\')
    }
}

/// One member of an object.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// Its key.
    pub key: Key<'a>,
    /// Its value.
    pub value: Json<'a>,
    start: usize,
    value_at: usize,
}

impl Member<'_> {
    /// Where in the object's bytes the member is, from the quote of its key to the end of its value.
    pub fn range(&self) -> Range<usize> {
        self.start..self.value_range().end
    }

    /// Where in the object's bytes its value is.
    pub fn value_range(&self) -> Range<usize> {
        self.value_at..self.value_at + self.value.as_bytes().len()
    }
}

/// The members of an object, in their order.
#[derive(Clone)]
pub struct Members<'a> {
    object: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    pub(super) fn of(json: &'a [u8]) -> Self {
        let at = if json.first() == Some(&b'{') { 1 } else { json.len() };
        Self { object: json, at }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    #[inline]
    fn next(&mut self) -> Option<Member<'a>> {
        let bytes = self.object;
        let start = next_item(bytes, self.at)?;
        let key_end = skip::string(bytes, start + 1);
        let key = Key(bytes.get(start + 1..key_end.checked_sub(1)?)?);
        let colon = skip::space(bytes, key_end);
        let value_at = skip::space(bytes, colon + 1);
        self.at = skip::value(bytes, value_at.min(bytes.len()));
        let value = Json::trusted(bytes.get(value_at..self.at)?);
        Some(Member { key, value, start, value_at })
    }
}

/// The elements of an array, in their order.
#[derive(Clone)]
pub struct Elements<'a> {
    array: &'a [u8],
    at: usize,
}

impl<'a> Elements<'a> {
    pub(super) fn of(json: &'a [u8]) -> Self {
        let at = if json.first() == Some(&b'[') { 1 } else { json.len() };
        Self { array: json, at }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    #[inline]
    fn next(&mut self) -> Option<Json<'a>> {
        let start = next_item(self.array, self.at)?;
        self.at = skip::value(self.array, start);
        self.array.get(start..self.at).map(Json::trusted)
    }
}

/// Where the next member or element starts, if there is one.
#[inline]
fn next_item(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = skip::space(bytes, at);
    if bytes.get(at) == Some(&b',') {
        at = skip::space(bytes, at + 1);
    }
    match bytes.get(at) {
        None | Some(b'}' | b']') => None,
        Some(_) => Some(at),
    }
}
