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

/// Its tools: one begins a task, one moves it on and says so; one sends the user to a page (or
/// refuses until they were there), one says that the page is done with.
const TOOLS: [&str; 4] = ["task_begin", "task_move", "page_open", "page_done"];

/// The tools, as a list has them.
pub(super) fn tools() -> impl Iterator<Item = Value> {
    TOOLS.into_iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
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
        "task_begin" => Ok(begin(call)),
        "task_move" => {
            let status = arguments["status"].as_str().unwrap_or("working");
            changed(call, id, status);
            Ok(said(status))
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
    let there = ids.iter().filter(|id| id.as_str().is_some_and(|id| known.contains(id)));
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
    held(&call.world.begun).insert(id.clone());
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

/// Tells of a task: whoever listens to it, or the session that it belongs to.
fn changed(call: &Call, id: &str, status: &str) {
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
