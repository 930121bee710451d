//! Takes what is secret, or looks like it, out of JSON and texts before they are written down, and cuts what
//! is long; what was taken out or cut says so. Pure. Hides too much rather than too little, and never decides
//! whether anything is written down at all.

mod known;
mod named;
mod names;
mod said;
mod scan;
mod tokens;
mod urls;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use switchboard_wire::{Json, JsonBuf, Kind, Limits, write};

pub use known::Known;
use names::Says;
pub use names::says_secret;

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// Levels of objects and arrays that are shown.
const DEPTH: usize = 8;
/// Members of an object, or elements of an array, that are shown.
const MEMBERS: usize = 64;
/// Bytes of a string that are shown.
const STRING: usize = 1024;
/// Bytes of a name that are shown.
const NAME: usize = 256;
/// Digits of a number that are shown.
const DIGITS: usize = 40;
/// Bytes of the whole after which nothing more is begun.
const TOTAL: usize = 4096;
/// Bytes that are looked through, after which nothing more is: a text that is hidden costs too.
const LOOKED: usize = 16 * 1024;

/// Takes secrets out.
#[derive(Debug, Default)]
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// With secrets that are known as such, wherever they stand.
    pub fn new(known: Known) -> Self {
        Self { known }
    }

    /// The value without its secrets, and no longer than can be kept: some thousand bytes, whatever it was.
    pub fn json(&self, json: Json<'_>) -> JsonBuf {
        let mut writer = Writer { redactor: self, out: Vec::new(), looked: 0 };
        writer.value(json, DEPTH);
        let written = JsonBuf::parse(writer.out.into(), &Limits::DEFAULT);
        // What cannot be read is not shown. It is JSON, and a test says so of any.
        written.unwrap_or_else(|_| Json::NULL.into())
    }

    /// A text without its secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = scan::find(text, &self.known);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(scan::hidden(text, &spans, text.len()).0)
    }

    /// A member's name as it may be shown: some take what is secret for a name.
    pub fn name<'t>(&self, name: &'t str) -> Cow<'t, str> {
        match name.len() {
            ..=NAME => self.text(name),
            long => Cow::Owned(cut(long)),
        }
    }
}

struct Writer<'r> {
    redactor: &'r Redactor,
    out: Vec<u8>,
    looked: usize,
}

impl Writer<'_> {
    fn value(&mut self, json: Json<'_>, depth: usize) {
        match json.kind() {
            Kind::Object | Kind::Array if depth == 0 => self.cut(json.as_bytes().len()),
            Kind::Object => self.object(json, depth),
            Kind::Array => self.array(json, depth),
            Kind::String => self.string(json),
            Kind::Number => self.number(json),
            Kind::Boolean | Kind::Null => self.out.extend_from_slice(json.as_bytes()),
        }
    }

    fn object(&mut self, json: Json<'_>, depth: usize) {
        let beside = names::said_beside(json.members().take(MEMBERS));
        self.out.push(b'{');
        for (nth, member) in json.members().enumerate() {
            self.comma(nth);
            if nth == MEMBERS || self.is_full() {
                write::string(&mut self.out, "…");
                self.out.push(b':');
                self.cut(json.as_bytes().len() - member.range().start);
                break;
            }
            let named = names::of(member);
            let secret = names::said(named.as_deref(), beside) == Says::Secret;
            let shown = named.as_deref().map(|name| self.redactor.text(name));
            let shown = shown.unwrap_or_else(|| Cow::Owned(cut(member.key.raw().len())));
            write::string(&mut self.out, &shown);
            self.out.push(b':');
            match secret && can_be_secret(member.value) {
                true => write::string(&mut self.out, REDACTED),
                false => self.value(member.value, depth - 1),
            }
        }
        self.out.push(b'}');
    }

    fn array(&mut self, json: Json<'_>, depth: usize) {
        self.out.push(b'[');
        let mut seen = 0;
        for (nth, element) in json.elements().enumerate() {
            self.comma(nth);
            if nth == MEMBERS || self.is_full() {
                self.cut(json.as_bytes().len().saturating_sub(seen));
                break;
            }
            seen += element.as_bytes().len() + 1;
            self.value(element, depth - 1);
        }
        self.out.push(b']');
    }

    fn string(&mut self, json: Json<'_>) {
        // A secret that begins where the text is cut must be seen whole to be known. Written with
        // escapes, a text takes up to six times its length.
        let window = STRING + known::LONGEST;
        let Some((text, mut left)) = json.string_start(6 * window) else { return };
        let mut seen: &str = &text;
        if seen.len() > window {
            let end = seen.floor_char_boundary(window);
            left += seen.len() - end;
            seen = &seen[..end];
        }
        self.looked += seen.len();
        let spans = scan::find(seen, &self.redactor.known);
        let most = if left + seen.len() > STRING { STRING } else { seen.len() };
        let (mut shown, end) = scan::hidden(seen, &spans, most);
        left += seen.len() - end;
        if left > 0 {
            shown.push_str(&cut(left));
        }
        write::string(&mut self.out, &shown);
    }

    fn number(&mut self, json: Json<'_>) {
        let number = json.as_str();
        self.looked += number.len().min(DIGITS);
        if number.len() > DIGITS {
            self.cut(number.len());
        } else if self.redactor.known.is_in(number) {
            write::string(&mut self.out, REDACTED);
        } else {
            self.out.extend_from_slice(number.as_bytes());
        }
    }

    fn comma(&mut self, nth: usize) {
        if nth > 0 {
            self.out.push(b',');
        }
    }

    fn cut(&mut self, bytes: usize) {
        write::string(&mut self.out, &cut(bytes));
    }

    fn is_full(&self) -> bool {
        self.out.len() >= TOTAL || self.looked >= LOOKED
    }
}

/// What stands in the place of what is too long.
fn cut(bytes: usize) -> String {
    format!("[cut: {bytes} bytes]")
}

/// Nothing, and yes or no, are no secrets under any name.
fn can_be_secret(json: Json<'_>) -> bool {
    let is_empty = matches!(json.as_bytes(), b"\"\"" | b"[]" | b"{}");
    !is_empty && !matches!(json.kind(), Kind::Boolean | Kind::Null)
}
