//! The reader, the written form and the schema of our own file say the same.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use switchboard_model::Code;

use crate::parse::{self, Context};
use crate::schema;

fn schema() -> Value {
    serde_json::from_str(&schema::native()).unwrap()
}

fn validates(document: &Value) -> bool {
    jsonschema::validator_for(&schema()).unwrap().is_valid(document)
}

fn errors(document: &Value) -> Vec<(Code, String)> {
    let path = Path::new("switchboard.json");
    let problems = parse::text(path, &document.to_string(), &Context::default()).problems;
    problems.into_iter().filter(|p| p.is_error()).map(|p| (p.code, p.remedy)).collect()
}

/// The keys that the reader knows where an unknown one stands.
fn known(document: &Value) -> BTreeSet<String> {
    let errors = errors(document);
    let unknown = errors.iter().find(|(code, _)| *code == Code::UnknownKey).unwrap();
    let list = unknown.1.split("Known keys: ").nth(1).unwrap().trim_end_matches('.');
    list.split(", ").map(str::to_owned).collect()
}

/// The keys that the schema has at a definition.
fn described(definition: Option<&str>) -> BTreeSet<String> {
    let schema = schema();
    let at = definition.map_or(&schema, |name| &schema["$defs"][name]);
    at["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_reader_and_the_schema_know_the_same_keys() {
    let odd = "zzzzzzzzzzzz";
    let inner = json!({ odd: 1 });
    for (document, definition) in [
        (json!({ odd: 1 }), None),
        (json!({ "hub": inner }), Some("Hub")),
        (json!({ "internal": inner }), Some("InternalServers")),
        (json!({ "defaults": inner }), Some("DefaultServers")),
        (json!({ "agents": { "a": inner } }), Some("Agent")),
        (json!({ "servers": { "a": inner } }), Some("Server")),
        (json!({ "servers": { "a": { "tools": inner } } }), Some("Tools")),
        (json!({ "servers": { "a": { "call_timeout": inner } } }), Some("CallTimeouts")),
        (json!({ "policy": [inner] }), Some("PolicyRule")),
    ] {
        let mut known = known(&document);
        // Known only to be told that it has no effect.
        known.remove("required");
        assert_eq!(known, described(definition), "{definition:?}");
    }
}

#[test]
fn what_is_good_and_what_is_not_is_so_for_both() {
    let server = |entry: Value| json!({ "servers": { "a": entry } });
    let good = [
        json!({}),
        json!({ "$schema": "x", "hub": { "listen": "127.0.0.1:1", "store": "sqlite", "master_key": "keyring", "traces": "http://127.0.0.1:4318", "audit_arguments": "values", "mcp_names": "{server}_{tool}", "model_names": "bare" } }),
        server(json!({ "command": "x", "args": ["y"], "env": { "A": "b", "C": 1, "D": true } })),
        server(json!({ "url": "https://x.example", "transport": "sse", "headers": { "A": "b" } })),
        server(json!({ "url": "https://x.example", "auth": "oauth" })),
        server(json!({ "url": "https://x.example", "auth": { "type": "bearer", "token": "t" } })),
        server(json!({ "url": "https://x.example", "auth": { "type": "api_key", "header": "k" } })),
        server(
            json!({ "command": "x", "timeout": 1.5, "call_timeout": "2m", "max_output": "1MB" }),
        ),
        server(json!({ "command": "x", "call_timeout": { "quiet": 1, "total": "1h" } })),
        json!({ "servers": { "a": { "command": "x" } }, "defaults": { "servers": ["a"] }, "agents": { "b": { "servers": ["a"], "own": { "c": { "command": "x" } } } } }),
        server(json!({ "command": "x", "sensitive": true, "audit_arguments": "shape" })),
        json!({ "internal": {} }),
        json!({ "internal": { "enabled": false, "root": "../parts", "manifests": ["acme"] } }),
        json!({ "policy": [{ "tool": "x_*", "origin": "mcp", "read_only": true, "action": "ask" }] }),
    ];
    for document in good {
        assert_eq!(errors(&document), [], "{document}");
        assert!(validates(&document), "{document}");
    }
    let bad = [
        json!([]),
        json!({ "server": {} }),
        json!({ "hub": { "listen": 1 } }),
        json!({ "hub": { "master_key": "pocket" } }),
        json!({ "hub": { "audit_arguments": true } }),
        server(json!({ "command": "x", "audit_arguments": "none" })),
        server(json!({ "command": ["x"] })),
        server(json!({ "command": "x", "args": "y" })),
        server(json!({ "command": "x", "env": ["A=b"] })),
        server(json!({ "command": "x", "comand": "y" })),
        server(json!({ "command": "x", "timeout": true })),
        server(json!({ "command": "x", "max_in_flight": 0 })),
        server(json!({ "command": "x", "start": "sometimes" })),
        server(json!({ "url": "https://x.example", "transport": "carrier-pigeon" })),
        server(json!({ "url": "https://x.example", "auth": "magic" })),
        server(json!({ "url": "https://x.example", "auth": { "type": "bearer", "key": "t" } })),
        json!({ "agents": { "b": { "servers": "a" } } }),
        json!({ "internal": true }),
        json!({ "internal": { "root": 1 } }),
        json!({ "internal": { "manifests": "annabelle" } }),
        json!({ "internal": { "manifests": [] } }),
        json!({ "policy": [{ "tool": "x" }] }),
        json!({ "policy": [{ "action": "maybe" }] }),
        json!({ "policy": { "action": "deny" } }),
    ];
    for document in bad {
        assert_ne!(errors(&document), [], "{document}");
        assert!(!validates(&document), "{document}");
    }
}

#[test]
fn the_example_is_good() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/switchboard.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("#:schema ../docs/schema/switchboard.schema.json\n"));
    let parsed = parse::text(Path::new("switchboard.toml"), &text, &Context::default());
    assert_eq!(parsed.problems, []);
    let document: Value = toml::from_str(&text).unwrap();
    assert!(validates(&document));
    // It shows every key that a server can have.
    let servers = document["servers"].as_object().unwrap().values();
    let shown: BTreeSet<String> =
        servers.flat_map(|server| server.as_object().unwrap().keys().cloned()).collect();
    assert_eq!(shown, described(Some("Server")));
    let internal = document["internal"].as_object().unwrap();
    assert_eq!(
        internal.keys().cloned().collect::<BTreeSet<_>>(),
        described(Some("InternalServers"))
    );
}
