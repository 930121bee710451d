//! What the headers of a request say that steers the endpoint, found in one pass over them. Judges nothing.

use axum::http::HeaderMap;
use switchboard_wire::header::Mirror;
use switchboard_wire::{header, meta};

/// A header as it came: its name in any case, and its value.
pub type Field<'h> = (&'h str, &'h [u8]);

/// All headers of a request.
#[derive(Clone, Copy)]
pub(crate) enum Headers<'h> {
    /// As an HTTP library keeps them.
    Map(&'h HeaderMap),
    /// As they came.
    Fields(&'h [Field<'h>]),
}

impl<'h> Headers<'h> {
    /// The values of a header, which is rarely asked for.
    pub(crate) fn of(self, name: &str) -> Vec<&'h [u8]> {
        match self {
            Self::Map(map) => map.get_all(name).iter().map(|value| value.as_bytes()).collect(),
            Self::Fields(fields) => {
                let is_meant = |field: &&Field<'_>| field.0.eq_ignore_ascii_case(name);
                fields.iter().filter(is_meant).map(|(_, value)| *value).collect()
            }
        }
    }
}

/// What the headers of a request say.
#[derive(Clone, Copy)]
pub(crate) struct Head<'h> {
    pub(crate) all: Headers<'h>,
    /// Bytes of all of them.
    pub(crate) size: usize,
    pub(crate) host: Once<'h>,
    pub(crate) origin: Once<'h>,
    pub(crate) authorization: Once<'h>,
    pub(crate) content_type: Once<'h>,
    pub(crate) accept: Once<'h>,
    pub(crate) version: Once<'h>,
    pub(crate) session: Once<'h>,
    pub(crate) method: Once<'h>,
    pub(crate) name: Once<'h>,
    pub(crate) trace: Once<'h>,
}

/// A header that should be there once. Two of one kind are as good as none: nobody can tell which one counts.
#[derive(Clone, Copy)]
pub(crate) enum Once<'h> {
    Absent,
    Is(&'h [u8]),
    Several,
}

impl<'h> Once<'h> {
    /// Its text, if it is there once and is text.
    pub(crate) fn text(self) -> Option<&'h str> {
        self.bytes().and_then(text)
    }

    /// What it says, if it is there once.
    fn bytes(self) -> Option<&'h [u8]> {
        match self {
            Self::Is(value) => Some(value),
            Self::Absent | Self::Several => None,
        }
    }

    /// Whether it is there at all.
    pub(crate) fn is_there(self) -> bool {
        !matches!(self, Self::Absent)
    }
}

/// A value as text, if it is nothing but visible letters, blanks and tabs.
pub(crate) fn text(value: &[u8]) -> Option<&str> {
    // What reads a head lets no control character through but the tab; so much for the others.
    std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
}

/// The longest name of those that are looked for.
const LONGEST: usize = header::PROTOCOL_VERSION.len();
const VERSION: &[u8] = header::PROTOCOL_VERSION.as_bytes();
const SESSION: &[u8] = header::SESSION_ID.as_bytes();
const METHOD: &[u8] = header::METHOD.as_bytes();
const NAME: &[u8] = header::NAME.as_bytes();
const TRACE: &[u8] = meta::TRACEPARENT.as_bytes();

impl<'h> Head<'h> {
    pub(crate) fn of(headers: Headers<'h>) -> Self {
        let none = Once::Absent;
        let mut head = Self {
            all: headers,
            size: 0,
            host: none,
            origin: none,
            authorization: none,
            content_type: none,
            accept: none,
            version: none,
            session: none,
            method: none,
            name: none,
            trace: none,
        };
        match headers {
            Headers::Map(map) => {
                map.iter().for_each(|(name, value)| head.take(name.as_str(), value.as_bytes()));
            }
            Headers::Fields(fields) => {
                fields.iter().for_each(|(name, value)| head.take(name, value));
            }
        }
        head
    }

    fn take(&mut self, name: &str, value: &'h [u8]) {
        self.size += name.len() + value.len();
        let mut room = [0; LONGEST];
        let Some(lower) = room.get_mut(..name.len()) else { return };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        let place = match &*lower {
            b"host" => &mut self.host,
            b"origin" => &mut self.origin,
            b"authorization" => &mut self.authorization,
            b"content-type" => &mut self.content_type,
            b"accept" => &mut self.accept,
            VERSION => &mut self.version,
            SESSION => &mut self.session,
            METHOD => &mut self.method,
            NAME => &mut self.name,
            TRACE => &mut self.trace,
            _ => return,
        };
        *place = match place {
            Once::Absent => Once::Is(value),
            Once::Is(_) | Once::Several => Once::Several,
        };
    }

    /// The headers that the stateless era mirrors.
    pub(crate) fn mirror(&self) -> Mirror<'h> {
        Mirror {
            version: self.version.bytes(),
            method: self.method.bytes(),
            name: self.name.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn two_of_one_kind_are_none() {
        let rows: [(&str, &[&'static str], Option<&str>, bool); 4] = [
            ("host", &[], None, false),
            ("host", &["localhost"], Some("localhost"), true),
            ("host", &["localhost", "localhost"], None, true),
            ("host", &["\u{e9}"], None, true),
        ];
        for (name, values, text, there) in rows {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(&name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            let fields: Vec<Field<'_>> = values.iter().map(|it| ("hOsT", it.as_bytes())).collect();
            for headers in [Headers::Map(&headers), Headers::Fields(&fields)] {
                let head = Head::of(headers);
                assert_eq!((head.host.text(), head.host.is_there()), (text, there), "{values:?}");
                let size: usize = values.iter().map(|value| value.len() + 4).sum();
                assert_eq!(head.size, size);
                assert_eq!(headers.of("Host").len(), values.len());
            }
        }
    }

    #[test]
    fn each_has_its_place_in_either_form() {
        let names = [
            "host",
            "origin",
            "authorization",
            "content-type",
            "accept",
            header::PROTOCOL_VERSION,
            header::SESSION_ID,
            header::METHOD,
            header::NAME,
            meta::TRACEPARENT,
        ];
        let mut map = HeaderMap::new();
        for name in names {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(name));
        }
        let upper = names.map(str::to_ascii_uppercase);
        let fields: Vec<Field<'_>> =
            upper.iter().zip(names).map(|(name, value)| (&**name, value.as_bytes())).collect();
        for headers in [Headers::Map(&map), Headers::Fields(&fields)] {
            let head = Head::of(headers);
            let found = [
                head.host,
                head.origin,
                head.authorization,
                head.content_type,
                head.accept,
                head.version,
                head.session,
                head.method,
                head.name,
                head.trace,
            ];
            assert_eq!(found.map(|once| once.text().unwrap()), names);
        }
    }

    #[test]
    fn what_is_text_is_what_the_library_takes_for_it() {
        for byte in (0..=u8::MAX).filter(|byte| HeaderValue::from_bytes(&[*byte]).is_ok()) {
            let theirs = HeaderValue::from_bytes(&[byte]).unwrap();
            assert_eq!(text(&[byte]), theirs.to_str().ok(), "{byte}");
        }
    }
}
