//! Where an answer ends: by its length, by its chunks, or with the connection. What is ambiguous is
//! refused, and its connection is never used again.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use reqwest::StatusCode;
use switchboard_core::port::Delivery;

use super::{Broken, Connection, Direct};

/// A head that is longer is no head.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// The longest line that says how long a chunk is, and the most that may come after the last one.
const MAX_LINE: usize = 4 * 1024;

/// An answer of which the head was read.
pub(crate) struct Answer {
    status: StatusCode,
    /// The head as it came, which was found to be one.
    head: Bytes,
    /// Where its content type is.
    kind: Range<usize>,
    body: Body,
    /// Until the body is read.
    connection: Option<Connection>,
    direct: Arc<Direct>,
    reuse: Reuse,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    Yes,
    No,
}

/// What is left of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// So many bytes.
    Length(u64),
    /// A line that says how long the next chunk is.
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line end behind a chunk.
    ChunkEnd,
    /// Headers behind the last chunk, of which so many bytes came.
    Trailers(usize),
    /// Everything up to the end of the connection.
    Rest,
    Done,
}

/// What a head says, apart from its headers.
struct Said {
    status: StatusCode,
    length: usize,
    kind: Range<usize>,
    body: Body,
    reuse: Reuse,
}

impl Answer {
    /// Reads the head.
    pub(super) async fn read(
        direct: Arc<Direct>,
        mut connection: Connection,
    ) -> Result<Self, Broken> {
        loop {
            if !connection.buffer.is_empty()
                && let Some(Said { status, length, kind, body, reuse }) = parse(&connection.buffer)?
            {
                let head = connection.buffer.split_to(length).freeze();
                if status.is_informational() {
                    continue;
                }
                let connection = Some(connection);
                let mut answer = Self { status, head, kind, body, connection, direct, reuse };
                answer.settle();
                return Ok(answer);
            }
            connection.fill().await?;
        }
    }

    /// Whatever it says, its connection is not used again.
    pub(super) fn last(mut self) -> Self {
        self.reuse = Reuse::No;
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn content_type(&self) -> Option<&str> {
        let kind = self.head.get(self.kind.clone()).filter(|kind| !kind.is_empty())?;
        std::str::from_utf8(kind).ok()
    }

    /// The first header of that name, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.split(|byte| *byte == b'\n').skip(1);
        let found = lines.filter_map(|line| {
            let (own, rest) = line.split_at_checked(name.len())?;
            rest.strip_prefix(b":").filter(|_| own.eq_ignore_ascii_case(name.as_bytes()))
        });
        std::str::from_utf8(found.map(<[u8]>::trim_ascii).next()?).ok()
    }

    /// The next part of the body; nothing at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        loop {
            let Some(connection) = &mut self.connection else { return Ok(None) };
            let (data, next) = match self.body {
                Body::Length(left) => {
                    let data = connection.some(left).await?;
                    let left = left - data.len() as u64;
                    (Some(data), if left == 0 { Body::Done } else { Body::Length(left) })
                }
                Body::Chunk(left) => {
                    let data = connection.some(left).await?;
                    let left = left - data.len() as u64;
                    (Some(data), if left == 0 { Body::ChunkEnd } else { Body::Chunk(left) })
                }
                Body::Size => match size(&connection.line().await?)? {
                    0 => (None, Body::Trailers(0)),
                    size => (None, Body::Chunk(size)),
                },
                Body::ChunkEnd => match connection.line().await?.is_empty() {
                    true => (None, Body::Size),
                    false => return Err(malformed("a chunk does not end where it should")),
                },
                Body::Trailers(before) => match connection.line().await?.len() {
                    0 => (None, Body::Done),
                    more if before + more > MAX_LINE => {
                        return Err(malformed("too much comes behind the last chunk"));
                    }
                    more => (None, Body::Trailers(before + more)),
                },
                Body::Rest => match connection.rest().await? {
                    Some(data) => (Some(data), Body::Rest),
                    None => (None, Body::Done),
                },
                Body::Done => (None, Body::Done),
            };
            self.body = next;
            self.settle();
            if data.is_some() {
                return Ok(data);
            }
        }
    }

    /// A connection on which nothing more comes is free for others.
    fn settle(&mut self) {
        if self.body != Body::Done {
            return;
        }
        let connection = self.connection.take();
        if let (Some(connection), Reuse::Yes) = (connection, self.reuse) {
            self.direct.keep(connection);
        }
    }
}

impl Connection {
    /// As much of the next bytes as is there.
    async fn some(&mut self, most: u64) -> Result<Bytes, Broken> {
        if self.buffer.is_empty() {
            self.fill().await?;
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.buffer.split_to(most.min(self.buffer.len())).freeze())
    }

    async fn rest(&mut self) -> Result<Option<Bytes>, Broken> {
        if self.buffer.is_empty() && self.fill_or_end().await? == 0 {
            return Ok(None);
        }
        Ok(Some(self.buffer.split().freeze()))
    }

    /// The next line, without its end.
    async fn line(&mut self) -> Result<Bytes, Broken> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(searched + at).freeze();
                self.buffer.advance(1);
                return match line.strip_suffix(b"\r") {
                    Some(text) => Ok(line.slice_ref(text)),
                    None => Err(malformed("a line between chunks does not end as it should")),
                };
            }
            searched = self.buffer.len();
            if searched > MAX_LINE {
                return Err(malformed("a line between chunks is too long"));
            }
            self.fill().await?;
        }
    }
}

/// What the head says, if all of it is there.
fn parse(bytes: &[u8]) -> Result<Option<Said>, Broken> {
    // Not filled before they are read: there are seldom more than ten, and room for many.
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() <= MAX_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(malformed("the headers are too long")),
        Err(error) => return Err(malformed(&format!("this is no HTTP: {error}"))),
    };
    let code = response.code.unwrap_or_default();
    let status = StatusCode::from_u16(code).map_err(|_| malformed("this is no status"))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(malformed("it wants to speak something else"));
    }
    let (mut declared, mut chunked, mut kind) = (None, false, 0..0);
    let mut reuse = if response.version == Some(1) { Reuse::Yes } else { Reuse::No };
    for header in &*response.headers {
        let (name, value) = (header.name, header.value.trim_ascii());
        if name.eq_ignore_ascii_case("content-length") {
            let digits = std::str::from_utf8(value).ok().filter(|text| is_digits(text));
            let length: Option<u64> = digits.and_then(|text| text.parse().ok());
            let Some(length) = length.filter(|new| declared.is_none_or(|old| old == *new)) else {
                return Err(malformed("it is not clear how long the answer is"));
            };
            declared = Some(length);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(malformed("the transfer encoding is not known"));
            }
            chunked = true;
        } else if kind.is_empty() && name.eq_ignore_ascii_case("content-type") {
            let start = value.as_ptr().addr() - bytes.as_ptr().addr();
            kind = start..start + value.len();
        } else if name.eq_ignore_ascii_case("connection") {
            let mut words = value.split(|byte| *byte == b',');
            if words.any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close")) {
                reuse = Reuse::No;
            }
        }
    }
    let body = match (chunked, declared) {
        _ if matches!(code, 100..=199 | 204 | 304) => Body::Done,
        (true, Some(_)) => return Err(malformed("it is not clear how long the answer is")),
        (true, None) => Body::Size,
        (false, Some(0)) => Body::Done,
        (false, Some(length)) => Body::Length(length),
        (false, None) => Body::Rest,
    };
    if body == Body::Rest {
        reuse = Reuse::No;
    }
    Ok(Some(Said { status, length, kind, body, reuse }))
}

/// The length of a chunk; what comes behind a semicolon means nothing to us.
fn size(line: &[u8]) -> Result<u64, Broken> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let text = std::str::from_utf8(digits).ok();
    let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let size = text.and_then(|text| u64::from_str_radix(text, 16).ok());
    size.ok_or_else(|| malformed("it is not clear how long a chunk is"))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The request was made, and nobody can tell what came of it.
fn malformed(reason: &str) -> Broken {
    Broken::new(Delivery::Perhaps, format!("the answer cannot be read: {reason}"))
}
