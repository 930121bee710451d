//! HTTP/1.1 without ceremony: a POST as it lies in what was read of a connection. Takes only what can be read in one
//! way: the length once, in digits, and nothing that changes how a message ends or what a connection is. Whatever
//! else comes stays as it is, for a library to read. Never reads or writes a connection itself, and judges nothing.

use std::mem::MaybeUninit;

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, Uri};
use bytes::{Buf as _, Bytes, BytesMut};
use http_body_util::Full;

use crate::head::Field;
use crate::http::Post;

/// Headers that a request may have here.
const HEADERS: usize = 32;
/// How long a request may be here, with its head.
const LONGEST: usize = 64 * 1024;
/// What is read into is used again and again, unless a request made it longer than this.
const KEPT: usize = 16 * 1024;

/// Whether a connection ends with a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The client wants no more after it, or gets no more.
    Yes,
    /// It goes on.
    No,
}

/// What was read so far.
#[derive(Debug)]
pub enum Read<A> {
    /// Nothing.
    Nothing,
    /// A request that was asked at once, and whether the client wants no more after it.
    Asked(A, Closing),
    /// A request that is left to be asked, likewise.
    Request(Box<Request<Full<Bytes>>>, Closing),
    /// A head, whose body lacks so many bytes.
    More(usize),
    /// Something that is not for here. All of it is in the buffer.
    Odd,
}

/// Takes the next request out of the buffer; whoever can be asked at once is.
pub fn next<A>(buffer: &mut BytesMut, ask: impl FnOnce(Post<'_>) -> Option<A>) -> Read<A> {
    if buffer.is_empty() {
        return Read::Nothing;
    }
    let mut fields = [("", &[][..]); HEADERS];
    let Some(Shape { head, body, path, headers, closing }) = Shape::of(buffer, &mut fields) else {
        return Read::Odd;
    };
    let all = match head.checked_add(body) {
        Some(all) if all <= LONGEST => all,
        _ => return Read::Odd,
    };
    let Some(body) = buffer.get(head..all) else { return Read::More(all - buffer.len()) };
    // A call holds its message to its end. What it was read into is wanted for the next one before that.
    let body = Bytes::copy_from_slice(body);
    let read = match ask(Post { path, headers, body: &body }) {
        Some(asked) => Read::Asked(asked, closing),
        None => match request(path, headers, body) {
            Some(request) => Read::Request(Box::new(request), closing),
            None => return Read::Odd,
        },
    };
    buffer.advance(all);
    if all > KEPT && buffer.is_empty() {
        *buffer = BytesMut::new();
    }
    read
}

/// Where everything is in a request.
struct Shape<'b, 's> {
    /// Bytes of the head, and of the body.
    head: usize,
    body: usize,
    path: &'b str,
    headers: &'s [Field<'b>],
    closing: Closing,
}

impl<'b, 's> Shape<'b, 's> {
    /// Nothing if this is no whole head, or one that is not for here.
    fn of(bytes: &'b [u8], fields: &'s mut [Field<'b>; HEADERS]) -> Option<Self> {
        let mut room = [const { MaybeUninit::uninit() }; HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut room);
        let Ok(httparse::Status::Complete(head)) = parsed else { return None };
        if request.method != Some("POST") || request.version != Some(1) {
            return None;
        }
        let path = request.path.filter(|path| path.starts_with('/'))?;
        let (mut body, mut closing) = (None, Closing::No);
        for (field, header) in fields.iter_mut().zip(&*request.headers) {
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
            *field = (header.name, header.value);
        }
        let headers = &fields[..request.headers.len()];
        Some(Self { head, body: body?, path, headers, closing })
    }
}

/// The same for whoever knows requests as the library has them.
fn request(path: &str, fields: &[Field<'_>], body: Bytes) -> Option<Request<Full<Bytes>>> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::try_from(path).ok()?;
    *request.headers_mut() = headers;
    Some(request)
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

#[cfg(test)]
mod tests;
