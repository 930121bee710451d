//! The texts of a tool's result: how much there is, all of it, or its beginning. Never cuts inside
//! of a character, and never touches what is not text.

use std::ops::Range;

use crate::json::{Json, JsonBuf, Kind};
use crate::meta::META;
use crate::rewrite::{Edit, Repeated, edited};
use crate::write::{self, object};

use super::list::List;
use super::splice::Splice;

/// How large a result is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes of all its texts, with a line's end between two.
    pub text: usize,
    /// Bytes of its structured content.
    pub structured: usize,
}

/// How large a tool's result is. Texts of embedded resources count, images and sounds do not.
pub fn measure(result: Json<'_>) -> Size {
    let mut size = Size::default();
    for member in result.members() {
        if member.key.is("content") {
            size.text = texts(member.value).map(|text| length(text) + 1).sum();
        } else if member.key.is("structuredContent") && !member.value.is_null() {
            size.structured = member.value.as_bytes().len();
        }
    }
    size.text = size.text.saturating_sub(1);
    size
}

/// All texts of a result, one after the other.
pub fn full_text(result: Json<'_>, size: Size) -> String {
    let mut full = String::with_capacity(size.text);
    for (nth, text) in result.get("content").into_iter().flat_map(texts).enumerate() {
        if nth > 0 {
            full.push('\n');
        }
        full.push_str(&text.string_lossy().unwrap_or_default());
    }
    full
}

/// All texts of a result and then its structured content, as it came. Many servers also say the
/// latter as a text: such a text is not repeated.
pub fn full_result(result: Json<'_>) -> String {
    let structured = result.get("structuredContent").map_or("", |content| content.as_str());
    let mut full = String::new();
    for text in result.get("content").into_iter().flat_map(texts) {
        let text = text.string_lossy().unwrap_or_default();
        if text != structured {
            full.push_str(&text);
            full.push('\n');
        }
    }
    full + structured
}

/// The result with the first `limit` bytes of [`full_text`] at most, and a note at the end that is
/// told how many there are. Blocks without text stay.
pub fn cut(
    result: Json<'_>,
    limit: usize,
    note: impl FnOnce(usize) -> String,
) -> Result<JsonBuf, Repeated> {
    let [content] = result.pick(["content"])?;
    let mut list = List::default();
    let (mut at, mut kept, mut is_cut) = (0, 0, false);
    for block in content.into_iter().flat_map(Json::elements) {
        let Some(text) = text_of(block) else {
            list.push(block);
            continue;
        };
        is_cut |= at > limit;
        if is_cut {
            continue;
        }
        let (bytes, taken) = beginning(text, limit - at);
        is_cut = bytes.len() + 1 < text.as_bytes().len();
        if is_cut && taken == 0 {
            continue;
        }
        kept = at + taken;
        at = kept + 1;
        let mut splice = Splice::of(block);
        splice.raw(text, &[bytes, b"\""]);
        if let Some(block) = splice.end() {
            list.push(block.as_json());
        }
    }
    list.push(text_block(&note(kept)).as_json());
    edited(result, &[Edit::set("content", list.end().as_json())])
}

/// The result as one that failed for this reason, without its texts and structured content. Blocks
/// without text stay.
pub fn failed(result: Json<'_>, reason: &str) -> Result<JsonBuf, Repeated> {
    let [content] = result.pick(["content"])?;
    let mut list = List::default();
    list.push(text_block(reason).as_json());
    for block in content.into_iter().flat_map(Json::elements) {
        if text_of(block).is_none() {
            list.push(block);
        }
    }
    let content = list.end();
    let edits = [
        Edit::set("content", content.as_json()),
        Edit::remove("structuredContent"),
        Edit::set("isError", Json::trusted(b"true")),
    ];
    edited(result, &edits)
}

/// A tool's result that is these texts.
pub fn text_result(texts: &[&str]) -> JsonBuf {
    let blocks: Vec<JsonBuf> = texts.iter().map(|text| text_block(text)).collect();
    object(|result| result.raws("content", blocks.iter().map(JsonBuf::as_json)))
}

/// A tool's result that says why it failed.
pub fn error_result(reason: &str) -> JsonBuf {
    object(|result| {
        result.raws("content", [text_block(reason).as_json()]);
        result.boolean("isError", true);
    })
}

/// The result of reading a resource that is a text.
pub fn read_result(uri: &str, mime: &str, text: &str) -> JsonBuf {
    let content = object(|content| {
        content.text("uri", uri);
        content.text("mimeType", mime);
        content.text("text", text);
    });
    object(|result| result.raws("contents", [content.as_json()]))
}

/// The same of a part of it, which `_meta` says: from which byte to which, of how many, and where the
/// next one begins, if there is one.
pub fn read_part(uri: &str, mime: &str, text: &str, bytes: Range<usize>, total: usize) -> JsonBuf {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let content = object(|content| {
        content.text("uri", uri);
        content.text("mimeType", mime);
        content.text("text", text);
        content.object(META, |meta| {
            meta.integer("switchboard/from", number(bytes.start));
            meta.integer("switchboard/to", number(bytes.end));
            meta.integer("switchboard/total", number(total));
            if bytes.end < total {
                meta.integer("switchboard/next", number(bytes.end));
            }
        });
    });
    object(|result| result.raws("contents", [content.as_json()]))
}

/// The result of completing what there are no suggestions for.
pub fn no_suggestions() -> JsonBuf {
    object(|result| result.object("completion", |completion| completion.raws("values", [])))
}

/// The definition of a tool that only reads what the hub itself has.
pub fn reading_tool(name: &str, description: &str, schema: Json<'_>) -> JsonBuf {
    object(|tool| {
        tool.text("name", name);
        tool.text("description", description);
        tool.raw("inputSchema", schema);
        tool.object("annotations", |hints| {
            hints.boolean("readOnlyHint", true);
            hints.boolean("openWorldHint", false);
        });
    })
}

/// The definition of a family of resources that are texts.
pub fn text_template(template: &str, name: &str, description: &str) -> JsonBuf {
    object(|family| {
        family.text("uriTemplate", template);
        family.text("name", name);
        family.text("description", description);
        family.text("mimeType", "text/plain");
    })
}

pub(super) fn text_block(text: &str) -> JsonBuf {
    write::object(|block| {
        block.text("type", "text");
        block.text("text", text);
    })
}

fn texts(content: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    content.elements().filter_map(text_of)
}

/// The text of a block, its own or that of the resource in it.
fn text_of(block: Json<'_>) -> Option<Json<'_>> {
    let text = match block.get("type")?.string()?.as_ref() {
        "text" => block.get("text"),
        "resource" => block.get("resource")?.get("text"),
        _ => None,
    };
    text.filter(|text| text.kind() == Kind::String)
}

/// Bytes of the text that a string means; half a surrogate pair counts as what replaces it.
fn length(string: Json<'_>) -> usize {
    units(string).map(|(_, bytes)| bytes).sum()
}

/// The beginning of a string, without its closing quote, that means at most `room` bytes of text;
/// and how many it does.
fn beginning(string: Json<'_>, room: usize) -> (&[u8], usize) {
    let (mut raw, mut taken) = (1, 0);
    for (length, bytes) in units(string) {
        if taken + bytes > room {
            break;
        }
        raw += length;
        taken += bytes;
    }
    (&string.as_bytes()[..raw], taken)
}

/// The characters of a string: how many bytes each has as it is written, and as text.
fn units(string: Json<'_>) -> impl Iterator<Item = (usize, usize)> {
    let bytes = string.as_bytes();
    let mut rest = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
    std::iter::from_fn(move || {
        let unit = unit(rest)?;
        rest = rest.get(unit.0..)?;
        Some(unit)
    })
}

fn unit(rest: &[u8]) -> Option<(usize, usize)> {
    let first = *rest.first()?;
    Some(match (first, rest.get(1)) {
        (b'\\', Some(b'u')) => match (hex(rest, 2), hex(rest, 8)) {
            (0xD800..0xDC00, 0xDC00..0xE000) if rest.get(6..8) == Some(b"\\u") => (12, 4),
            (0..0x80, _) => (6, 1),
            (0x80..0x800, _) => (6, 2),
            _ => (6, 3),
        },
        (b'\\', _) => (2, 1),
        (0..0x80, _) => (1, 1),
        (0..0xE0, _) => (2, 2),
        (0..0xF0, _) => (3, 3),
        _ => (4, 4),
    })
}

fn hex(rest: &[u8], at: usize) -> u32 {
    let digits = rest.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default()
}
