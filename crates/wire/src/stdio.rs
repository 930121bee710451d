//! One message per line. Never reads a pipe, never parses a line.

#[cfg(test)]
mod tests;

use bytes::{Buf, Bytes, BytesMut};

/// How much of an overlong line is shown: enough for the log, and for the id that most writers put
/// first.
const HEAD: usize = 1024;

/// What a stream of bytes holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line that is not blank, without its end.
    Whole(Bytes),
    /// A line over the limit; the rest of it is passed over as it comes.
    TooLong {
        /// Its first bytes.
        head: Bytes,
    },
}

/// Cuts a stream into lines: put bytes in, take lines out until there is none, repeat.
///
/// Each byte is looked at once, and no more is kept than one line and what was last put in.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// Up to here there is no line end in the buffer.
    searched: usize,
    max_line: usize,
    skipping: bool,
}

impl Decoder {
    /// Lines of more than `max_line` bytes are not taken.
    pub fn new(max_line: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, max_line, skipping: false }
    }

    /// Puts bytes in.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// Where a reader can put bytes itself; it must only append.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The next line, if all of it is there.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let Some(end) = self.find_end() else { return self.pass_overlong() };
            let skipped = std::mem::take(&mut self.skipping);
            let line = self.buffer.split_to(end);
            self.buffer.advance(1);
            self.searched = 0;
            if skipped {
                continue;
            }
            if let Some(line) = self.judge(line) {
                return Some(line);
            }
        }
    }

    /// The last line, if the stream ended without ending it.
    pub fn finish(&mut self) -> Option<Line> {
        let rest = self.buffer.split();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) { None } else { self.judge(rest) }
    }

    fn find_end(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..]);
        let end = found.map(|at| self.searched + at);
        self.searched = self.buffer.len();
        end
    }

    /// There is no line end in the buffer: what is over the limit, or of a line that was, goes.
    fn pass_overlong(&mut self) -> Option<Line> {
        if self.skipping {
            self.buffer.clear();
            self.searched = 0;
            return None;
        }
        // One byte more than the line may have, for the `\r` that is no part of it.
        if self.buffer.len() <= self.max_line.saturating_add(1) {
            return None;
        }
        let head = head(&self.buffer);
        // Not `clear`: that would keep the memory of the long line for ever.
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.skipping = true;
        Some(Line::TooLong { head })
    }

    fn judge(&self, mut line: BytesMut) -> Option<Line> {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.max_line {
            return Some(Line::TooLong { head: head(&line) });
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(Line::Whole(line.freeze()))
    }
}

/// Ends the message that was written to `out` from `start` on: it is one line after that, however
/// its payload was laid out.
pub fn end_line(out: &mut Vec<u8>, start: usize) {
    let message = out.get(start..).unwrap_or_default();
    if let Some(first) = memchr::memchr2(b'\n', b'\r', message) {
        // Inside of strings JSON has no raw line ends, so these are white space, and white space
        // between tokens is never needed.
        let from = start + first;
        let mut kept = from;
        for at in from..out.len() {
            let byte = out[at];
            out[kept] = byte;
            kept += usize::from(!matches!(byte, b'\n' | b'\r'));
        }
        out.truncate(kept);
    }
    out.push(b'\n');
}

/// Appends `message` as one line.
pub fn encode(out: &mut Vec<u8>, message: &[u8]) {
    let start = out.len();
    out.reserve(message.len() + 1);
    out.extend_from_slice(message);
    end_line(out, start);
}

fn head(line: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&line[..line.len().min(HEAD)])
}
