//! A result as the stateless era wants it: it says what it is, and who gives it. Never looks into what it holds.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::Json;
use crate::meta;
use crate::peek::may_hide;
use crate::rewrite::{self, Edit, Repeated};
use crate::write;

/// How most results begin that say what they are.
const FIRST: &[u8] = b"{\"resultType\":\"complete\"";

/// Who gives results, written once.
pub struct Giver {
    info: crate::JsonBuf,
    /// `"_meta":{…}`, and the same behind what the result is.
    end: Box<[u8]>,
    whole_end: Box<[u8]>,
}

impl Giver {
    /// `info` is a `serverInfo`.
    pub fn new(info: crate::JsonBuf) -> Self {
        let meta = |out: &mut write::Object<'_>| {
            out.object(meta::META, |meta| meta.raw(meta::SERVER_INFO, info.as_json()));
        };
        let end = write::object(meta);
        let whole_end = write::object(|out| {
            out.text("resultType", "complete");
            meta(out);
        });
        let inside = |object: &crate::JsonBuf| {
            let bytes = object.as_json().as_bytes();
            bytes[1..bytes.len() - 1].into()
        };
        Self { end: inside(&end), whole_end: inside(&whole_end), info }
    }

    /// Appends a result; one that does not say what it is, is complete.
    pub fn give(&self, out: &mut Vec<u8>, result: Json<'_>) -> Result<(), Repeated> {
        let Some(end) = self.end_of(result) else {
            let info = [Edit::set(meta::SERVER_INFO, self.info.as_json())];
            let complete = Json::trusted(b"\"complete\"");
            let edits = [Edit::default("resultType", complete), Edit::inside(meta::META, &info)];
            return rewrite::edit(out, result, &edits);
        };
        let bytes = result.as_bytes();
        let inside = bytes[..bytes.len() - 1].trim_ascii_end();
        out.extend_from_slice(inside);
        if inside.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(end);
        out.extend_from_slice(&bytes[inside.len()..]);
        Ok(())
    }

    /// What a result ends with that has no `_meta` of its own, and says at most once what it is.
    fn end_of(&self, result: Json<'_>) -> Option<&[u8]> {
        static META: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"_meta\""));
        static KIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"resultType\""));
        let bytes = result.as_bytes();
        let is_plain = result.is_object() && META.find(bytes).is_none() && !may_hide(result);
        if !is_plain {
            return None;
        }
        if let Some(rest) = bytes.strip_prefix(FIRST) {
            return KIND.find(rest).is_none().then_some(&self.end);
        }
        match KIND.find(bytes) {
            None => Some(&self.whole_end),
            Some(at) if KIND.find(&bytes[at + 1..]).is_some() => None,
            // It may be that of something inside.
            Some(_) if result.first("resultType").is_none() => None,
            Some(_) => Some(&self.end),
        }
    }
}
