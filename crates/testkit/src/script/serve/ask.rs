//! What a server asks its caller in the course of a call: as requests in the session era, as
//! `input_required` in the stateless one.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::code::Raised;
use switchboard_wire::{Era, Revision, code, meta, method};

use super::catalog::can;
use super::dispatch::Call;
use super::era::Refusal;
use super::outlet::Item;
use super::tools::{failed, said};
use super::world::{held, now};

const KEY: &str = "input";

/// A question, with the capability it takes.
struct Question {
    method: &'static str,
    capability: &'static str,
    params: Value,
}

/// Asks what the tool of that name asks, and tells the answer.
pub(super) fn ask(call: &Call, tool: &str) -> Result<Value, Refusal> {
    ask_question(call, tool, &question(call, tool))
}

/// The same for a question of the tool's own.
pub(super) fn ask_for(
    call: &Call,
    method: &'static str,
    capability: &'static str,
    params: Value,
) -> Result<Value, Refusal> {
    ask_question(call, "own", &Question { method, capability, params })
}

fn ask_question(call: &Call, tool: &str, question: &Question) -> Result<Value, Refusal> {
    match call.revision.era() {
        Era::Session => Ok(by_request(call, question)),
        Era::Stateless => by_result(call, tool, question),
    }
}

fn question(call: &Call, tool: &str) -> Question {
    let text = call.params["arguments"]["text"].as_str().unwrap_or("Well?");
    match tool {
        "elicit" => {
            let mut params = json!({
                "message": text,
                "requestedSchema": {
                    "type": "object",
                    "properties": {"answer": {"type": "string"}},
                    "required": ["answer"],
                },
            });
            if call.revision >= Revision::V2025_11_25 {
                params["mode"] = "form".into();
            }
            Question { method: method::ELICIT, capability: "elicitation", params }
        }
        "sample" => {
            let content = json!({"type": "text", "text": text});
            let params =
                json!({"messages": [{"role": "user", "content": content}], "maxTokens": 100});
            Question { method: method::CREATE_MESSAGE, capability: "sampling", params }
        }
        _ => Question { method: method::ROOTS_LIST, capability: "roots", params: json!({}) },
    }
}

fn by_request(call: &Call, question: &Question) -> Value {
    let Question { method, capability, params } = question;
    if !can(&held(&call.session.capabilities), capability) {
        return failed(&format!("the client has no {capability}"));
    }
    let arguments = &call.params["arguments"];
    // Both sides count for themselves, so the number may be that of a request as well.
    let id = match arguments["numbered"] == true {
        true => call.id.clone(),
        false => Value::from(format!("ask-{}", call.world.number())),
    };
    let params = related(arguments, params);
    let answer = call.session.expect(&id);
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    call.outlet.put(Item::Message(message.to_string().into_bytes()));
    let patience = arguments["patience_ms"].as_u64();
    let end = patience.map(|ms| now() + Duration::from_millis(ms));
    while !call.cancel.is_cancelled() {
        match answer.recv_timeout(Duration::from_millis(20)) {
            Ok(answer) if answer.get("error").is_some() => {
                return failed(&format!("the client refused: {}", answer["error"]));
            }
            Ok(answer) if arguments["token"].is_null() => {
                return said(&answer["result"].to_string());
            }
            Ok(_) => return said(&Value::from(held(&call.session.heard).clone()).to_string()),
            Err(RecvTimeoutError::Timeout) if end.is_some_and(|end| now() >= end) => {
                let params = json!({"requestId": id, "reason": "it takes too long"});
                call.notify(method::CANCELLED, &params);
                break;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    failed("nobody answered")
}

/// With the task that it is asked for, and the token under which the server hears of progress, if the
/// arguments name them.
fn related(arguments: &Value, params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(task) = arguments["task"].as_str() {
        params[meta::META][meta::RELATED_TASK] = json!({"taskId": task});
    }
    if !arguments["token"].is_null() {
        params[meta::META][meta::PROGRESS_TOKEN] = arguments["token"].clone();
    }
    params
}

fn by_result(call: &Call, tool: &str, question: &Question) -> Result<Value, Refusal> {
    let Question { method, capability, params } = question;
    if !can(&call.params[meta::META][meta::CLIENT_CAPABILITIES], capability) {
        return Err(Refusal {
            code: code::MISSING_CLIENT_CAPABILITY,
            message: format!("The client has no {capability}"),
            data: Some(json!({"requiredCapabilities": {*capability: {}}})),
            raised: Raised::InTheCall,
        });
    }
    let state = format!("scripted:{tool}");
    match &call.params["inputResponses"][KEY] {
        Value::Null => Ok(json!({
            "resultType": "input_required",
            "inputRequests": {KEY: {"method": method, "params": params}},
            "requestState": state,
        })),
        answer if call.params["requestState"] == state => Ok(said(&answer.to_string())),
        _ => Err(Refusal::new(code::INVALID_PARAMS, "The request state is not ours")),
    }
}
