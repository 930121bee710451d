//! What outlasts a call: tasks, and pages that the user is sent to, each in the form of its
//! revision. Only a script that asks for it has any of this.

use serde_json::{Value, json};
use switchboard_wire::code::Raised;
use switchboard_wire::{Era, Revision, code, meta, method};

use super::ask;
use super::catalog::can;
use super::dispatch::Call;
use super::era::Refusal;
use super::notices::{self, notification};
use super::tools::said;
use super::world::held;

/// Its tools: one begins a task, one begins nothing else, one moves it on and says so, one says how far it is, one asks for it; one
/// sends the user to a page (or refuses until they were there), one says that the page is done with; one
/// ends what others listen to.
const TOOLS: [&str; 8] = [
    "task_begin",
    "task_only",
    "task_move",
    "task_progress",
    "task_ask",
    "page_open",
    "page_done",
    "listen_end",
];

/// A task that was begun.
#[derive(Default)]
pub(super) struct Begun {
    /// Under which its caller wants to hear of progress.
    token: Value,
    /// Whether somebody waits for its result.
    awaited: bool,
    over: bool,
}

/// The tools, as a list has them.
pub(super) fn tools() -> impl Iterator<Item = Value> {
    TOOLS.into_iter().map(|name| {
        let mut tool = json!({"name": name, "inputSchema": {"type": "object"}});
        if name == "task_only" {
            tool["execution"] = json!({"taskSupport": "required"});
        }
        tool
    })
}

/// What the server can do besides, in that revision.
pub(super) fn capabilities(revision: Revision) -> Option<(&'static str, Value)> {
    match revision.era() {
        Era::Stateless => Some(("extensions", json!({meta::TASKS_EXTENSION: {}}))),
        Era::Session if revision >= Revision::V2025_11_25 => {
            Some(("tasks", json!({"cancel": {}, "requests": {"tools": {"call": {}}}})))
        }
        Era::Session => None,
    }
}

/// Calls one of the tools; `None` if it is another's.
pub(super) fn call(call: &Call) -> Option<Result<Value, Refusal>> {
    let arguments = &call.params["arguments"];
    let id = arguments["id"].as_str().unwrap_or_default();
    Some(match call.params["name"].as_str()? {
        "task_only" if call.revision.era() == Era::Session && call.params["task"].is_null() => {
            Err(Refusal::new(code::METHOD_NOT_FOUND, "This tool needs a task"))
        }
        "task_begin" | "task_only" => Ok(begin(call)),
        "task_move" => {
            let status = arguments["status"].as_str().unwrap_or("working");
            changed(call, id, status);
            Ok(said(status))
        }
        "task_progress" => {
            progress(call, id, &arguments["progress"]);
            Ok(said("told"))
        }
        "task_ask" => {
            if arguments["awaited"] == true {
                until(call, arguments["task"].as_str().unwrap_or_default(), |task| task.awaited);
            }
            ask::ask(call, "elicit")
        }
        "listen_end" => {
            notices::end_listening(&call.world);
            Ok(said("ended"))
        }
        "page_open" if arguments["first"] == true => Err(first(id)),
        "page_open" => ask::ask_for(call, method::ELICIT, "elicitation", page(call, id)),
        "page_done" => {
            let params = json!({"elicitationId": id});
            call.session.channel.put(notification(method::ELICITATION_COMPLETE, Some(params)));
            Ok(said("told"))
        }
        _ => return None,
    })
}

/// The tasks of a listener's wish that there are; an error where it may not wish for any.
pub(super) fn listened(call: &Call, wanted: &mut Value) -> Result<(), Refusal> {
    let Some(ids) = wanted["taskIds"].as_array() else { return Ok(()) };
    let declared = &call.params[meta::META][meta::CLIENT_CAPABILITIES]["extensions"];
    if !can(declared, meta::TASKS_EXTENSION) {
        let needed = json!({"extensions": {meta::TASKS_EXTENSION: {}}});
        return Err(Refusal {
            code: code::MISSING_CLIENT_CAPABILITY,
            message: "Missing required client capability".to_owned(),
            data: Some(json!({"requiredCapabilities": needed})),
            raised: Raised::AtTheGate,
        });
    }
    let known = held(&call.world.begun);
    let there = ids.iter().filter(|id| id.as_str().is_some_and(|id| known.contains_key(id)));
    wanted["taskIds"] = there.cloned().collect();
    Ok(())
}

fn begin(call: &Call) -> Value {
    let declared = &call.params[meta::META][meta::CLIENT_CAPABILITIES]["extensions"];
    let wanted = match call.revision.era() {
        Era::Stateless => can(declared, meta::TASKS_EXTENSION),
        Era::Session => call.params["task"].is_object(),
    };
    if !wanted {
        return said("done at once");
    }
    let id = format!("task-{}", call.world.number());
    let token = call.params[meta::META][meta::PROGRESS_TOKEN].clone();
    held(&call.world.begun).insert(id.clone(), Begun { token, ..Begun::default() });
    let mut task = task(call, &id, "working");
    match call.revision.era() {
        Era::Session => json!({"task": task}),
        Era::Stateless => {
            task["resultType"] = "task".into();
            task
        }
    }
}

fn task(call: &Call, id: &str, status: &str) -> Value {
    let (ttl, poll) = match call.revision.era() {
        Era::Session => ("ttl", "pollInterval"),
        Era::Stateless => ("ttlMs", "pollIntervalMs"),
    };
    let at = "2026-07-28T00:00:00Z";
    let mut task = json!({"taskId": id, "status": status, "createdAt": at, "lastUpdatedAt": at, ttl: 60_000, poll: 500});
    if call.revision.era() == Era::Stateless && status == "completed" {
        let link = json!({"type": "resource_link", "uri": super::catalog::TEXT_URI, "name": "r"});
        task["result"] = json!({"content": [link]});
    }
    task
}

/// `tasks/result`: what the task ends with, when it does.
pub(super) fn result(call: &Call) -> Result<Value, Refusal> {
    let id = call.params["taskId"].as_str().unwrap_or_default();
    match held(&call.world.begun).get_mut(id) {
        Some(task) => task.awaited = true,
        None => return Err(Refusal::new(code::INVALID_PARAMS, "Unknown task")),
    }
    until(call, id, |task| task.over);
    let mut result = said("the task is over");
    result[meta::META][meta::RELATED_TASK] = json!({"taskId": id});
    Ok(result)
}

/// `tasks/cancel`: it is over.
pub(super) fn cancel(call: &Call) -> Result<Value, Refusal> {
    let id = call.params["taskId"].as_str().unwrap_or_default();
    match held(&call.world.begun).get_mut(id) {
        Some(task) => task.over = true,
        None => return Err(Refusal::new(code::INVALID_PARAMS, "Unknown task")),
    }
    Ok(task(call, id, "cancelled"))
}

/// Waits until something is so of a task, or nobody waits for the call any more.
fn until(call: &Call, id: &str, is_so: impl Fn(&Begun) -> bool) {
    while !held(&call.world.begun).get(id).is_some_and(&is_so)
        && call.cancel.pause(10, call.outlet.as_ref())
    {}
}

/// Tells how far a task is, under the token of the call that began it.
fn progress(call: &Call, id: &str, progress: &Value) {
    let token = held(&call.world.begun).get(id).map(|task| task.token.clone());
    let params = json!({
        "progressToken": token,
        "progress": progress,
        meta::META: {meta::RELATED_TASK: {"taskId": id}},
    });
    call.session.channel.put(notification(method::PROGRESS, Some(params)));
}

/// Tells of a task: whoever listens to it, or the session that it belongs to.
fn changed(call: &Call, id: &str, status: &str) {
    if matches!(status, "completed" | "failed" | "cancelled")
        && let Some(task) = held(&call.world.begun).get_mut(id)
    {
        task.over = true;
    }
    let task = task(call, id, status);
    match call.revision.era() {
        Era::Session => {
            call.session.channel.put(notification(method::TASK_STATUS, Some(task)));
        }
        Era::Stateless => notices::task_changed(&call.world, id, &task),
    }
}

fn page(call: &Call, id: &str) -> Value {
    let mut params = json!({"mode": "url", "message": "Sign in", "url": "https://example.com/in"});
    if call.revision.era() == Era::Session {
        params["elicitationId"] = id.into();
    }
    params
}

fn first(id: &str) -> Refusal {
    let page = json!({"mode": "url", "elicitationId": id, "url": "https://example.com/in", "message": "Sign in"});
    Refusal::new(code::URL_ELICITATION_REQUIRED, "Sign in first")
        .with(json!({"elicitations": [page]}))
}
