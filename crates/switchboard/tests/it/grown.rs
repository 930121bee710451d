//! What callers send that is valid and very long, against the real program with its store: it is refused or
//! forgotten, and neither the hub's memory nor its database grows by it.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry};

/// Bytes of what is long.
const LONG: usize = 5 << 20;
/// How often it is sent before memory is looked at, so that the allocator has what it keeps for the next ones.
const FIRST: usize = 10;
/// How often it is sent then, each time another one.
const TIMES: usize = 20;
/// What may be left of that in memory: less than half.
const LEFT: u64 = 48 << 20;
/// How large the database may be in the end, with all that was sent: less than one of it.
const STORED: u64 = 4 << 20;

struct Act {
    what: &'static str,
    method: &'static str,
    /// Whether it is refused.
    refused: bool,
    params: fn(String) -> Value,
}

const ACTS: [Act; 7] = [
    Act {
        what: "a URI that is read",
        method: "resources/read",
        refused: true,
        params: |long| json!({"uri": format!("mcp://a/{long}")}),
    },
    Act {
        what: "a URI that is subscribed to",
        method: "resources/subscribe",
        refused: true,
        params: |long| json!({"uri": format!("mcp://a/{long}")}),
    },
    Act {
        what: "a template that is completed",
        method: "completion/complete",
        refused: true,
        params: |long| json!({"ref": {"type": "ref/resource", "uri": format!("mcp://a/{long}")}, "argument": {"name": "x", "value": "y"}}),
    },
    Act {
        what: "the name of a prompt",
        method: "prompts/get",
        refused: true,
        params: |long| json!({"name": long}),
    },
    Act {
        what: "capabilities",
        method: "initialize",
        refused: true,
        params: |long| json!({"protocolVersion": "2025-11-25", "capabilities": {"experimental": {"x": long}}, "clientInfo": {"name": "x", "version": "1"}}),
    },
    Act {
        what: "a trace",
        method: "tools/call",
        refused: false,
        params: |long| json!({"name": "a__echo", "arguments": {"text": "x"}, "_meta": {"traceparent": long}}),
    },
    Act {
        what: "wide arguments",
        method: "tools/call",
        refused: false,
        params: |long| json!({"name": "a__echo", "arguments": {"text": "x", "wide": wide(&long)}}),
    },
];

/// Objects in an object, as long as that together, with names that are as long as those may be that are told whole.
fn wide(long: &str) -> Value {
    let object = |count: usize, inner: Value| -> Value {
        (0..count).map(|n| (format!("{n:0>20}{}", &long[..200]), inner.clone())).collect()
    };
    let inner = long.len() / 64 / object(1, json!(1)).to_string().len();
    object(64, object(inner + 1, json!(1)))
}

/// Bytes of memory that the hub has.
pub(crate) fn resident(hub: &Hub) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", hub.child.id())).unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Bytes of what is in a directory.
fn stored(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|entry| entry.metadata().unwrap().len()).sum()
}

#[test]
fn what_is_very_long_leaves_nothing() {
    let text = format!("{}[agents.cto]\nservers = [\"a\"]\n", entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let client = Client::session(&hub, "/mcp", &token);
    let send = |act: &Act, nth: usize| {
        let long = format!("{nth:0>20}{}", "x".repeat(LONG));
        client.ask(act.method, (act.params)(long))["error"].is_object()
    };
    let mut faults = Vec::new();
    // So that all that is made once is there.
    for act in &ACTS {
        if send(act, 0) != act.refused {
            faults.push(format!("{}: refused is not {}", act.what, act.refused));
        }
    }
    for act in &ACTS {
        for nth in 1..=FIRST {
            send(act, nth);
        }
        let before = resident(&hub);
        for nth in 1..=TIMES {
            send(act, FIRST + nth);
        }
        let left = resident(&hub).saturating_sub(before);
        if left > LEFT {
            faults.push(format!("{}: {left} bytes are left", act.what));
        }
    }
    // All is written down when it has ended.
    hub.stop();
    let stored = stored(&context.home().join(".local/share/switchboard"));
    if stored > STORED {
        faults.push(format!("{stored} bytes are in the database"));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
