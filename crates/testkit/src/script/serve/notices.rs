//! What a server says unasked: lists that changed, resources that changed, log messages; to every
//! caller that is to hear of it, in its own era's way.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::{Era, code, meta, method};

use super::dispatch::Call;
use super::era::Refusal;
use super::lasting;
use super::outlet::{Item, Outlet};
use super::world::{World, held, now};
use crate::script::fault::{Fault, List};

/// A `subscriptions/listen` that is open.
pub(super) struct Subscription {
    id: Value,
    wanted: Value,
    outlet: Arc<dyn Outlet>,
}

impl List {
    const fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_CHANGED,
            Self::Resources => method::RESOURCES_CHANGED,
            Self::Prompts => method::PROMPTS_CHANGED,
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Resources => "resourcesListChanged",
            Self::Prompts => "promptsListChanged",
        }
    }
}

/// Says that a list changed.
pub(super) fn changed(world: &World, list: List) {
    for session in held(&world.sessions).values().filter(|one| one.revision().is_some()) {
        session.channel.put(notification(list.method(), None));
    }
    for open in held(&world.subscriptions).iter().filter(|open| open.wanted[list.key()] == true) {
        open.outlet.put(notification(list.method(), Some(tagged(&open.id))));
    }
}

/// Says that a resource changed.
pub(super) fn updated(world: &World, uri: &str) {
    for session in held(&world.sessions).values() {
        if held(&session.watched).contains(uri) {
            let params = json!({"uri": uri});
            session.channel.put(notification(method::RESOURCE_UPDATED, Some(params)));
        }
    }
    for open in held(&world.subscriptions).iter() {
        let wanted = open.wanted["resourceSubscriptions"].as_array();
        if wanted.is_some_and(|uris| uris.iter().any(|one| one == uri)) {
            let mut params = tagged(&open.id);
            params["uri"] = uri.into();
            open.outlet.put(notification(method::RESOURCE_UPDATED, Some(params)));
        }
    }
}

/// Says how a task stands.
pub(super) fn task_changed(world: &World, id: &str, task: &Value) {
    for open in held(&world.subscriptions).iter() {
        let wanted = open.wanted["taskIds"].as_array();
        if wanted.is_some_and(|ids| ids.iter().any(|one| one == id)) {
            let mut params = task.clone();
            params[meta::META] = tagged(&open.id)[meta::META].take();
            open.outlet.put(notification(method::TASK_CHANGED, Some(params)));
        }
    }
}

/// Ends every `subscriptions/listen`, in the way that has no result.
pub(super) fn end_listening(world: &World) {
    for open in std::mem::take(&mut *held(&world.subscriptions)) {
        let params = json!({"requestId": open.id, "reason": "enough"});
        open.outlet.put(notification(method::CANCELLED, Some(params)));
    }
}

/// Says that a list changed, again and again, for a while.
pub(super) fn storm(world: &Arc<World>, list: List, per_second: u64, ms: u64) {
    let world = Arc::clone(world);
    thread::spawn(move || {
        let start = now();
        let total = per_second * ms / 1000;
        for sent in 0..total {
            let due = Duration::from_micros(sent * 1_000_000 / per_second.max(1));
            thread::sleep(due.saturating_sub(start.elapsed()));
            changed(&world, list);
        }
        world.note(&json!({"event": "storm_over", "sent": total}));
    });
}

/// Serves `subscriptions/listen` until its caller gives it up.
pub(super) fn listen(call: &Call) -> Result<Value, Refusal> {
    if call.faults.iter().any(|fault| matches!(fault, Fault::Error { .. })) {
        // It is refused, and nothing is acknowledged before.
        return Ok(Value::Null);
    }
    let mut wanted = call.params["notifications"].clone();
    lasting::listened(call, &mut wanted)?;
    if let (Some(tells), Some(wanted)) = (&call.world.script.tells, wanted.as_object_mut()) {
        wanted.retain(|name, _| tells.contains(name));
    }
    let mut params = tagged(&call.id);
    params["notifications"] = wanted.clone();
    while is_full(&call.world) {
        if !call.world.script.queues {
            return Err(Refusal::new(code::INTERNAL_ERROR, "Somebody listens already"));
        }
        if !call.cancel.pause(20, call.outlet.as_ref()) {
            return Ok(Value::Null);
        }
    }
    let open = Subscription { id: call.id.clone(), wanted, outlet: Arc::clone(&call.outlet) };
    {
        // Under the lock: whoever has read the acknowledgement misses nothing, and hears nothing before it.
        let mut subscriptions = held(&call.world.subscriptions);
        call.notify(method::ACKNOWLEDGED, &params);
        subscriptions.push(open);
    }
    for fault in &call.faults {
        if let Fault::ListStorm { per_second, ms, list } = fault {
            storm(&call.world, *list, *per_second, *ms);
        }
    }
    while call.cancel.pause(60_000, call.outlet.as_ref()) {}
    held(&call.world.subscriptions)
        .retain(|open| !Arc::ptr_eq(&open.outlet, &call.outlet) || open.id != call.id);
    Ok(Value::Null)
}

/// Whether it bears no more listeners.
fn is_full(world: &World) -> bool {
    let most = world.script.listeners;
    most.is_some_and(|most| held(&world.subscriptions).len() >= most)
}

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The rank of a level; worse is greater.
pub(super) fn level(name: &Value) -> Option<usize> {
    LEVELS.iter().position(|level| name == *level)
}

/// Sends a log message to a caller that wants it.
pub(super) fn log(call: &Call, name: &str, text: &str) {
    let wanted = match call.revision.era() {
        Era::Session => Some(held(&call.session.log_level).unwrap_or(0)),
        Era::Stateless => level(&call.params[meta::META][meta::LOG_LEVEL]),
    };
    if wanted.is_some_and(|wanted| level(&name.into()).is_some_and(|level| level >= wanted)) {
        let params = json!({"level": name, "logger": call.world.script.name, "data": text});
        call.notify(method::LOG_MESSAGE, &params);
    }
}

fn tagged(id: &Value) -> Value {
    json!({meta::META: {meta::SUBSCRIPTION_ID: id}})
}

pub(super) fn notification(method: &str, params: Option<Value>) -> Item {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(params) = params {
        message["params"] = params;
    }
    Item::Message(message.to_string().into_bytes())
}
