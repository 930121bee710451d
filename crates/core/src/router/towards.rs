//! What goes towards the caller under the caller's names: results, and what servers tell meanwhile.
//! Every byte that is no such name stays.

use switchboard_model::ServerKey;
use switchboard_wire::output::{self, Hit, Place};
use switchboard_wire::{Era, JsonBuf, method};

use super::resolve::{Way, bounded, no_resource};
use super::{Request, Router};
use crate::port::{CallError, Caller, Thing, Who};
use crate::registry::{Part, View};

impl Router {
    /// The server behind a URI of this view, and the server's own URI: for subscriptions. `None` also for a URI that
    /// is too long to be kept.
    pub fn resource(&self, view: &View, uri: &str) -> Option<(ServerKey, String)> {
        bounded(Thing::Resource, uri).ok()?;
        let place = view.place(uri)?;
        Some((place.part.key.clone(), place.uri))
    }

    /// Why a URI leads to no server.
    pub fn no_resource(&self, view: &View, uri: &str) -> CallError {
        no_resource(view, uri)
    }

    /// What a reader of this view calls a server's own URI, listed or not. `None` if they do not see the server.
    pub fn called(&self, view: &View, server: &ServerKey, uri: &str) -> Option<String> {
        let part = view.part(server)?;
        Some(view.uri(part, uri).unwrap_or_else(|| uri.to_owned()))
    }

    /// The server that a request leads to for this caller as things are now; the hub's own for what it
    /// answers itself. `None` if it leads nowhere.
    pub fn leads(&self, request: &Request<'_>) -> Option<ServerKey> {
        match self.resolve(request).ok()? {
            Way::Server(target) => Some(target.part.key.clone()),
            Way::Kept(_) => Some(super::own::house().clone()),
        }
    }

    /// The server behind an id of a task that this caller was given, and the server's own id.
    pub fn task(&self, view: &View, who: &Who, id: &str) -> Option<(ServerKey, String)> {
        let opened = self.0.seal.open(view, who, id)?;
        Some((opened.part.key.clone(), opened.id.to_owned()))
    }

    /// A result as the caller may read it.
    pub(super) fn towards(
        &self,
        view: &View,
        who: &Who,
        part: &Part,
        method: &str,
        result: JsonBuf,
    ) -> JsonBuf {
        let place = match method {
            method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => Place::Task,
            _ => Place::Result,
        };
        let Some(told) = self.rewritten(view, who, part, place, &result) else { return result };
        self.begin(who, part, method, result.as_json(), told.as_json());
        told
    }

    /// The same in the caller's words.
    pub(super) fn renamed(
        &self,
        view: &View,
        who: &Who,
        part: &Part,
        place: Place,
        json: JsonBuf,
    ) -> JsonBuf {
        self.rewritten(view, who, part, place, &json).unwrap_or(json)
    }

    fn rewritten(
        &self,
        view: &View,
        who: &Who,
        part: &Part,
        place: Place,
        json: &JsonBuf,
    ) -> Option<JsonBuf> {
        let name = |hit: Hit<'_>| match hit {
            Hit::Uri(uri) => view.uri(part, uri),
            Hit::Task(id) => self.0.seal.close(who, part, id),
        };
        output::rewritten(json.as_json(), place, &name)
    }
}

/// A result without what the caller's revision cannot say. Only servers that may say such a thing are looked at.
pub(super) fn fitting(part: &Part, method: &str, caller: &Caller, result: JsonBuf) -> JsonBuf {
    let in_session = caller.revision.is_some_and(|revision| revision.era() == Era::Session);
    if !in_session || !part.answers_widely() {
        return result;
    }
    match method {
        method::TOOLS_CALL | method::TASKS_RESULT => {
            output::narrow_result(result.as_json()).unwrap_or(result)
        }
        _ => result,
    }
}
