//! A server of revision 2025-11-25 that wants pages opened first says so by an error, which is the end of the call.
//! Towards a client of the stateless era, which has no such error, it is a question: the client gets a state and
//! comes back with it, and the call is made anew. Keeps nothing, and opens no page.

use switchboard_core::port::{CallError, RpcError};
use switchboard_wire::{Edit, IdBuf, Json, JsonBuf, ParamsBuf, code, method, peek, rewrite, write};

use super::asks_back;
use crate::endpoint::Inner;
use crate::port::Speech;
use crate::reply::{Reply, lacking};
use crate::running::Task;

/// More pages than anybody opens for one call.
const MOST: usize = 16;

impl Inner {
    /// The client is sent to the pages that this error names; `None` if it names none, or is for a client that
    /// knows the error.
    pub(crate) fn send_to_pages(&self, task: &Task, error: &CallError) -> Option<Reply> {
        let Speech::Stateless { capabilities, .. } = &task.asker.speech else { return None };
        let CallError::Rpc(error) = error else { return None };
        if error.code != code::URL_ELICITATION_REQUIRED || !asks_back(task.method) {
            return None;
        }
        let pages = pages(error)?;
        let id = task.id.as_id();
        if !capabilities.has(&["elicitation", "url"]) {
            let needed = write::object(|all| {
                all.object("elicitation", |group| group.raw("url", Json::EMPTY));
            });
            return Some(lacking(id, &needed));
        }
        let count = i64::try_from(pages.len()).ok()?;
        let params = task.params.as_json();
        let state = self.close_state(&task.asker, task.method, params, |plain| {
            plain.integer("w", count);
        })?;
        let result = write::object(|result| {
            result.text("resultType", "input_required");
            result.object("inputRequests", |all| {
                for (nth, page) in pages.iter().enumerate() {
                    all.object(&key(nth), |request| {
                        request.text("method", method::ELICIT);
                        request.raw("params", page.as_json());
                    });
                }
            });
            result.text("requestState", &state);
        });
        Some(self.scribe.result(id, task.asker.era(), task.method, result.as_json()))
    }

    /// A client comes back from so many pages: what its server is sent now. What is missing among its answers is
    /// asked for again by the server, which alone knows what it still needs.
    pub(super) fn come_back(
        &self,
        count: usize,
        id: &IdBuf,
        method: &str,
        params: &JsonBuf,
    ) -> Result<ParamsBuf, Reply> {
        let answers = peek::input_responses(params.as_json()).unwrap_or(Json::EMPTY);
        let refuses = |nth| {
            let action = answers.get(&key(nth)).and_then(|answer| answer.get("action")?.string());
            action.is_some_and(|action| action != "accept")
        };
        let fail = |error: &CallError| {
            let era = switchboard_wire::Era::Stateless;
            self.scribe.failure(id.as_id(), era, method, (error, None), None)
        };
        if (0..count).any(refuses) {
            let reason = "the user did not open the page that its server wants opened first";
            return Err(fail(&CallError::Denied { reason: reason.to_owned() }));
        }
        let without = [Edit::remove("inputResponses"), Edit::remove("requestState")];
        let sent = rewrite::edited(params.as_json(), &without);
        sent.map(ParamsBuf::from).map_err(|repeated| fail(&CallError::Params(repeated)))
    }
}

/// The pages that an error names, as the stateless era asks for one: they have no names there.
fn pages(error: &RpcError) -> Option<Vec<JsonBuf>> {
    let pages = error.data()?.get("elicitations")?.elements().take(MOST);
    let pages = pages.map(|page| {
        page.get("url")?.string()?;
        let edits = [Edit::text("mode", "url"), Edit::remove("elicitationId")];
        rewrite::edited(page, &edits).ok()
    });
    let pages: Option<Vec<JsonBuf>> = pages.collect();
    pages.filter(|pages| !pages.is_empty())
}

fn key(nth: usize) -> String {
    format!("input-{}", nth + 1)
}
