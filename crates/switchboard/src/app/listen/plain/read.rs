//! A request as it lies in what was read. Takes only what can be read in one way: the length once, in digits, and
//! nothing that changes how a message ends or what a connection is.

use std::mem::MaybeUninit;
use std::ops::Range;

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, Uri};
use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use switchboard_wire::header;

use super::write::Closing;

/// Headers that a request may have here.
const HEADERS: usize = 32;
/// How long a request may be here, with its head.
const LONGEST: usize = 64 * 1024;
/// Names that are no one else's, and are found without asking for memory.
static KNOWN: [HeaderName; 4] = [
    HeaderName::from_static(header::SESSION_ID),
    HeaderName::from_static(header::PROTOCOL_VERSION),
    HeaderName::from_static(header::METHOD),
    HeaderName::from_static(header::NAME),
];

/// What was read so far.
#[expect(clippy::large_enum_variant, reason = "nearly all are requests, and it is looked at once")]
pub(super) enum Read {
    /// Nothing.
    Nothing,
    /// A request, which is no longer in the buffer, and whether the client wants no more after it.
    Request(Request<Full<Bytes>>, Closing),
    /// A head, whose body lacks so many bytes.
    More(usize),
    /// Something that is not for here. All of it is in the buffer.
    Odd,
}

/// Takes the next request out of the buffer.
pub(super) fn request(buffer: &mut BytesMut) -> Read {
    if buffer.is_empty() {
        return Read::Nothing;
    }
    let mut headers = [const { Header::NONE }; HEADERS];
    let Some(shape) = Shape::of(buffer, &mut headers) else { return Read::Odd };
    let all = shape.head + shape.body;
    if all > LONGEST {
        return Read::Odd;
    }
    if all > buffer.len() {
        return Read::More(all - buffer.len());
    }
    let bytes = buffer.split_to(all).freeze();
    match shape.request(&bytes) {
        Some(request) => Read::Request(request, shape.closing),
        None => {
            let mut whole = BytesMut::from(&bytes[..]);
            whole.extend_from_slice(buffer);
            *buffer = whole;
            Read::Odd
        }
    }
}

/// Where everything is in a request.
struct Shape<'s> {
    /// Bytes of the head, and of the body.
    head: usize,
    body: usize,
    path: Range<usize>,
    headers: &'s [Header],
    closing: Closing,
}

#[derive(Clone, Default)]
struct Header {
    name: Range<u16>,
    value: Range<u16>,
}

impl<'s> Shape<'s> {
    /// Nothing if this is no whole head, or one that is not for here.
    fn of(bytes: &[u8], headers: &'s mut [Header; HEADERS]) -> Option<Self> {
        // Places are told in 16 bits, and a head may be as long as a request.
        let bytes = &bytes[..bytes.len().min(LONGEST - 1)];
        let mut room = [const { MaybeUninit::uninit() }; HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut room);
        let Ok(httparse::Status::Complete(head)) = parsed else { return None };
        if request.method != Some("POST") || request.version != Some(1) {
            return None;
        }
        let path = request.path.filter(|path| path.starts_with('/'))?;
        let path = place(bytes, path.as_bytes());
        let (mut body, mut closing) = (None, Closing::No);
        for (place, header) in headers.iter_mut().zip(&*request.headers) {
            match special(header.name) {
                Some(Special::Length) => {
                    let length = length(header.value)?;
                    if body.replace(length).is_some() {
                        return None;
                    }
                }
                Some(Special::Connection) if is(header.value, "keep-alive") => {}
                Some(Special::Connection) if is(header.value, "close") => closing = Closing::Yes,
                Some(Special::Connection | Special::Other) => return None,
                None => {}
            }
            *place = Header::of(bytes, header)?;
        }
        let headers = &headers[..request.headers.len()];
        Some(Self { head, body: body?, path, headers, closing })
    }

    fn request(&self, bytes: &Bytes) -> Option<Request<Full<Bytes>>> {
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for Header { name, value } in self.headers {
            let name = named(&bytes[usize::from(name.start)..usize::from(name.end)])?;
            let value = bytes.slice(usize::from(value.start)..usize::from(value.end));
            headers.append(name, HeaderValue::from_maybe_shared(value).ok()?);
        }
        let uri = Uri::from_maybe_shared(bytes.slice(self.path.clone())).ok()?;
        let mut request = Request::new(Full::new(bytes.slice(self.head..)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Some(request)
    }
}

impl Header {
    const NONE: Self = Self { name: 0..0, value: 0..0 };

    fn of(bytes: &[u8], header: &httparse::Header<'_>) -> Option<Self> {
        let short = |long: Range<usize>| {
            Some(u16::try_from(long.start).ok()?..u16::try_from(long.end).ok()?)
        };
        let name = short(place(bytes, header.name.as_bytes()))?;
        Some(Self { name, value: short(place(bytes, header.value))? })
    }
}

/// Where a part is.
fn place(bytes: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - bytes.as_ptr().addr();
    start..start + part.len()
}

/// Headers that say how a message ends or what a connection is.
enum Special {
    Length,
    Connection,
    Other,
}

fn special(name: &str) -> Option<Special> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        14 if is("content-length") => Some(Special::Length),
        10 if is("connection") => Some(Special::Connection),
        6 if is("expect") => Some(Special::Other),
        7 if is("upgrade") || is("trailer") => Some(Special::Other),
        17 if is("transfer-encoding") => Some(Special::Other),
        _ => None,
    }
}

fn length(value: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(value).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn is(value: &[u8], word: &str) -> bool {
    value.eq_ignore_ascii_case(word.as_bytes())
}

fn named(name: &[u8]) -> Option<HeaderName> {
    let known = KNOWN.iter().find(|known| known.as_str().as_bytes().eq_ignore_ascii_case(name));
    known.cloned().or_else(|| HeaderName::from_bytes(name).ok())
}

#[cfg(test)]
mod tests;
