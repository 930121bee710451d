//! Where URIs and ids of tasks stand in what a server sends, so that a hub can put its own there.
//! A member that is there twice is changed twice: no reader finds the other one.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{Json, JsonBuf};
use crate::{meta, peek};

use super::splice::Splice;

/// What is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An entry of a list: only what it refers to.
    Entry,
    /// The result of a call: contents, messages, handles of tasks.
    Result,
    /// The result of a request about a task.
    Task,
    /// The params of a notification.
    Notice,
}

/// Something that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit<'h> {
    /// The URI of a resource.
    Uri(&'h str),
    /// The id of a task.
    Task(&'h str),
}

/// The value with other URIs and ids, where `map` gives some; `None` if nothing changes.
pub fn rewritten(
    json: Json<'_>,
    place: Place,
    map: &dyn Fn(Hit<'_>) -> Option<String>,
) -> Option<JsonBuf> {
    if !may_have(json, &*NAMES) && !peek::may_hide(json) {
        return None;
    }
    let mut visit = Visit { splice: Splice::of(json), map };
    match place {
        Place::Entry => visit.entry(json),
        Place::Result => visit.result(json, peek::result_type(json) == peek::ResultType::Task),
        Place::Task => visit.result(json, true),
        Place::Notice => visit.notice(json),
    }
    visit.splice.end()
}

/// Whether a tool says that it failed.
pub fn is_error(result: Json<'_>) -> bool {
    // What nobody can write otherwise comes first: most results that say so say `false`.
    may_have(result, std::slice::from_ref(&*TRUE))
        && (may_have(result, std::slice::from_ref(&*ERROR)) || peek::may_hide(result))
        && peek::is_error(result)
}

/// How the keys end that lead to URIs and ids of tasks.
static NAMES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new("ri\""), Finder::new("taskId\"")]);
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("isError\""));
static TRUE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("true"));

/// Whether one of these is anywhere in the bytes. Most results have none, and to know that is
/// much cheaper than to look at every member.
fn may_have(json: Json<'_>, any: &[Finder<'static>]) -> bool {
    any.iter().any(|finder| finder.find(json.as_bytes()).is_some())
}

struct Visit<'a, 'm> {
    splice: Splice<'a>,
    map: &'m dyn Fn(Hit<'_>) -> Option<String>,
}

impl<'a> Visit<'a, '_> {
    fn entry(&mut self, entry: Json<'a>) {
        each(entry, meta::META, |meta| self.meta(meta));
    }

    fn result(&mut self, result: Json<'a>, is_task: bool) {
        for member in result.members() {
            let (key, value) = (member.key, member.value);
            if key.is("content") {
                value.elements().for_each(|block| self.block(block));
            } else if key.is("contents") {
                value.elements().for_each(|content| each(content, "uri", |uri| self.uri(uri)));
            } else if key.is("messages") {
                value.elements().for_each(|message| each(message, "content", |c| self.blocks(c)));
            } else if key.is(meta::META) {
                self.meta(value);
            } else if key.is("task") {
                each(value, "taskId", |id| self.task(id));
            } else if is_task && key.is("taskId") {
                self.task(value);
            } else if is_task && key.is("tasks") {
                value.elements().for_each(|task| each(task, "taskId", |id| self.task(id)));
            } else if is_task && key.is("result") {
                self.result(value, false);
            }
        }
    }

    fn notice(&mut self, params: Json<'a>) {
        for member in params.members() {
            let (key, value) = (member.key, member.value);
            if key.is("uri") {
                self.uri(value);
            } else if key.is("taskId") {
                self.task(value);
            } else if key.is("result") {
                self.result(value, false);
            } else if key.is(meta::META) {
                self.meta(value);
            }
        }
    }

    fn meta(&mut self, value: Json<'a>) {
        for member in value.members() {
            let (key, value) = (member.key, member.value);
            if key.is(meta::UI) {
                each(value, "resourceUri", |uri| self.uri(uri));
            } else if key.is(meta::UI_RESOURCE_URI) {
                self.uri(value);
            } else if key.is(meta::RELATED_TASK) {
                each(value, "taskId", |id| self.task(id));
            }
        }
    }

    /// One block, or several.
    fn blocks(&mut self, content: Json<'a>) {
        if content.is_object() {
            self.block(content);
        } else {
            content.elements().for_each(|block| self.block(block));
        }
    }

    fn block(&mut self, block: Json<'a>) {
        match block.get("type").and_then(Json::string).as_deref() {
            Some("resource_link") => each(block, "uri", |uri| self.uri(uri)),
            Some("resource") => {
                each(block, "resource", |resource| each(resource, "uri", |uri| self.uri(uri)));
            }
            _ => {}
        }
    }

    fn uri(&mut self, value: Json<'a>) {
        if let Some(new) = value.string().and_then(|uri| (self.map)(Hit::Uri(&uri))) {
            self.splice.text(value, &new);
        }
    }

    fn task(&mut self, value: Json<'a>) {
        if let Some(new) = value.string().and_then(|id| (self.map)(Hit::Task(&id))) {
            self.splice.text(value, &new);
        }
    }
}

fn each<'a>(object: Json<'a>, key: &str, mut visit: impl FnMut(Json<'a>)) {
    object.members().filter(|member| member.key.is(key)).for_each(|member| visit(member.value));
}
