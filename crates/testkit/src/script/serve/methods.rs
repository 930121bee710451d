//! The methods of both eras, one arm each. Never frames an answer.

use serde_json::{Value, json};
use switchboard_wire::{Era, Revision, code, meta, method};

use super::dispatch::Call;
use super::era::Refusal;
use super::world::held;
use super::{ask, catalog, lasting, lists, notices, tools};
use crate::script::fault::List;

/// The outcome of a request that is in order so far.
pub(super) fn respond(call: &Call) -> Result<Value, Refusal> {
    let result = match call.method.as_str() {
        method::INITIALIZE => Ok(initialize(call)),
        method::DISCOVER => Ok(discover(call)),
        method::PING => Ok(json!({})),
        method::TOOLS_LIST => lists::tools(call),
        method::RESOURCES_LIST => lists::resources(call),
        method::TEMPLATES_LIST => lists::templates(call),
        method::PROMPTS_LIST => lists::prompts(call),
        method::TOOLS_CALL => tools::call(call),
        method::RESOURCES_READ => read(call),
        method::PROMPTS_GET => prompt(call),
        method::COMPLETE => Ok(complete(call)),
        method::SET_LEVEL => set_level(call),
        method::SUBSCRIBE => Ok(watch(call)),
        method::UNSUBSCRIBE => Ok(unwatch(call)),
        method::LISTEN => notices::listen(call),
        method::TASKS_CANCEL if call.world.script.lasting => lasting::cancel(call),
        method::TASKS_RESULT if call.world.script.lasting => lasting::result(call),
        other => Err(Refusal::gate(code::METHOD_NOT_FOUND, format!("Method not found: {other}"))),
    };
    result.map(|result| finished(call, result))
}

/// What the stateless era adds to every result.
fn finished(call: &Call, mut result: Value) -> Value {
    if call.revision.era() == Era::Session {
        return result;
    }
    if result.get("resultType").is_none() {
        result["resultType"] = "complete".into();
    }
    let kept = [
        method::DISCOVER,
        method::TOOLS_LIST,
        method::RESOURCES_LIST,
        method::TEMPLATES_LIST,
        method::PROMPTS_LIST,
        method::RESOURCES_READ,
    ];
    if kept.contains(&call.method.as_str()) && result["resultType"] == "complete" {
        result["ttlMs"] = call.world.script.holds_ms.into();
        result["cacheScope"] = "private".into();
    }
    result[meta::META][meta::SERVER_INFO] = catalog::identity(&call.world.script.name);
    result
}

fn initialize(call: &Call) -> Value {
    call.session.open(call.revision, call.params["capabilities"].clone());
    json!({
        "protocolVersion": call.revision.as_str(),
        "capabilities": capabilities(call),
        "serverInfo": catalog::identity(&call.world.script.name),
        "instructions": catalog::INSTRUCTIONS,
    })
}

fn capabilities(call: &Call) -> Value {
    let mut all = catalog::capabilities(call.revision);
    let lasting = lasting::capabilities(call.revision).filter(|_| call.world.script.lasting);
    if let Some((key, value)) = lasting {
        all[key] = value;
    }
    all
}

fn discover(call: &Call) -> Value {
    let spoken = call.world.script.speaks.revisions().map(Revision::as_str);
    json!({
        "supportedVersions": spoken.collect::<Vec<_>>(),
        "capabilities": capabilities(call),
        "instructions": catalog::INSTRUCTIONS,
    })
}

fn read(call: &Call) -> Result<Value, Refusal> {
    let uri = call.params["uri"].as_str().unwrap_or_default();
    if let Some(tool) = uri.strip_prefix(catalog::ASKS) {
        return read_asking(call, uri, tool);
    }
    pause(call, uri.strip_prefix(catalog::SLOW));
    let extras = held(&call.world.extras).resources;
    let edited = held(&call.world.edited).get(uri).cloned();
    let edited = edited.map(|text| json!({"uri": uri, "mimeType": "text/plain", "text": text}));
    match edited.or_else(|| catalog::content(uri, extras)) {
        Some(content) => Ok(json!({"contents": [content]})),
        None => {
            let code = match call.revision.era() {
                Era::Session => code::RESOURCE_NOT_FOUND,
                Era::Stateless => code::INVALID_PARAMS,
            };
            Err(Refusal::new(code, "Resource not found").with(json!({"uri": uri})))
        }
    }
}

/// What it holds is what the caller answers.
fn read_asking(call: &Call, uri: &str, tool: &str) -> Result<Value, Refusal> {
    let told = ask::ask(call, tool)?;
    if told["resultType"] == "input_required" {
        return Ok(told);
    }
    let text = told["content"][0]["text"].as_str().unwrap_or_default();
    if told["isError"] == true {
        return Err(Refusal::new(code::INTERNAL_ERROR, text));
    }
    Ok(json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}))
}

/// Waits for so many milliseconds, if there is a number.
fn pause(call: &Call, ms: Option<&str>) {
    if let Some(ms) = ms.and_then(|ms| ms.parse().ok()) {
        call.cancel.pause(ms, call.outlet.as_ref());
    }
}

/// Any of them takes `ms` beside its own arguments.
fn prompt(call: &Call) -> Result<Value, Refusal> {
    pause(call, call.params["arguments"]["ms"].as_str());
    let name = call.params["name"].as_str().unwrap_or_default();
    let who = call.params["arguments"]["name"].as_str();
    let known = lists::all(call, List::Prompts).iter().any(|prompt| prompt["name"] == name);
    let text = match (name, who) {
        ("greet", Some(who)) => format!("Say hello to {who}."),
        ("greet", None) => {
            return Err(Refusal::new(code::INVALID_PARAMS, "Missing argument: name"));
        }
        (name, _) if known => format!("This is the prompt {name}."),
        (name, _) => {
            return Err(Refusal::new(code::INVALID_PARAMS, format!("Unknown prompt: {name}")));
        }
    };
    let content = json!({"type": "text", "text": text});
    Ok(json!({"description": name, "messages": [{"role": "user", "content": content}]}))
}

fn complete(call: &Call) -> Value {
    let begun = call.params["argument"]["value"].as_str().unwrap_or_default();
    let mut values: Vec<_> =
        ["alice", "albert", "bob"].into_iter().filter(|name| name.starts_with(begun)).collect();
    if values.is_empty() {
        values.push(begun);
    }
    json!({"completion": {"total": values.len(), "values": values, "hasMore": false}})
}

fn set_level(call: &Call) -> Result<Value, Refusal> {
    let Some(level) = notices::level(&call.params["level"]) else {
        return Err(Refusal::new(code::INVALID_PARAMS, "Unknown level"));
    };
    *held(&call.session.log_level) = Some(level);
    Ok(json!({}))
}

fn watch(call: &Call) -> Value {
    let uri = call.params["uri"].as_str().unwrap_or_default();
    held(&call.session.watched).insert(uri.to_owned());
    json!({})
}

fn unwatch(call: &Call) -> Value {
    let uri = call.params["uri"].as_str().unwrap_or_default();
    held(&call.session.watched).remove(uri);
    json!({})
}
