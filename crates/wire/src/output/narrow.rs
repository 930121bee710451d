//! Tools and their results as revisions before 2026-07-28 have them: structured content is an object, and an
//! output schema is one of an object. Takes away what is not, and changes nothing else.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{Json, JsonBuf};
use crate::peek::may_hide;
use crate::rewrite::{Edit, Repeated, edited};

use super::list::List;
use super::text::{error_result, text_block};

const CONTENT: &str = "structuredContent";

/// A tool without its output schema.
pub fn narrow_tool(tool: Json<'_>) -> Option<JsonBuf> {
    // One whose schema is there twice was refused when it was read.
    edited(tool, &[Edit::remove("outputSchema")]).ok()
}

/// A tool's result whose structured content is no object, without it; what it says becomes a text if the result has
/// none. `None` if nothing changes.
pub fn narrow_result(result: Json<'_>) -> Option<JsonBuf> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(CONTENT));
    if NAME.find(result.as_bytes()).is_none() && !may_hide(result) {
        return None;
    }
    let mut all = result.members().filter(|member| member.key.is(CONTENT));
    let odd = all.find(|member| !member.value.is_object())?.value;
    let told = narrowed(result, odd);
    Some(told.unwrap_or_else(|repeated| {
        error_result(&format!("The server's result cannot be passed on: {repeated}."))
    }))
}

fn narrowed(result: Json<'_>, odd: Json<'_>) -> Result<JsonBuf, Repeated> {
    let [content] = result.pick(["content"])?;
    let blocks = || content.into_iter().flat_map(Json::elements);
    let is_text = |block: Json<'_>| block.get("type").is_some_and(|kind| kind.is_plainly("text"));
    if blocks().any(is_text) {
        return edited(result, &[Edit::remove(CONTENT)]);
    }
    let mut list = List::default();
    blocks().for_each(|block| list.push(block));
    list.push(text_block(odd.as_str()).as_json());
    let content = list.end();
    edited(result, &[Edit::set("content", content.as_json()), Edit::remove(CONTENT)])
}
