//! Cutting what is too long for a model, with a note that says where the rest is. Never cuts
//! structured content: half of it would be taken for all of it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use switchboard_wire::{Edit, JsonBuf, method, output, rewrite};

use crate::naming::READ_RESULT;
use crate::port::{Call, CallError, RpcError};
use crate::registry::{Home, View};
use crate::results::{self, Results};

/// A result that is short enough.
pub(crate) struct Trimmed {
    pub(crate) result: JsonBuf,
    /// Bytes of text that are missing.
    pub(crate) cut: usize,
}

/// The result, cut if it is a tool's and has more text than its server may say at once. Texts of
/// embedded resources count as text; images, sounds and links pass whole, and so do resources and
/// prompts that somebody asked for by name: half a page, program or instruction is none.
pub(crate) fn trim(call: &Call<'_>, view: &View, result: JsonBuf, results: &Results) -> Trimmed {
    let limit = call.offer.max_output();
    if result.as_json().as_bytes().len() <= limit {
        return Trimmed { result, cut: 0 };
    }
    let keeping = Keeping { call, view, results, limit };
    match call.method {
        method::TOOLS_CALL | method::TASKS_RESULT => keeping.shorten(result),
        method::TASKS_GET => keeping.shorten_inside(result),
        _ => Trimmed { result, cut: 0 },
    }
}

/// A server's error that says no more than its server may at once. Of one that says more, the code
/// stays and its message begins; its data, of which half would be misleading, is where the rest is.
pub(crate) fn failure(
    call: &Call<'_>,
    view: &View,
    error: CallError,
    results: &Results,
) -> CallError {
    let limit = call.offer.max_output();
    let CallError::Rpc(RpcError { code, message, raw }) = error else { return error };
    let said = raw.as_json().as_str();
    if said.len() <= limit {
        return RpcError { code, message, raw }.into();
    }
    let keeping = Keeping { call, view, results, limit };
    let id = results.keep(call.who, said.to_owned());
    let (size, rest) = (said.len(), keeping.whereabouts(id.as_ref(), 0));
    let shown = &message[..message.floor_char_boundary(limit)];
    let text = format!("{shown}\n[Cut by Switchboard: the error has {size} bytes. {rest}]");
    RpcError::new(code, &text).into()
}

/// Where what is cut goes.
struct Keeping<'k> {
    call: &'k Call<'k>,
    view: &'k View,
    results: &'k Results,
    limit: usize,
}

impl Keeping<'_> {
    fn shorten(&self, result: JsonBuf) -> Trimmed {
        let (json, limit) = (result.as_json(), self.limit);
        let size = output::measure(json);
        let shortened = if size.structured > limit {
            let id = self.results.keep(self.call.who, output::full_result(json));
            let reason = self.too_large(size.structured, id.as_ref());
            output::failed(json, &reason).map(|failed| (failed, size.structured + size.text))
        } else if size.text > limit {
            let id = self.results.keep(self.call.who, output::full_text(json, size));
            let mut shown = 0;
            let note = |kept: usize| {
                shown = kept;
                self.cut_here(kept, size.text, id.as_ref())
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

    /// A task that is done has its tool's result inside.
    fn shorten_inside(&self, task: JsonBuf) -> Trimmed {
        let Some(inner) = task.as_json().get("result") else {
            return Trimmed { result: task, cut: 0 };
        };
        let shortened = self.shorten(inner.into());
        if shortened.cut == 0 {
            return Trimmed { result: task, cut: 0 };
        }
        let inside = [Edit::set("result", shortened.result.as_json())];
        let result = rewrite::edited(task.as_json(), &inside).unwrap_or_else(|repeated| {
            output::error_result(&format!("The result is too long, and {repeated}."))
        });
        Trimmed { result, cut: shortened.cut }
    }

    fn cut_here(&self, kept: usize, total: usize, id: Option<&Arc<str>>) -> String {
        let rest = self.whereabouts(id, kept);
        format!("[Cut by Switchboard: {kept} of {total} bytes of text are shown. {rest}]")
    }

    fn too_large(&self, size: usize, id: Option<&Arc<str>>) -> String {
        let (limit, rest) = (self.limit, self.whereabouts(id, 0));
        format!(
            "The structured result has {size} bytes, {limit} are allowed, and half of it would be \
             misleading. {rest}"
        )
    }

    fn whereabouts(&self, id: Option<&Arc<str>>, from: usize) -> String {
        let Some(id) = id else {
            return "It is too long to be kept: ask for less at once.".to_owned();
        };
        let (uri, minutes) = (results::uri(id), self.results.minutes());
        // A server's own door has nothing of the hub's, and perhaps a tool of that name.
        let listed = self.view.tool_at(READ_RESULT);
        match listed.is_some_and(|(part, _)| part.offer.home == Home::Hub) {
            true => format!(
                "To read on, call the tool `{READ_RESULT}` with {{\"id\":\"{id}\",\"offset\":{from}}} \
                 within {minutes} minutes; all of it is the resource {uri}.",
            ),
            false => format!(
                "To read on, read the resource {uri}?offset={from} within {minutes} minutes; all of \
                 it is the resource {uri}.",
            ),
        }
    }
}
