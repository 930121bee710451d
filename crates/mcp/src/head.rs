//! What the headers of a request say that steers the endpoint, found in one pass over them. Judges nothing.

use axum::http::{HeaderMap, HeaderValue};
use switchboard_wire::header::Mirror;
use switchboard_wire::{header, meta};

/// What the headers of a request say.
#[derive(Clone, Copy)]
pub(crate) struct Head<'h> {
    pub(crate) all: &'h HeaderMap,
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
    Is(&'h HeaderValue),
    Several,
}

impl<'h> Once<'h> {
    /// Its text, if it is there once and is text.
    pub(crate) fn text(self) -> Option<&'h str> {
        match self {
            Self::Is(value) => value.to_str().ok(),
            Self::Absent | Self::Several => None,
        }
    }

    /// Whether it is there at all.
    pub(crate) fn is_there(self) -> bool {
        !matches!(self, Self::Absent)
    }
}

impl<'h> Head<'h> {
    pub(crate) fn of(headers: &'h HeaderMap) -> Self {
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
        for (name, value) in headers {
            let name = name.as_str();
            head.size += name.len() + value.len();
            let place = match name {
                "host" => &mut head.host,
                "origin" => &mut head.origin,
                "authorization" => &mut head.authorization,
                "content-type" => &mut head.content_type,
                "accept" => &mut head.accept,
                header::PROTOCOL_VERSION => &mut head.version,
                header::SESSION_ID => &mut head.session,
                header::METHOD => &mut head.method,
                header::NAME => &mut head.name,
                meta::TRACEPARENT => &mut head.trace,
                _ => continue,
            };
            *place = match place {
                Once::Absent => Once::Is(value),
                Once::Is(_) | Once::Several => Once::Several,
            };
        }
        head
    }

    /// The headers that the stateless era mirrors.
    pub(crate) fn mirror(&self) -> Mirror<'h> {
        Mirror { version: self.version.text(), method: self.method.text(), name: self.name.text() }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

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
            let head = Head::of(&headers);
            assert_eq!((head.host.text(), head.host.is_there()), (text, there), "{values:?}");
            let size: usize = values.iter().map(|value| value.len() + 4).sum();
            assert_eq!(head.size, size);
        }
    }
}
