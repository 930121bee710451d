//! Tells a stream over an HTTP response: as one JSON body where that will do, else as events.
//! Never works on a request.

use std::io;
use std::time::Duration;

use switchboard_wire::{header, sse};

use super::mangle::Dropped;
use super::wire::{End, Wire};
use crate::script::serve::outlet::{Item, Then, filler};
use crate::script::serve::process;
use crate::script::serve::stream::{Next, Stream};
use crate::script::serve::world::{World, now};

pub(super) struct Telling<'a> {
    pub(super) world: &'a World,
    pub(super) wire: Wire<'a>,
    pub(super) stream: &'a Stream,
    pub(super) headers: Vec<(&'static str, String)>,
    /// What comes before all events.
    pub(super) greeting: Vec<u8>,
    /// Whether events have ids, so that somebody can come back for the rest.
    pub(super) ids: Ids,
    /// Whether the caller gives up by leaving.
    pub(super) leaving: Leaving,
    /// How long nobody looks whether the caller is still there.
    pub(super) patience: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    None,
    /// And an event without data before the others.
    Primed,
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    GivesUp,
    MeansNothing,
}

impl Telling<'_> {
    /// As JSON, if the answer is the first thing there is.
    pub(super) fn as_json(&self) -> io::Result<End> {
        let first = loop {
            match self.stream.next(0, self.patience) {
                Next::Item(item) => break item,
                Next::Cut => return Ok(End::Close),
                Next::Nothing if self.wire.is_gone() => return Ok(self.left()),
                Next::Nothing => {}
            }
        };
        let (wire, headers) = (&self.wire, &self.headers);
        match first {
            Item::Message(_) | Item::Garbage(_) => self.as_events(0),
            Item::Answer { body, status } => wire.whole(status, headers, header::JSON, &body),
            Item::Half { body, then } => {
                wire.sized(200, headers, header::JSON, body.len() as u64)?;
                wire.bytes(&body[..body.len() / 2])?;
                Ok(self.stop(&then))
            }
            Item::Huge { head, bytes, tail } => {
                let length = (head.len() + tail.len()) as u64 + bytes;
                wire.sized(200, headers, header::JSON, length)?;
                wire.bytes(&head)?;
                for piece in filler(bytes) {
                    wire.bytes(piece)?;
                }
                wire.bytes(&tail).map(|()| End::Next)
            }
        }
    }

    /// As events, from that place of the stream on, to the answer.
    pub(super) fn as_events(&self, place: usize) -> io::Result<End> {
        // Who has left is noticed by looking, or by a write that fails.
        self.told(place).inspect_err(|_| {
            self.left();
        })
    }

    fn told(&self, mut place: usize) -> io::Result<End> {
        let mut headers = self.headers.clone();
        headers.push(("cache-control", "no-cache".to_owned()));
        headers.push((header::ACCEL_BUFFERING, "no".to_owned()));
        self.wire.chunked(&headers, sse::CONTENT_TYPE)?;
        let mut told = self.open(place)?;
        let mut quiet = now();
        loop {
            if self.is_dropped(told) {
                return Ok(End::Close);
            }
            match self.stream.next(place, self.pause()) {
                Next::Cut => return Ok(End::Close),
                Next::Nothing if self.wire.is_gone() => return Ok(self.left()),
                Next::Nothing => {
                    let silence = self.world.script.keep_alive_ms.map(Duration::from_millis);
                    if silence.is_some_and(|silence| quiet.elapsed() >= silence) {
                        let mut out = Vec::new();
                        sse::comment(&mut out, "keep-alive");
                        self.wire.chunk(&out)?;
                        quiet = now();
                    }
                }
                Next::Item(Item::Answer { .. }) if self.wire.mangle.dropped.is_some() => {
                    return Ok(End::Close);
                }
                Next::Item(item) => {
                    place += 1;
                    told += 1;
                    quiet = now();
                    if let Some(end) = self.event(item, place)? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    /// What comes before the events; how many of them that makes.
    fn open(&self, place: usize) -> io::Result<usize> {
        let mut out = self.greeting.clone();
        if let Some(ms) = self.world.script.retry_ms {
            sse::retry(&mut out, ms);
        }
        let primed = self.ids == Ids::Primed;
        if primed {
            sse::event(&mut out, None, Some(&self.id(place)), b"");
        }
        if !out.is_empty() {
            self.wire.chunk(&out)?;
        }
        Ok(usize::from(primed))
    }

    /// Tells one item; what becomes of the connection if it was the last.
    fn event(&self, item: Item, place: usize) -> io::Result<Option<End>> {
        let id = (self.ids != Ids::None).then(|| self.id(place));
        let mut out = Vec::new();
        match item {
            Item::Message(body) => {
                sse::event(&mut out, None, id.as_deref(), &body);
                self.wire.chunk(&out)?;
                Ok(None)
            }
            Item::Garbage(junk) => {
                self.wire.chunk(&[b"data: ", &junk[..], b"\n\n"].concat())?;
                Ok(None)
            }
            Item::Answer { body, .. } => {
                sse::event(&mut out, None, id.as_deref(), &body);
                if let Some(cut) = self.wire.mangle.cut {
                    self.wire.chunk(&out[..out.len() / 2])?;
                    return Ok(Some(self.wire.end(cut)));
                }
                self.wire.chunk(&out)?;
                self.last()
            }
            Item::Half { body, then } => {
                self.wire.chunk(&[b"data: ", &body[..body.len() / 2]].concat())?;
                Ok(Some(self.stop(&then)))
            }
            Item::Huge { head, bytes, tail } => {
                self.wire.chunk(&[b"data: ", &head[..]].concat())?;
                for piece in filler(bytes) {
                    self.wire.chunk(piece)?;
                }
                self.wire.chunk(&[&tail[..], b"\n\n"].concat())?;
                self.last()
            }
        }
    }

    /// The end of an answered request; a stream that belongs to no request goes on.
    fn last(&self) -> io::Result<Option<End>> {
        if self.stream.id == 0 {
            return Ok(None);
        }
        self.wire.bytes(b"0\r\n\r\n").map(|()| Some(End::Next))
    }

    fn stop(&self, then: &Then) -> End {
        match then {
            Then::Stall => self.wire.outwait(),
            Then::Exit { code, stderr } => process::exit(*code, stderr),
        }
    }

    fn left(&self) -> End {
        if self.leaving == Leaving::GivesUp {
            self.stream.leave();
        }
        End::Close
    }

    fn is_dropped(&self, told: usize) -> bool {
        matches!(self.wire.mangle.dropped, Some(Dropped { events, .. }) if told >= events)
    }

    fn pause(&self) -> Duration {
        let keep_alive = self.world.script.keep_alive_ms.map(Duration::from_millis);
        keep_alive.map_or(self.patience, |keep_alive| keep_alive.min(self.patience))
    }

    fn id(&self, place: usize) -> String {
        format!("{}-{place}", self.stream.id)
    }
}

/// The stream and the place after the event of that id.
pub(super) fn place(id: &str) -> Option<(u64, usize)> {
    let (stream, place) = id.rsplit_once('-')?;
    Some((stream.parse().ok()?, place.parse().ok()?))
}
