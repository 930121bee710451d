//! Cutting what is too long for a model, with a note that says where the rest is. Never cuts
//! structured content: half of it would be taken for all of it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use switchboard_wire::{JsonBuf, method, output};

use crate::naming::READ_RESULT;
use crate::port::Call;
use crate::results::{self, Results};

/// A result that is short enough.
pub(crate) struct Trimmed {
    pub(crate) result: JsonBuf,
    /// Bytes of text that are missing.
    pub(crate) cut: usize,
}

/// The result, cut if it is a tool's and has more text than its server may say at once. Texts of
/// embedded resources count as text; images, sounds and links pass whole.
pub(crate) fn trim(call: &Call<'_>, result: JsonBuf, results: &Results) -> Trimmed {
    let limit = call.offer.max_output();
    let is_tools = matches!(call.method, method::TOOLS_CALL | method::TASKS_RESULT);
    if !is_tools || result.as_json().as_bytes().len() <= limit {
        return Trimmed { result, cut: 0 };
    }
    let json = result.as_json();
    let size = output::measure(json);
    let shortened = if size.structured > limit {
        let id = results.keep(call.who, output::full_text(json, size));
        let reason = too_large(size.structured, limit, id.as_ref(), results);
        output::failed(json, &reason).map(|failed| (failed, size.structured))
    } else if size.text > limit {
        let id = results.keep(call.who, output::full_text(json, size));
        let mut shown = 0;
        let note = |kept: usize| {
            shown = kept;
            cut_here(kept, size.text, id.as_ref(), results)
        };
        output::cut(json, limit, note).map(|cut| (cut, size.text - shown))
    } else {
        return Trimmed { result, cut: 0 };
    };
    match shortened {
        Ok((result, cut)) => Trimmed { result, cut },
        // Two readers could take different ones, so neither gets any.
        Err(repeated) => Trimmed {
            result: output::error_result(&format!("The result is too long, and {repeated}.")),
            cut: size.text.max(size.structured),
        },
    }
}

fn cut_here(kept: usize, total: usize, id: Option<&Arc<str>>, results: &Results) -> String {
    let rest = whereabouts(id, kept, results);
    format!("[Cut by Switchboard: {kept} of {total} bytes of text are shown. {rest}]")
}

fn too_large(size: usize, limit: usize, id: Option<&Arc<str>>, results: &Results) -> String {
    let rest = whereabouts(id, 0, results);
    format!(
        "The structured result has {size} bytes, {limit} are allowed, and half of it would be \
         misleading. {rest}"
    )
}

fn whereabouts(id: Option<&Arc<str>>, from: usize, results: &Results) -> String {
    match id {
        Some(id) => format!(
            "To read on, call the tool `{READ_RESULT}` with {{\"id\":\"{id}\",\"offset\":{from}}} \
             within {} minutes; all of it is the resource {}.",
            results.minutes(),
            results::uri(id),
        ),
        None => "It is too long to be kept: ask for less at once.".to_owned(),
    }
}
