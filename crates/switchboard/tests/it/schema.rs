//! The API against its own description: schemathesis makes requests of every kind from the OpenAPI
//! document, good ones and bad ones. Nothing is answered that is not described, and nothing with a 5xx.

use std::process::Command;

use serde_json::json;
use switchboard_testkit::script::Script;
use switchboard_testkit::{Tools, repetitions};

use crate::context::Context;
use crate::hub::Hub;
use crate::rest::{person, served};

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

/// Every kind of value that a description can think of, and random ones.
const BOTH: &str = "coverage,fuzzing";
/// For whom most is refused before any value is read.
const RANDOM: &str = "fuzzing";

/// Runs it with this token; with `id`, every path names something that is there.
fn examine(
    (context, hub): (&Context, &Hub),
    (token, id): (&str, Option<&str>),
    phases: &str,
    examples: u32,
) {
    let config = id.map(|id| format!("[parameters]\nid = {id:?}\n")).unwrap_or_default();
    context.write("schemathesis.toml", &config);
    let program = Tools::find().python("schemathesis").with_file_name("schemathesis");
    let mut command = Command::new(program);
    let output = context
        .prepare(&mut command)
        .arg("run")
        .arg(format!("http://{}/api/v1/openapi.json", hub.address))
        .args(["-H", &format!("Authorization: Bearer {token}")])
        .args(["--phases", phases, "--checks", CHECKS])
        .args(["--max-examples", &examples.to_string()])
        // A stream has no end to wait for.
        .args(["--exclude-path", "/api/v1/events", "--generation-deterministic", "--no-color"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("generated"), "it made requests: {said}");
}

#[test]
fn prove_nothing_is_answered_that_is_not_described() {
    let examples = repetitions(40);
    let context = Context::new();
    let hub = Hub::start(&context);
    let (admin, member) = (person(&context, "admin"), person(&context, "member"));
    let here = (&context, &hub);
    examine(here, (&member, None), BOTH, examples);
    // The same id for one of each kind.
    person(&context, "thing");
    context.ok(&["agent", "add", "thing"]);
    let server = json!({"name": "thing", "entry": served(&Script::new()), "approve": true});
    assert_eq!(hub.rest("POST", "/api/v1/servers", &admin, Some(&server)).status, 201);
    // What is for people is refused to the thing's agent, in the words that are described.
    let agent = context.json(&["token", "create", "--agent", "thing"]);
    examine(here, (agent["token"].as_str().unwrap(), Some("thing")), RANDOM, examples);
    assert_eq!(hub.rest("GET", "/api/v1/servers/thing", &admin, None).status, 200, "untouched");
    examine(here, (&admin, Some("thing")), BOTH, examples);
    assert_eq!(hub.rest("GET", "/api/v1/me", &admin, None).status, 200, "it still runs");
}
