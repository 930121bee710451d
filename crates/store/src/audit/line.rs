//! A row as a line of a block: a JSON array of the numbers and texts that are its own. Pure.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) at: i64,
    pub(super) subject: i64,
    /// duration in microseconds, bytes in, bytes out
    pub(super) numbers: [Option<u64>; 3],
    pub(super) trace: Option<String>,
    pub(super) detail: Option<Value>,
}

type Parts = (i64, i64, Option<u64>, Option<u64>, Option<u64>, Option<String>, Option<Value>);

impl Line {
    pub(super) fn read(line: &str) -> Result<Self> {
        let parts: Parts =
            serde_json::from_str(line).map_err(|error| Error::malformed("audit row", error))?;
        let (at, subject, duration, bytes_in, bytes_out, trace, detail) = parts;
        Ok(Self { at, subject, numbers: [duration, bytes_in, bytes_out], trace, detail })
    }
}

/// The time and the subject of a line, without reading the rest.
pub(super) fn peek(line: &str) -> Result<(i64, i64)> {
    let bad = || Error::malformed("audit row", "it does not begin with a time and a subject");
    let (at, rest) =
        line.strip_prefix('[').and_then(|rest| rest.split_once(',')).ok_or_else(bad)?;
    let (subject, _) = rest.split_once(',').ok_or_else(bad)?;
    Ok((at.parse().map_err(|_| bad())?, subject.parse().map_err(|_| bad())?))
}

/// Writes a line, piece by piece, at the end of a body.
pub(super) struct Pen<'b>(pub(super) &'b mut Vec<u8>);

impl Pen<'_> {
    pub(super) fn begin(&mut self, at: i64, subject: i64) {
        self.0.push(b'[');
        self.number(at);
        self.0.push(b',');
        self.number(subject);
    }

    pub(super) fn count(&mut self, number: Option<i64>) {
        self.0.push(b',');
        match number {
            Some(number) => self.number(number),
            None => self.0.extend_from_slice(b"null"),
        }
    }

    pub(super) fn json(&mut self, value: Option<&(impl Serialize + ?Sized)>) -> Result<()> {
        self.0.push(b',');
        match value {
            Some(value) => self.value(value),
            None => {
                self.0.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    /// The next member of an object, if there is one; `open` says how it is parted from what is before.
    pub(super) fn member(
        &mut self,
        open: &mut u8,
        name: &str,
        value: Option<&(impl Serialize + ?Sized)>,
    ) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        self.0.push(*open);
        *open = b',';
        self.value(name)?;
        self.0.push(b':');
        self.value(value)
    }

    /// The same, of a value that is written already, under a name without anything to escape.
    pub(super) fn raw_member(&mut self, open: &mut u8, name: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.0.push(*open);
        *open = b',';
        for piece in ["\"", name, "\":", value] {
            self.0.extend_from_slice(piece.as_bytes());
        }
    }

    /// The end of an object; one without members is `null`.
    pub(super) fn close(&mut self, open: u8) {
        self.0.extend_from_slice(if open == b'{' { b"null" } else { b"}" });
    }

    pub(super) fn comma(&mut self) {
        self.0.push(b',');
    }

    pub(super) fn end(&mut self) {
        self.0.extend_from_slice(b"]\n");
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        serde_json::to_writer(&mut *self.0, value).map_err(|e| Error::malformed("audit row", e))
    }

    fn number(&mut self, number: i64) {
        if number < 0 {
            self.0.push(b'-');
        }
        let mut digits = [0; 20];
        let (mut left, mut at) = (number.unsigned_abs(), digits.len());
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.0.extend_from_slice(&digits[at..]);
    }
}
