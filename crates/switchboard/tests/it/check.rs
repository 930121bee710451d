//! `check` and `list`, as a person and as a script sees them.

use insta::assert_snapshot;

use crate::context::Context;

const BROKEN: &str = r#"
[servers.files]
comand = "npx"

[servers.sentry]
command = "npx"
url = "https://mcp.sentry.dev/mcp"
headers = { Authorization = "Bearer sk-live-0123456789abcdef", X = [1] }

[servers.good]
command = "npx"
args = ["-y", "pkg", "${WORKSPACE}"]

[agents.cto]
servers = ["githb", "good"]
"#;

#[test]
fn every_problem_in_one_go() {
    let context = Context::new().with("switchboard.toml", BROKEN);
    let ran = context.run(&["check"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!("every_problem", format!("{}{}", ran.err, ran.out));
}

#[test]
fn every_problem_for_a_script() {
    let context = Context::new().with("switchboard.toml", BROKEN);
    let ran = context.run(&["check", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_snapshot!("every_problem_json", ran.out);
}

#[test]
fn exit_codes() {
    let context = Context::new()
        .with("switchboard.toml", "[servers.a]\ncommand = \"x\"\nargs = [\"${NOT_SET}\"]\n");
    for (args, code) in [
        (&["check"][..], 0),
        (&["check", "--strict"], 1),
        (&["check", "switchboard.toml"], 0),
        (&["check", "nowhere.toml"], 1),
        (&["check", "--no-such-flag"], 2),
    ] {
        assert_eq!(context.run(args).code, code, "{args:?}");
    }
    let context = context.variable("NOT_SET", "set");
    assert_eq!(context.run(&["check", "--strict"]).code, 0);
}

#[test]
fn nothing_is_there() {
    let context = Context::new();
    assert_snapshot!(context.ok(&["check"]).out, @"No configuration was found here. Begin with `switchboard add NAME COMMAND…`, or `switchboard import CLIENT`.");
    assert_snapshot!(context.ok(&["list"]).out, @"No servers are declared. Add one with `switchboard add NAME COMMAND…`.");
}

#[test]
fn colours_only_where_wanted() {
    let context = Context::new().with("switchboard.toml", BROKEN);
    let coloured = |args: &[&str], context: &Context| {
        let ran = context.run(args);
        (ran.out + &ran.err).contains('\u{1b}')
    };
    assert!(!coloured(&["check"], &context), "not into a pipe");
    assert!(coloured(&["check", "--color", "always"], &context));
    let context = context.variable("CLICOLOR_FORCE", "1");
    assert!(coloured(&["check"], &context));
    assert!(!coloured(&["check", "--color", "never"], &context));
    let context = context.variable("NO_COLOR", "1");
    assert!(!coloured(&["check"], &context));
}

#[test]
fn files_are_found_and_merged_by_precedence() {
    let context = Context::new()
        .with("switchboard.toml", "[servers.a]\ncommand = \"ours\"\n")
        .with("external-mcps.json", r#"{"a": {"command": "theirs"}, "b": {"command": "b"}}"#)
        .with("config.toml", "[other]\nprogram = true\n");
    context.write_at(
        &context.home().join(".openassistant/mcp-servers.json"),
        r#"{"mcpServers": {"home": {"command": "h"}}}"#,
    );
    context.write_at(
        &context.home().join(".config/switchboard/switchboard.yaml"),
        "servers:\n  far: {url: 'https://example.com/mcp'}\n",
    );
    let home = context.home().display().to_string();
    assert_snapshot!("merged_list", context.ok(&["list"]).out.replace(&home, "~"));
    let ran = context.ok(&["check"]);
    assert!(ran.err.contains("warning[conflict]"), "{}", ran.err);
    assert!(ran.err.contains("switchboard.toml") && ran.err.contains("external-mcps.json"));
}

#[test]
fn shells_and_manuals() {
    let context = Context::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(context.ok(&["completions", shell]).out.contains("import"), "{shell}");
    }
    assert!(context.ok(&["schema"]).out.contains("trust_hints"));
    context.ok(&["man", "pages"]);
    assert!(context.read("pages/switchboard-import.1").contains("switchboard"));
}
