//! What the program writes of a server is read back as that server.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};
use switchboard_config::parse::Context;
use switchboard_config::shape;
use switchboard_config::syntax::Format;
use switchboard_model::{Auth, Limits, ServerSpec, Start, Timing, ToolFilter};
use switchboard_testkit::fuzz::map_templates;
use switchboard_testkit::repetitions;

use super::generate::server;
use super::origins::unescaped;
use super::print::print;
use crate::support::read_as;

fn config(full: u32) -> Config {
    Config { cases: repetitions(full), failure_persistence: None, ..Config::default() }
}

fn file(root: &str, spec: &ServerSpec, entry: Map<String, Value>) -> Value {
    json!({ root: { spec.name.as_str(): entry } })
}

#[test]
fn prove_a_native_entry_reads_back() {
    proptest!(config(5_000), |(spec in server())| {
        let tree = file("servers", &spec, shape::server_entry(&spec));
        for (format, name) in [
            (Format::Toml, "switchboard.toml"),
            (Format::Yaml, "switchboard.yaml"),
            (Format::Json, "switchboard.json"),
        ] {
            let text = print(&tree, format);
            let read = read_as(&[(name, &text)], &Context::default());
            prop_assert_eq!(read.servers(), vec![spec.clone()], "{}\n{:?}", text, read.problems);
            prop_assert!(read.problems.is_empty());
        }
    });
}

/// As much as an `mcpServers` map can say.
#[test]
fn prove_an_mcp_servers_entry_reads_back() {
    proptest!(config(2_000), |(spec in server())| {
        let spec = ServerSpec {
            auth: Auth::None,
            category: None,
            timing: Timing::default(),
            limits: Limits::default(),
            start: Start::Eager,
            sensitive: false,
            audit_arguments: None,
            trust_hints: true,
            tools: ToolFilter::default(),
            ..map_templates(&spec, &unescaped)
        };
        let tree = file("mcpServers", &spec, shape::mcp_servers_entry(&spec));
        let text = print(&tree, Format::Json);
        let read = read_as(&[(".mcp.json", &text)], &Context::default());
        prop_assert_eq!(read.servers(), vec![spec.clone()], "{}\n{:?}", text, read.problems);
        prop_assert!(read.problems.is_empty());
    });
}
