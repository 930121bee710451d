//! What the tools do. Never lists them.

use serde_json::{Value, json};
use switchboard_wire::{Revision, code, meta, method};

use super::dispatch::Call;
use super::era::Refusal;
use super::world::held;
use super::{ask, lasting, lists, notices};
use crate::script::fault::List;

/// Calls the tool that the request names.
pub(super) fn call(call: &Call) -> Result<Value, Refusal> {
    let arguments = &call.params["arguments"];
    let number = |key: &str| arguments[key].as_u64().unwrap_or(0);
    let text = |key: &str| arguments[key].as_str().unwrap_or_default();
    if call.world.script.lasting
        && let Some(done) = lasting::call(call)
    {
        return done;
    }
    Ok(match call.params["name"].as_str().unwrap_or_default() {
        "echo" => said(text("text")),
        "add" => add(call, arguments),
        "sleep" => sleep(call, number("ms")),
        "progress" => progress(call, number("steps"), number("ms")),
        "big" => said(&"x".repeat(number("bytes") as usize)),
        "fail" => failed(arguments["text"].as_str().unwrap_or("it failed, as it should")),
        "rpc_error" => {
            let code = arguments["code"].as_i64().unwrap_or(code::INTERNAL_ERROR);
            let refusal = Refusal::new(code, "it went wrong, as it should");
            return Err(refusal.with(json!({"tool": "rpc_error"})));
        }
        tool @ ("elicit" | "sample" | "roots") => return ask::ask(call, tool),
        "env" => environment(text("name")),
        "cwd" => said(&std::env::current_dir().unwrap_or_default().to_string_lossy()),
        "pid" => said(&std::process::id().to_string()),
        "log" => {
            notices::log(call, text("level"), text("text"));
            said("logged")
        }
        "touch" => {
            if arguments["text"].is_string() {
                held(&call.world.edited).insert(text("uri").to_owned(), text("text").to_owned());
            }
            notices::updated(&call.world, text("uri"));
            said("touched")
        }
        "change_tools" => change(call, text("list")),
        "headers" => said(text("region")),
        name if lists::all(call, List::Tools).iter().any(|tool| tool["name"] == name) => {
            said(text("text"))
        }
        name => {
            return Err(Refusal::new(code::INVALID_PARAMS, format!("Unknown tool: {name}")));
        }
    })
}

/// A result of text.
pub(super) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A result that is an error.
pub(super) fn failed(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn add(call: &Call, arguments: &Value) -> Value {
    let term = |key: &str| arguments[key].as_f64().unwrap_or(0.0);
    let sum = term("a") + term("b");
    let mut result = said(&sum.to_string());
    if call.revision >= Revision::V2025_06_18 {
        result["structuredContent"] = json!({"sum": sum});
    }
    result
}

fn sleep(call: &Call, ms: u64) -> Value {
    call.cancel.pause(ms, call.outlet.as_ref());
    said("slept")
}

fn progress(call: &Call, steps: u64, ms: u64) -> Value {
    let token = &call.params[meta::META][meta::PROGRESS_TOKEN];
    for step in 1..=steps {
        if !call.cancel.pause(ms, call.outlet.as_ref()) {
            break;
        }
        if !token.is_null() {
            let mut params = json!({"progressToken": token, "progress": step, "total": steps});
            if call.revision >= Revision::V2025_03_26 {
                params["message"] = format!("step {step}").into();
            }
            call.notify(method::PROGRESS, &params);
        }
    }
    said("done")
}

#[expect(clippy::disallowed_methods, reason = "to tell its environment is what the tool is for")]
fn environment(name: &str) -> Value {
    match std::env::var(name) {
        Ok(value) => said(&value),
        Err(_) => failed("not set"),
    }
}

fn change(call: &Call, list: &str) -> Value {
    let mut extras = held(&call.world.extras);
    let (list, count) = match list {
        "resources" => (List::Resources, &mut extras.resources),
        "prompts" => (List::Prompts, &mut extras.prompts),
        _ => (List::Tools, &mut extras.tools),
    };
    *count += 1;
    let said = said(&format!("{count} extra"));
    drop(extras);
    notices::changed(&call.world, list);
    said
}
