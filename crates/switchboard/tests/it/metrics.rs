//! What Prometheus is told of calls.

use serde_json::json;
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};
use crate::rest::person;

#[test]
fn calls_are_counted_and_timed() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    for (tool, times) in [("echo", 3), ("fail", 1)] {
        let call = json!({"name": format!("mcp__a__{tool}"), "arguments": {"text": "x"}});
        (0..times).for_each(|_| drop(hub.rest("POST", "/api/v1/tools/call", &admin, Some(&call))));
    }
    let samples = [
        r#"switchboard_calls_total{server="global:a",tool="echo",outcome="done"} 3"#,
        r#"switchboard_calls_total{server="global:a",tool="fail",outcome="tool_error"} 1"#,
        r#"switchboard_call_duration_seconds_bucket{server="global:a",le="+Inf"} 4"#,
        r#"switchboard_call_duration_seconds_count{server="global:a"} 4"#,
        "switchboard_records_dropped_total 0",
        "switchboard_records_queued 0",
    ];
    let mut text = String::new();
    wait("they are counted", || {
        text = hub.rest("GET", "/metrics", &admin, None).text;
        samples.iter().all(|sample| text.lines().any(|line| line == *sample))
    });
    assert!(text.contains("# TYPE switchboard_call_duration_seconds histogram"), "{text}");
}
