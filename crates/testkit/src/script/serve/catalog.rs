//! What a server has on offer, as data. Never pages, never calls.

use serde_json::{Value, json};
use switchboard_wire::Revision;

pub(super) const INSTRUCTIONS: &str = "A server for tests. It does what its script says.";

pub(super) fn identity(name: &str) -> Value {
    json!({"name": name, "version": env!("CARGO_PKG_VERSION")})
}

pub(super) fn capabilities(revision: Revision) -> Value {
    let mut capabilities = json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "logging": {},
    });
    if revision >= Revision::V2025_03_26 {
        capabilities["completions"] = json!({});
    }
    capabilities
}

/// Its own tools: the name, what it does, its parameters, what it claims.
#[rustfmt::skip]
fn table() -> [(&'static str, &'static str, Value, Value); 17] {
    let reads = || json!({"readOnlyHint": true});
    let number = || json!({"type": "integer", "minimum": 0});
    let text = || json!({"type": "string"});
    [
        ("echo",         "Returns its text.",                      json!({"text": text()}), reads()),
        ("add",          "Adds two numbers.",                      json!({"a": {"type": "number"}, "b": {"type": "number"}}), reads()),
        ("sleep",        "Answers after a while.",                 json!({"ms": number()}), reads()),
        ("progress",     "Works in steps and tells of each.",      json!({"steps": number(), "ms": number()}), reads()),
        ("big",          "Returns that many bytes of text.",       json!({"bytes": number()}), reads()),
        ("fail",         "Returns a tool error.",                  json!({"text": text()}), json!({"destructiveHint": true})),
        ("rpc_error",    "Returns a JSON-RPC error.",              json!({"code": {"type": "integer"}}), json!({"destructiveHint": true})),
        ("elicit",       "Asks the user.",                         json!({"text": text()}), json!({})),
        ("sample",       "Asks the model.",                        json!({"text": text()}), json!({})),
        ("roots",        "Asks for the roots.",                    json!({}), reads()),
        ("env",          "Returns a variable of its environment.", json!({"name": text()}), reads()),
        ("cwd",          "Returns its working directory.",         json!({}), reads()),
        ("pid",          "Returns the id of its process.",         json!({}), reads()),
        ("log",          "Sends a log message.",                   json!({"level": text(), "text": text()}), reads()),
        ("touch",        "Says that a resource has changed, and changes it if there is a text.", json!({"uri": text(), "text": text()}), json!({"destructiveHint": false})),
        ("change_tools", "Adds an entry to a list (tools, resources, prompts) and says so.", json!({"list": text()}), json!({"destructiveHint": false})),
        ("headers",      "Returns an argument that HTTP mirrors.", json!({"region": {"type": "string", "x-mcp-header": "Region"}}), reads()),
    ]
}

/// Its tools, in the fields of that revision.
pub(super) fn tools(revision: Revision, more: usize, extras: usize) -> Vec<Value> {
    let own = table().into_iter().map(|(name, what, properties, hints)| {
        let mut tool = json!({
            "name": name,
            "description": what,
            "inputSchema": {"type": "object", "properties": properties},
        });
        if revision >= Revision::V2025_03_26 {
            tool["annotations"] = hints;
        }
        if revision >= Revision::V2025_06_18 {
            tool["title"] = format!("The tool {name}").into();
            if name == "add" {
                tool["outputSchema"] = json!({
                    "type": "object",
                    "properties": {"sum": {"type": "number"}},
                    "required": ["sum"],
                });
            }
        }
        tool
    });
    let more = (0..more).map(|number| echoing(&format!("tool_{number:05}")));
    let extras = (1..=extras).map(|number| echoing(&format!("extra_{number}")));
    own.chain(more).chain(extras).collect()
}

/// What one of its own tools takes.
pub(super) fn schema(tool: &str) -> Option<Value> {
    let own = table().into_iter().find(|(name, ..)| *name == tool);
    own.map(|(_, _, properties, _)| json!({"type": "object", "properties": properties}))
}

/// A tool that echoes.
pub(super) fn echoing(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Returns its text; one of many ({name})."),
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    })
}

pub(super) const TEXT_URI: &str = "scripted://static/text";
pub(super) const JSON_URI: &str = "scripted://static/json";
pub(super) const BLOB_URI: &str = "scripted://static/blob";
const ITEM: &str = "scripted://item/";
/// Beside what is listed: what follows is after how many milliseconds it is read.
pub(super) const SLOW: &str = "scripted://slow/";
/// Beside what is listed: what follows is the tool whose question has to be answered first.
pub(super) const ASKS: &str = "scripted://asks/";

pub(super) fn resources(extras: usize) -> Vec<Value> {
    let own = [
        json!({"uri": TEXT_URI, "name": "text", "mimeType": "text/plain", "size": 11}),
        json!({"uri": JSON_URI, "name": "json", "mimeType": "application/json"}),
        json!({"uri": BLOB_URI, "name": "blob", "mimeType": "application/octet-stream"}),
    ];
    let extras = (1..=extras)
        .map(|number| json!({"uri": format!("scripted://extra/{number}"), "name": "extra"}));
    own.into_iter().chain(extras).collect()
}

pub(super) fn templates() -> Vec<Value> {
    vec![json!({"uriTemplate": "scripted://item/{id}", "name": "item", "mimeType": "text/plain"})]
}

pub(super) fn prompts(extras: usize) -> Vec<Value> {
    let name = json!({"name": "name", "description": "Whom to greet", "required": true});
    let own = [
        json!({"name": "greet", "description": "Greets somebody", "arguments": [name]}),
        json!({"name": "plain", "description": "Takes nothing"}),
    ];
    let extras = (1..=extras).map(|number| json!({"name": format!("extra_{number}")}));
    own.into_iter().chain(extras).collect()
}

/// What a resource holds.
pub(super) fn content(uri: &str, extras: usize) -> Option<Value> {
    Some(match uri {
        TEXT_URI => json!({"uri": uri, "mimeType": "text/plain", "text": "hello world"}),
        JSON_URI => json!({"uri": uri, "mimeType": "application/json", "text": "{\"one\":1.0}"}),
        BLOB_URI => json!({"uri": uri, "mimeType": "application/octet-stream", "blob": "AAECAw=="}),
        _ => {
            let item = uri.strip_prefix(ITEM).map(|id| format!("item {id}"));
            let slow = || uri.starts_with(SLOW).then(|| "slow".to_owned());
            let listed = || resources(extras).iter().any(|one| one["uri"] == uri);
            let text = item.or_else(slow).or_else(|| listed().then(|| "extra".to_owned()))?;
            json!({"uri": uri, "mimeType": "text/plain", "text": text})
        }
    })
}

/// Entries that a list of tools must not have.
pub(super) fn invalid_tools() -> Vec<Value> {
    let schema = || json!({"type": "object"});
    vec![
        json!({"name": "no_schema", "description": "has no inputSchema"}),
        json!({"name": "schema_is_text", "inputSchema": "object"}),
        json!({"name": "", "inputSchema": schema()}),
        json!({"name": 7, "inputSchema": schema()}),
        json!({"inputSchema": schema()}),
        json!({"name": "echo", "description": "the second of that name", "inputSchema": schema()}),
        json!("only text"),
        Value::Null,
    ]
}

/// Entries that a list of anything else must not have.
pub(super) fn invalid_others() -> Vec<Value> {
    vec![json!({"description": "has no name and no uri"}), json!({"name": 7, "uri": 7}), json!([])]
}

/// Whether a client declared that capability.
pub(super) fn can(capabilities: &Value, capability: &str) -> bool {
    capabilities[capability].is_object()
}
