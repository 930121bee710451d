//! From a stream of bytes to events: each byte is looked at once, and only one event is kept.

use bytes::{Buf, Bytes, BytesMut};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its type; `None` is `message`.
    pub kind: Option<String>,
    /// Its data, lines joined by `\n`; may be empty (an event that only carries an id).
    pub data: Bytes,
}

/// What a stream holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An event.
    Event(Event),
    /// An event over the limit; the rest of it is passed over as it comes.
    TooLong,
}

/// Cuts a stream into events: put bytes in, take items out until there is none, repeat. An event
/// that the stream's end cuts off is no event.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// Up to here there is no line end in the buffer.
    searched: usize,
    max_event: usize,
    data: Data,
    kind: Option<String>,
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<u64>,
    /// Bytes of the event so far that are no longer in the buffer.
    taken: usize,
    state: State,
    line: LineState,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Nothing has come: a byte order mark may.
    Start,
    Reading,
    /// Inside of an event over the limit.
    Skipping,
}

#[derive(Debug, PartialEq, Eq)]
enum LineState {
    Fresh,
    /// The last line ended with `\r`: a `\n` that follows belongs to it.
    AfterReturn,
    /// In a line whose beginning was thrown away.
    Broken,
}

/// One line is shared with the buffer; only several are copied.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Decoder {
    /// Events of more than `max_event` bytes, all fields counted, are not taken.
    pub fn new(max_event: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            max_event,
            data: Data::None,
            kind: None,
            id: None,
            last_id: None,
            retry: None,
            taken: 0,
            state: State::Start,
            line: LineState::Fresh,
        }
    }

    /// Puts bytes in.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next event, if all of it is there.
    pub fn next_item(&mut self) -> Option<Item> {
        if self.state == State::Start && !self.pass_mark() {
            return None;
        }
        loop {
            if self.line == LineState::AfterReturn {
                match self.buffer.first() {
                    None => return None,
                    Some(b'\n') => self.drop_front(1),
                    Some(_) => {}
                }
                self.line = LineState::Fresh;
            }
            let Some(line) = self.take_line() else { return self.pass_overlong() };
            if let Some(item) = self.line(line) {
                return Some(item);
            }
        }
    }

    /// The id of the last event that had one: what a reconnection asks to go on from.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How many milliseconds the server wants to be left alone before a reconnection.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// `false` while it cannot be known whether the stream opens with a byte order mark.
    fn pass_mark(&mut self) -> bool {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        if self.buffer.starts_with(MARK) {
            self.buffer.advance(MARK.len());
        } else if MARK.starts_with(&self.buffer) {
            return false;
        }
        self.state = State::Reading;
        true
    }

    fn take_line(&mut self) -> Option<Bytes> {
        let found = memchr::memchr2(b'\n', b'\r', &self.buffer[self.searched..]);
        let Some(end) = found.map(|at| self.searched + at) else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(end).freeze();
        let broken = std::mem::replace(&mut self.line, LineState::Fresh) == LineState::Broken;
        if self.buffer.first() == Some(&b'\r') {
            self.line = LineState::AfterReturn;
        }
        self.drop_front(1);
        self.taken = self.taken.saturating_add(line.len());
        // What is left of a broken line must not end the event as an empty one would.
        Some(if broken { Bytes::from_static(b":") } else { line })
    }

    fn drop_front(&mut self, count: usize) {
        self.buffer.advance(count);
        self.searched = 0;
    }

    fn pass_overlong(&mut self) -> Option<Item> {
        let size = self.taken.saturating_add(self.buffer.len());
        if self.state != State::Skipping && size <= self.max_event {
            return None;
        }
        if !self.buffer.is_empty() {
            self.line = LineState::Broken;
            // Not `clear`: that would keep the memory of the long event for ever.
            self.buffer = BytesMut::new();
            self.searched = 0;
        }
        self.start_skipping()
    }

    fn start_skipping(&mut self) -> Option<Item> {
        self.data = Data::None;
        self.kind = None;
        self.taken = 0;
        let first = std::mem::replace(&mut self.state, State::Skipping) != State::Skipping;
        first.then_some(Item::TooLong)
    }

    fn line(&mut self, line: Bytes) -> Option<Item> {
        if line.is_empty() {
            return self.dispatch();
        }
        if self.state == State::Skipping {
            return None;
        }
        if self.taken > self.max_event {
            return self.start_skipping();
        }
        let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        match &line[..colon] {
            b"data" => self.data.push(value),
            b"event" => self.kind = Some(String::from_utf8_lossy(&value).into_owned()),
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(&value).into_owned());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = String::from_utf8_lossy(&value).parse().ok().or(self.retry);
            }
            // A comment has an empty name; unknown fields are passed over.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Item> {
        self.taken = 0;
        // That of an event over the limit counts too: asking for the event again would not help.
        if let Some(id) = self.id.take() {
            self.last_id = Some(id);
        }
        if self.state == State::Skipping {
            self.state = State::Reading;
            return None;
        }
        let kind = self.kind.take().filter(|kind| !kind.is_empty());
        let data = match std::mem::take(&mut self.data) {
            Data::None => return None,
            Data::One(line) => line,
            Data::Many(lines) => lines.freeze(),
        };
        Some(Item::Event(Event { kind, data }))
    }
}

impl Data {
    fn push(&mut self, line: Bytes) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(line),
            Self::One(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + line.len() + 1);
                lines.extend_from_slice(&first);
                Self::Many(joined(lines, &line))
            }
            Self::Many(lines) => Self::Many(joined(lines, &line)),
        };
    }
}

fn joined(mut lines: BytesMut, line: &[u8]) -> BytesMut {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
    lines
}
