//! What a hub says of itself in `_meta` of the params that it sends on. All other bytes stay, and none is walked over.

use super::{
    CAPABILITIES, INFO, INPUT_RESPONSES, META, PROGRESS, Params, REQUEST_STATE, Span, VERSION,
};
use crate::id::push_number;
use crate::json::{Json, push_string};
use crate::meta;
use crate::rewrite::{self, Edit, Repeated};

/// What is said.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'s> {
    /// Under which number progress is to be told; without one, it is not.
    pub progress: Option<u64>,
    /// What the stateless era wants said; the session era wants none of it.
    pub about: Option<About<'s>>,
}

/// Who speaks, to a server of the stateless era.
#[derive(Clone, Copy, Debug)]
pub struct About<'s> {
    /// The revision.
    pub version: &'static str,
    /// What the client behind the request can do.
    pub capabilities: Json<'s>,
    /// Who asks, where the client behind the request does not say so itself.
    pub info: Json<'s>,
}

/// A value that comes into `_meta`.
#[derive(Clone, Copy)]
enum New<'s> {
    Text(&'s str),
    Number(u64),
    Raw(Json<'s>),
}

impl New<'_> {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => push_string(out, text),
            Self::Number(number) => push_number(out, number),
            Self::Raw(json) => out.extend_from_slice(json.as_bytes()),
        }
    }
}

impl Params<'_> {
    /// Appends the params as they go to a server.
    pub fn stamped(&self, out: &mut Vec<u8>, stamp: &Stamp<'_>) -> Result<(), Repeated> {
        self.once()?;
        let meta = self.outline.params[META];
        let is_object = self.json.as_bytes().get(meta.range().start) == Some(&b'{');
        let is_plain = match stamp.about {
            Some(_) => stamp.progress.is_some() || !self.outline.meta[PROGRESS].is_there(),
            // Something has to go.
            None => {
                let odd = [META, REQUEST_STATE, INPUT_RESPONSES];
                !odd.iter().any(|at| self.outline.params[*at].is_there())
            }
        };
        if !self.json.is_object() || (meta.is_there() && !is_object) || !is_plain {
            return self.edited(out, stamp);
        }
        self.spliced(out, stamp);
        Ok(())
    }

    fn spliced(&self, out: &mut Vec<u8>, stamp: &Stamp<'_>) {
        let (bytes, spans) = (self.json.as_bytes(), &self.outline.meta);
        out.reserve(bytes.len() + 256);
        let mut news = [None; 4];
        if let Some(number) = stamp.progress {
            news[0] = Some((PROGRESS, meta::PROGRESS_TOKEN, New::Number(number)));
        }
        if let Some(about) = stamp.about {
            let said = |at: usize| self.part(spans[at]);
            // A client of the stateless era nearly always says itself what is to be said.
            if !said(VERSION).is_some_and(|said| said.is_plainly(about.version)) {
                news[1] = Some((VERSION, meta::PROTOCOL_VERSION, New::Text(about.version)));
            }
            let able = about.capabilities;
            if said(CAPABILITIES).is_none_or(|said| said.as_bytes() != able.as_bytes()) {
                news[2] = Some((CAPABILITIES, meta::CLIENT_CAPABILITIES, New::Raw(able)));
            }
            if !spans[INFO].is_there() {
                news[3] = Some((INFO, meta::CLIENT_INFO, New::Raw(about.info)));
            }
        }
        let whole = self.outline.params[META];
        // What is there is replaced in its place, in the order of the places.
        let mut there: [(Span, New<'_>); 4] = [(Span::default(), New::Number(0)); 4];
        let mut count = 0;
        for (at, _, new) in news.iter().flatten().filter(|(at, ..)| spans[*at].is_there()) {
            there[count] = (spans[*at], *new);
            count += 1;
        }
        there[..count].sort_unstable_by_key(|(span, _)| span.start);
        let mut done = 0;
        for (span, new) in &there[..count] {
            out.extend_from_slice(&bytes[done..span.range().start]);
            new.write(out);
            done = span.range().end;
        }
        // What is not comes behind the last member.
        let outer = if whole.is_there() { whole.range().end } else { bytes.len() };
        let last = bytes[..outer - 1].trim_ascii_end().len();
        out.extend_from_slice(&bytes[done..last]);
        let absent = news.iter().flatten().filter(|(at, ..)| !spans[*at].is_there());
        if !whole.is_there() {
            open(out, absent.clone().count());
        }
        for (_, key, new) in absent {
            comma(out);
            push_string(out, key);
            out.push(b':');
            new.write(out);
        }
        if !whole.is_there() && news.iter().any(Option::is_some) {
            out.push(b'}');
        }
        out.extend_from_slice(&bytes[last..]);
    }

    /// The slow way, for params that have more to be taken out.
    pub(super) fn edited(&self, out: &mut Vec<u8>, stamp: &Stamp<'_>) -> Result<(), Repeated> {
        let progress = match stamp.progress {
            Some(number) => Edit::number(meta::PROGRESS_TOKEN, number),
            None => Edit::remove(meta::PROGRESS_TOKEN),
        };
        if let Some(about) = stamp.about {
            let inside = [
                progress,
                Edit::text(meta::PROTOCOL_VERSION, about.version),
                Edit::set(meta::CLIENT_CAPABILITIES, about.capabilities),
                Edit::default(meta::CLIENT_INFO, about.info),
            ];
            return rewrite::edit(out, self.json, &[Edit::inside(meta::META, &inside)]);
        }
        let inside = [
            progress,
            Edit::remove(meta::PROTOCOL_VERSION),
            Edit::remove(meta::CLIENT_CAPABILITIES),
            Edit::remove(meta::CLIENT_INFO),
            Edit::remove(meta::LOG_LEVEL),
        ];
        // What its era does not have, it may take for a mistake.
        let edits = [
            Edit::inside(meta::META, &inside),
            Edit::remove("inputResponses"),
            Edit::remove("requestState"),
        ];
        rewrite::edit(out, self.json, &edits)
    }
}

/// Begins a `_meta` that was not there, if anything comes into it.
fn open(out: &mut Vec<u8>, members: usize) {
    if members > 0 {
        comma(out);
        push_string(out, meta::META);
        out.extend_from_slice(b":{");
    }
}

/// A comma, unless what stands before is the beginning.
fn comma(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}
