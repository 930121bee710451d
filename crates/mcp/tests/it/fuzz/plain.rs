//! The body of the fuzz target `plain`: any bytes as what comes on a connection, however they are cut. The target and
//! the tests that replay its corpus share it. The first two bytes say where the cut is; the rest is what comes.

use std::convert::Infallible;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response, Version};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::rt::ReadBufCursor;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use switchboard_mcp::plain::{self, Closing, Read};

/// Whatever it is: what is taken is what a library takes for the same, and all else stays. How many requests are taken.
pub(crate) fn run(data: &[u8]) -> usize {
    let Some(([high, low], bytes)) = data.split_first_chunk() else { return 0 };
    let cut = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    let whole = take_all(bytes);
    assert_eq!(whole.taken + whole.rest.len(), bytes.len(), "nothing is lost");
    assert!(bytes.ends_with(&whole.rest), "what is not taken stays as it is");
    in_two(bytes, cut, &whole);
    let theirs = by_hyper(bytes);
    for (nth, ours) in whole.requests.iter().enumerate() {
        assert_eq!(Some(ours), theirs.get(nth), "request {nth}");
    }
    whole.requests.len()
}

/// A request, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    uri: String,
    headers: HeaderMap,
    body: Bytes,
}

/// The same as somebody is shown it who may be asked at once: its path, headers and body.
type Shown = (String, Vec<(String, Vec<u8>)>, Bytes);

/// Where it ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Nothing,
    More(usize),
    Odd,
    Closed,
}

/// What is taken, how many bytes that are, what is left, and why.
#[derive(Debug, PartialEq, Eq)]
struct Taken {
    requests: Vec<Asked>,
    taken: usize,
    rest: BytesMut,
    end: End,
}

fn take_all(bytes: &[u8]) -> Taken {
    let mut so_far = Taken { requests: Vec::new(), taken: 0, rest: bytes.into(), end: End::Odd };
    take_on(&mut so_far);
    so_far
}

/// Takes requests out of what is there until there is no more.
fn take_on(so_far: &mut Taken) {
    so_far.end = loop {
        let before = so_far.rest.clone();
        let mut shown = None;
        let read = plain::next(&mut so_far.rest, |post| {
            let fields =
                post.headers.iter().map(|(name, value)| (name.to_string(), value.to_vec()));
            shown = Some((post.path.to_owned(), fields.collect::<Vec<_>>(), post.body.clone()));
            None::<Infallible>
        });
        match read {
            Read::Asked(never, _) => match never {},
            Read::Request(request, closing) => {
                let taken = before.len() - so_far.rest.len();
                let asked = asked(*request);
                is_shown(&asked, shown);
                is_framed(&before[..taken], &asked.body);
                so_far.taken += taken;
                so_far.requests.push(asked);
                if closing == Closing::Yes {
                    break End::Closed;
                }
            }
            end => {
                assert_eq!(so_far.rest, before, "all of it is still there");
                break match end {
                    Read::Nothing => End::Nothing,
                    Read::More(more) => End::More(more),
                    _ => End::Odd,
                };
            }
        }
    };
}

fn asked(request: Request<http_body_util::Full<Bytes>>) -> Asked {
    assert_eq!((request.method(), request.version()), (&Method::POST, Version::HTTP_11));
    let (parts, body) = request.into_parts();
    let body = now(body.collect()).unwrap_or_else(|never| match never {}).to_bytes();
    Asked { uri: parts.uri.to_string(), headers: parts.headers, body }
}

/// What is shown is what is passed on.
fn is_shown(asked: &Asked, shown: Option<Shown>) {
    let (path, fields, body) = shown.unwrap();
    // What is behind a `#` is nobody's but the client's.
    assert_eq!(path.split('#').next(), Some(&*asked.uri));
    assert_eq!(body, asked.body);
    assert_eq!(fields.len(), asked.headers.len());
    for name in asked.headers.keys() {
        let theirs = asked.headers.get_all(name).iter().map(|value| value.as_bytes());
        let ours = fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name.as_str()));
        assert!(theirs.eq(ours.map(|field| &*field.1)), "{name}");
    }
}

/// What was taken is one head, and as many bytes behind it as it says.
fn is_framed(taken: &[u8], body: &[u8]) {
    let mut room = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut room);
    let head = request.parse(taken).unwrap().unwrap();
    assert_eq!(&taken[head..], body);
    let is = |name: &str, other: &str| name.eq_ignore_ascii_case(other);
    let mut lengths = request.headers.iter().filter(|field| is(field.name, "content-length"));
    let length = std::str::from_utf8(lengths.next().unwrap().value).unwrap();
    assert_eq!((length.parse(), lengths.next().is_none()), (Ok(body.len()), true));
    assert!(!request.headers.iter().any(|field| is(field.name, "transfer-encoding")));
}

/// In two pieces it is the same, unless the first one ends within a head, which is then left alone.
fn in_two(bytes: &[u8], cut: usize, whole: &Taken) {
    let mut parts = take_all(&bytes[..cut]);
    let first = parts.requests.len();
    assert_eq!(parts.requests, whole.requests[..first]);
    match parts.end {
        End::Odd => {
            // Only a head that had not ended yet may be taken when there is more of it.
            if whole.requests.len() > first {
                let mut room = [httparse::EMPTY_HEADER; 64];
                let head = httparse::Request::new(&mut room).parse(&parts.rest);
                assert_eq!(head, Ok(httparse::Status::Partial));
            }
            return;
        }
        End::More(more) => assert!(more > 0),
        End::Nothing | End::Closed => {}
    }
    parts.rest.extend_from_slice(&bytes[cut..]);
    if parts.end != End::Closed {
        take_on(&mut parts);
    }
    assert_eq!(parts, *whole);
}

/// The requests that hyper takes out of the same bytes.
fn by_hyper(bytes: &[u8]) -> Vec<Asked> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let seen = seen.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asked = Asked { uri: parts.uri.to_string(), headers: parts.headers, body };
            seen.lock().unwrap().push(asked);
            Ok::<_, hyper::Error>(Response::new(Body::empty()))
        }
    });
    let wire = Wire(Cursor::new(bytes.to_vec()));
    // What has come is answered, although nothing more will.
    let _ = now(http1::Builder::new().half_close(true).serve_connection(wire, service));
    std::mem::take(&mut seen.lock().unwrap())
}

/// What becomes of something that waits for nobody.
fn now<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(std::task::Waker::noop());
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("it waits for somebody")
}

/// A connection on which these bytes come, and whose answers nobody reads.
struct Wire(Cursor<Vec<u8>>);

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        let at = usize::try_from(self.0.position()).unwrap();
        let some = room.remaining().min(self.0.get_ref().len() - at);
        room.put_slice(&self.0.get_ref()[at..at + some]);
        self.0.set_position((at + some) as u64);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
