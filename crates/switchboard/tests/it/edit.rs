//! `add` and `remove`: what is written, what is kept, what is refused.

use insta::assert_snapshot;

use crate::context::Context;

#[test]
fn a_new_user_adds_servers() {
    let context = Context::new();
    context.ok(&["add", "files", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."]);
    context.ok(&["add", "one-line", "npx -y some-pkg '/a dir'"]);
    context.ok(&[
        "add",
        "sentry",
        "--url",
        "https://mcp.sentry.dev/mcp",
        "--header",
        "Authorization: Bearer ${SENTRY_TOKEN}",
        "--agent",
        "cto",
    ]);
    context.ok(&["add", "github", "--disabled"]);
    assert_snapshot!("new_file", context.read("switchboard.toml"));
    assert_snapshot!("new_list", context.ok(&["list"]).out);
    assert_eq!(context.run(&["check"]).code, 0);
}

#[test]
fn comments_and_order_are_kept_and_assignments_go() {
    let text = "# mine\n[servers.a] # first\ncommand = \"a\"\n\n# about b\n[servers.b]\ncommand = \"b\"\n\n[defaults]\nservers = [\"a\", \"b\"] # both\n\n[agents.cto]\nservers = [\"b\"]\n";
    let context = Context::new().with("switchboard.toml", text);
    assert_snapshot!(context.ok(&["remove", "b", "--dry-run"]).out);
    assert_eq!(context.read("switchboard.toml"), text, "a dry run writes nothing");
    context.ok(&["remove", "b"]);
    assert_snapshot!("removed", context.read("switchboard.toml"));
}

#[test]
fn remove_finds_the_file_that_has_it() {
    let context = Context::new().with("switchboard.toml", "[servers.a]\ncommand = \"a\"\n").with(
        "external-mcps.json",
        "{\n  \"b\": {\"command\": \"b\"},\n  \"c\": {\"command\": \"c\"}\n}\n",
    );
    context.ok(&["remove", "b"]);
    assert_eq!(context.read("external-mcps.json"), "{\n  \"c\": {\"command\": \"c\"}\n}\n");
    assert_eq!(context.read("switchboard.toml"), "[servers.a]\ncommand = \"a\"\n");
}

#[test]
fn refusals_say_what_to_do() {
    let context = Context::new().with("switchboard.toml", "[servers.github]\ncommand = \"a\"\n");
    let mut told = String::new();
    for args in [
        &["add", "github", "npx"][..],
        &["add", "unknown"],
        &["add", "x", "--url", "ftp://example.com"],
        &["add", "x", "--env", "NOPE", "npx"],
        &["add", " x", "npx"],
        &["remove", "githb"],
        &["import", "curser"],
        &["import", "cursor"],
    ] {
        let ran = context.run(args);
        assert_eq!(ran.code, 1, "{args:?}");
        told.push_str(&format!("$ switchboard {}\n{}{}\n", args.join(" "), ran.out, ran.err));
    }
    let home = context.home().display().to_string();
    assert_snapshot!("refusals", told.replace(&home, "~"));
    assert_eq!(context.read("switchboard.toml"), "[servers.github]\ncommand = \"a\"\n");
}
