//! Reading kept results through the hub's own tool and resource.

use switchboard_wire::types::{CallParams, Entry as _, TemplateEntry, ToolEntry};
use switchboard_wire::{Json, JsonBuf, Limits, output};

use super::Results;
use crate::naming::READ_RESULT;
use crate::port::{CallError, Thing, Who};
use crate::router::Kept;

/// How the URIs of all of them begin.
pub(crate) const URI: &str = "switchboard://results/";
/// The template of them.
pub(crate) const FAMILY: &str = "switchboard://results/{id}";
const OFFSET: &str = "?offset=";
const PLAIN: &str = "text/plain";

/// The definition of the tool, for the hub's own offer.
pub fn tool() -> Option<ToolEntry> {
    let schema = br#"{"type":"object","properties":{"id":{"type":"string","description":"The id that the note at the end of a cut result gives."},"offset":{"type":"integer","minimum":0,"default":0,"description":"The byte to begin at."}},"required":["id"],"additionalProperties":false}"#;
    let schema = Json::parse(schema, &Limits::DEFAULT).ok()?;
    let description = "Reads the rest of a result that was too long, page by page.";
    ToolEntry::read(output::reading_tool(READ_RESULT, description, schema)).ok()
}

/// The family of resources that kept results are, for the hub's own offer.
pub fn template() -> Option<TemplateEntry> {
    let description = "All of a result that was too long, by the id that the note at its end gives; \
                       with ?offset= and a number of bytes, one page of it, whose _meta says where \
                       the next one begins (switchboard/next).";
    TemplateEntry::read(output::text_template(FAMILY, "result", description)).ok()
}

/// The resource that is a kept result.
pub(crate) fn uri(id: &str) -> String {
    [URI, id].concat()
}

/// Whether a URI is that of a kept result.
pub(crate) fn is_uri(uri: &str) -> bool {
    uri.starts_with(URI)
}

impl Results {
    /// Answers the tool's call or the reading of the resource.
    pub(crate) fn answer(
        &self,
        who: &Who,
        kept: &Kept<'_>,
        params: Json<'_>,
    ) -> Result<JsonBuf, CallError> {
        match kept {
            Kept::Tool => self.answer_tool(who, params),
            Kept::Resource(uri) => self.answer_resource(who, uri),
        }
    }

    /// Whether a URI is that of a result which is kept for this caller.
    pub(crate) fn keeps(&self, who: &Who, uri: &str) -> bool {
        let id =
            uri.strip_prefix(URI).map(|rest| rest.split_once(OFFSET).map_or(rest, |(id, _)| id));
        id.is_some_and(|id| self.whole(who, id).is_some())
    }

    fn answer_tool(&self, who: &Who, params: Json<'_>) -> Result<JsonBuf, CallError> {
        let arguments = CallParams::read(params)?.arguments.unwrap_or(Json::EMPTY);
        let [id, offset] = arguments.pick(["id", "offset"])?;
        let Some(id) = id.and_then(Json::string) else {
            return Ok(output::error_result(
                "The argument `id` is missing: a cut result's note has it.",
            ));
        };
        let from = match offset.filter(|offset| !offset.is_null()).map(Json::integer) {
            None => 0,
            Some(Some(from @ 0..)) => usize::try_from(from).unwrap_or(usize::MAX),
            Some(_) => {
                return Ok(output::error_result(
                    "The argument `offset` is a number of bytes, 0 or more.",
                ));
            }
        };
        let Some(page) = self.read(who, &id, from) else {
            return Ok(output::error_result(&format!(
                "There is no kept result `{id}`; results are kept for {} minutes. Call the tool \
                 that made it again.",
                self.minutes()
            )));
        };
        let place = format!("[Bytes {} to {} of {}.", page.from, page.to, page.total);
        let note = if page.to < page.total {
            format!("{place} Go on with \"offset\":{}.]", page.to)
        } else {
            format!("{place} This is the end.]")
        };
        Ok(output::text_result(&[&page.text, &note]))
    }

    /// All of it, or with `?offset=` one page.
    fn answer_resource(&self, who: &Who, uri: &str) -> Result<JsonBuf, CallError> {
        let none = || CallError::NotFound { thing: Thing::Result, name: uri.to_owned() };
        let rest = uri.strip_prefix(URI).ok_or_else(none)?;
        match rest.split_once(OFFSET) {
            None => {
                let text = self.whole(who, rest).ok_or_else(none)?;
                Ok(output::read_result(uri, PLAIN, &text))
            }
            Some((id, offset)) => {
                let from = offset.parse().map_err(|_| none())?;
                let page = self.read(who, id, from).ok_or_else(none)?;
                let bytes = page.from..page.to;
                Ok(output::read_part(uri, PLAIN, &page.text, bytes, page.total))
            }
        }
    }
}
