//! The one pass over bytes that nobody has looked at: size, UTF-8, grammar, depth. Never recurses,
//! never allocates, never decodes.

use crate::fault::Fault;
use crate::json::Json;
use crate::json::members::Key;
use crate::json::skip::{space, special};
use crate::limits::Limits;

/// Levels of nesting that fit into the record of what is open: one bit each.
const DEEPEST: usize = 128;

/// The position behind what was checked, or that of the byte which is wrong.
pub(crate) type Step = Result<usize, usize>;

/// What passes the values of an object's members.
pub(crate) trait Pass<'a> {
    /// Passes the value that begins at `at`.
    fn member(&mut self, checker: &mut Checker<'a>, key: Key<'a>, at: usize) -> Step;
}

/// A position in bytes that are being checked.
pub(crate) struct Checker<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    max_depth: usize,
    too_deep: bool,
}

impl<'a> Checker<'a> {
    /// Checks size and UTF-8, and stands at the first byte that is not white space.
    pub(crate) fn new(bytes: &'a [u8], limits: &Limits) -> Result<Self, Fault> {
        // Places in a message are told in 32 bits.
        let limit = limits.max_bytes.min(u32::MAX as usize);
        if bytes.len() > limit {
            return Err(Fault::TooLarge { size: bytes.len(), limit });
        }
        if simdutf8::basic::from_utf8(bytes).is_err() {
            let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
            return Err(Fault::NotUtf8 { at });
        }
        let max_depth = limits.max_depth.min(DEEPEST);
        Ok(Self { bytes, at: space(bytes, 0), depth: 0, max_depth, too_deep: false })
    }

    /// The byte that comes next.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes trailing white space; anything else there is a fault.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.at = space(self.bytes, self.at);
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.fault(self.at)) }
    }

    /// Passes one value of any kind and depth.
    pub(crate) fn value(&mut self) -> Result<Json<'a>, Fault> {
        let start = self.at;
        self.at = self.pass_value(start).map_err(|at| self.fault(at))?;
        Ok(Json::trusted(&self.bytes[start..self.at]))
    }

    /// Passes one object, the values of its members by `pass`.
    pub(crate) fn object(&mut self, pass: &mut impl Pass<'a>) -> Result<(), Fault> {
        self.at = self.pass_object(self.at, pass).map_err(|at| self.fault(at))?;
        Ok(())
    }

    /// Whether an object begins at `at`.
    pub(crate) fn is_object(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'{')
    }

    /// The bytes from `at` on.
    pub(crate) fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// What was passed.
    pub(crate) fn passed(&self, from: usize, to: usize) -> Json<'a> {
        Json::trusted(&self.bytes[from..to])
    }

    /// How many levels there may still be.
    pub(crate) fn room(&self) -> usize {
        self.max_depth - self.depth
    }

    /// Passes the `[` of an array, or what stands between two of its elements; `false` at its end.
    pub(crate) fn element(&mut self, nth: usize) -> Result<bool, Fault> {
        let step = match nth {
            0 => expect(self.bytes, self.at, b'[').and_then(|at| self.enter(at)),
            _ => Ok(self.at),
        };
        let at = space(self.bytes, step.map_err(|at| self.fault(at))?);
        if self.bytes.get(at) == Some(&b']') {
            self.depth -= 1;
            self.at = at + 1;
            return Ok(false);
        }
        let step = if nth == 0 { Ok(at) } else { expect(self.bytes, at, b',') };
        self.at = space(self.bytes, step.map_err(|at| self.fault(at))?);
        Ok(true)
    }

    /// Passes the object at `at`.
    pub(crate) fn pass_object(&mut self, at: usize, pass: &mut impl Pass<'a>) -> Step {
        let bytes = self.bytes;
        let open = expect(bytes, at, b'{')?;
        let mut at = space(bytes, self.enter(open)?);
        if bytes.get(at) == Some(&b'}') {
            self.depth -= 1;
            return Ok(at + 1);
        }
        loop {
            let start = at + 1;
            let close = pass_string(bytes, expect(bytes, at, b'"')?)?;
            let key = Key::trusted(&bytes[start..close - 1]);
            let value_at = pass_colon(bytes, close)?;
            at = space(bytes, pass.member(self, key, value_at)?);
            if bytes.get(at) == Some(&b'}') {
                self.depth -= 1;
                return Ok(at + 1);
            }
            at = space(bytes, expect(bytes, at, b',')?);
        }
    }

    /// Passes the value at `at`.
    pub(crate) fn pass_value(&mut self, at: usize) -> Step {
        match self.bytes.get(at) {
            Some(b'{' | b'[') => self.pass_container(at),
            _ => pass_scalar(self.bytes, at),
        }
    }

    /// Whether each open container is an object is kept in one bit, so depth costs no stack.
    fn pass_container(&mut self, mut at: usize) -> Step {
        let bytes = self.bytes;
        let floor = self.depth;
        let mut objects = 0_u128;
        'value: loop {
            match bytes.get(at) {
                Some(b'{') => {
                    objects = objects << 1 | 1;
                    at = space(bytes, self.enter(at + 1)?);
                    if bytes.get(at) != Some(&b'}') {
                        at = pass_key(bytes, at)?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    objects <<= 1;
                    at = space(bytes, self.enter(at + 1)?);
                    if bytes.get(at) != Some(&b']') {
                        continue 'value;
                    }
                }
                _ => at = space(bytes, pass_scalar(bytes, at)?),
            }
            loop {
                match (bytes.get(at), objects & 1) {
                    (Some(b','), 0) => {
                        at = space(bytes, at + 1);
                        continue 'value;
                    }
                    (Some(b','), _) => {
                        at = pass_key(bytes, space(bytes, at + 1))?;
                        continue 'value;
                    }
                    (Some(b'}'), 1) | (Some(b']'), 0) => {
                        at += 1;
                        self.depth -= 1;
                        objects >>= 1;
                        if self.depth == floor {
                            return Ok(at);
                        }
                        at = space(bytes, at);
                    }
                    _ => return Err(at),
                }
            }
        }
    }

    #[inline]
    fn enter(&mut self, at: usize) -> Step {
        if self.depth == self.max_depth {
            self.too_deep = true;
            return Err(at - 1);
        }
        self.depth += 1;
        Ok(at)
    }

    #[cold]
    fn fault(&self, at: usize) -> Fault {
        match self.too_deep {
            true => Fault::TooDeep { at, limit: self.max_depth },
            false => Fault::NotJson { at },
        }
    }
}

/// A key, its colon and the space around that.
#[inline]
fn pass_key(bytes: &[u8], at: usize) -> Step {
    pass_colon(bytes, pass_string(bytes, expect(bytes, at, b'"')?)?)
}

#[inline]
fn pass_colon(bytes: &[u8], at: usize) -> Step {
    expect(bytes, space(bytes, at), b':').map(|at| space(bytes, at))
}

#[inline]
fn pass_scalar(bytes: &[u8], at: usize) -> Step {
    match bytes.get(at) {
        Some(b'"') => pass_string(bytes, at + 1),
        Some(b'-' | b'0'..=b'9') => pass_number(bytes, at),
        Some(b't') => pass_word(bytes, at, b"true"),
        Some(b'f') => pass_word(bytes, at, b"false"),
        Some(b'n') => pass_word(bytes, at, b"null"),
        _ => Err(at),
    }
}

/// Starts behind the opening quote, ends behind the closing one.
#[inline]
fn pass_string(bytes: &[u8], mut at: usize) -> Step {
    loop {
        at = special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = pass_escape(bytes, at)?,
            _ => return Err(at),
        }
    }
}

/// A surrogate without its partner passes: it is legal JSON, and it stays as it came.
#[inline]
fn pass_escape(bytes: &[u8], at: usize) -> Step {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let digits = bytes.get(at + 2..at + 6);
            let good = digits.is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit));
            if good { Ok(at + 6) } else { Err(at) }
        }
        _ => Err(at),
    }
}

#[inline]
fn pass_number(bytes: &[u8], mut at: usize) -> Step {
    at += usize::from(bytes.get(at) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => pass_digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = pass_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = pass_digits(bytes, at)?;
    }
    Ok(at)
}

#[inline]
fn pass_digits(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    if at > start { Ok(at) } else { Err(at) }
}

#[inline]
fn pass_word(bytes: &[u8], at: usize, word: &[u8]) -> Step {
    match bytes.get(at..at + word.len()) {
        Some(there) if there == word => Ok(at + word.len()),
        _ => Err(at),
    }
}

#[inline]
fn expect(bytes: &[u8], at: usize, byte: u8) -> Step {
    if bytes.get(at) == Some(&byte) { Ok(at + 1) } else { Err(at) }
}
