//! What a client sends before it is known what there is: a greeting needs no server, a list would be
//! an empty one. Holds what has to wait, in order; never answers anything.

use std::collections::VecDeque;

use bytes::Bytes;
use switchboard_wire::{IdKey, Incoming, Limits, Message, method};

use crate::rejoin::cancelled;

/// Requests that need no server.
const AT_ONCE: [&str; 4] = [method::INITIALIZE, method::DISCOVER, method::PING, method::SET_LEVEL];

/// Lines that wait.
#[derive(Default)]
pub(super) struct Held {
    /// With the id that calls it off, if it is one request.
    lines: VecDeque<(Option<IdKey>, Bytes)>,
    bytes: usize,
}

impl Held {
    /// Holds a line that has to wait; any other comes back.
    pub(super) fn sift(&mut self, line: Bytes, limits: &Limits) -> Option<Bytes> {
        let id = match Incoming::parse(&line, limits) {
            Ok(Incoming::One(Message::Request(request))) if waits(&request.method) => {
                Some(request.id.key())
            }
            Ok(Incoming::One(Message::Notification(told)))
                if cancelled(&told).is_some_and(|gone| self.call_off(&gone)) =>
            {
                return None;
            }
            Ok(Incoming::Batch(all)) if all.iter().flatten().any(is_held) => None,
            // What is no message at all is told so at once.
            Ok(_) | Err(_) => return Some(line),
        };
        self.bytes += line.len();
        self.lines.push_back((id, line));
        None
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// What waited, in order.
    pub(super) fn into_lines(self) -> impl Iterator<Item = Bytes> {
        self.lines.into_iter().map(|(_, line)| line)
    }

    /// The client does not want something any more: nobody has begun it.
    fn call_off(&mut self, gone: &IdKey) -> bool {
        let Some(at) = self.lines.iter().position(|(id, _)| id.as_ref() == Some(gone)) else {
            return false;
        };
        let line = self.lines.remove(at);
        self.bytes -= line.map_or(0, |(_, line)| line.len());
        true
    }
}

fn is_held(message: &Message<'_>) -> bool {
    matches!(message, Message::Request(request) if waits(&request.method))
}

fn waits(method: &str) -> bool {
    !AT_ONCE.contains(&method)
}
