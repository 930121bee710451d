//! What is not done, and what a person reads then.

use super::*;

fn refused(path: &str, text: &str, change: Change, expected: &str) {
    let dialect = whose(Path::new(path), text);
    let error = dialect.and_then(|dialect| apply(Path::new(path), text, dialect, &change));
    let message = error.expect_err("it was done").to_string();
    assert_eq!(message, expected);
}

#[test]
fn names() {
    let text = "[servers.github]\ncommand = \"x\"\n";
    refused(
        "switchboard.toml",
        text,
        add(stdio("github", "y")),
        "server `github` is already in switchboard.toml:1:10; \
         use `--replace` or remove it first",
    );
    for change in [remove("guthub"), enable("guthub", true), replace(stdio("guthub", "x"))] {
        let expected = "no server `guthub` in switchboard.toml; did you mean `github`?";
        refused("switchboard.toml", text, change, expected);
    }
    refused(
        "switchboard.toml",
        text,
        remove("zzz"),
        "no server `zzz` in switchboard.toml; `switchboard list` shows those that are there",
    );
    refused(
        "switchboard.yaml",
        "agents:\n  a: {own: {x: {command: y}}}\n  b: {own: {x: {command: z}}}\n",
        replace(stdio("x", "w")),
        "server `x` stands more than once in switchboard.yaml, for `a`, `b`; \
         edit the one that is meant by hand",
    );
}

#[test]
fn broken_files() {
    refused(
        "switchboard.toml",
        "[servers.a\n",
        remove("a"),
        "switchboard.toml has errors and is left as it is: switchboard.toml:1:11: \
         this is not valid TOML: unclosed table, expected `]` [syntax]; \
         Mend it; until then the last good state of this file stays.",
    );
    let text = "[servers.a]\ncomand = \"x\"\n\n[servers.b]\ncommand = \"y\"\n";
    // What is broken can be removed and replaced, and does not keep others from being edited.
    check("switchboard.toml", text, remove("a"), "-[servers.a]\n-comand = \"x\"\n-");
    check("switchboard.toml", text, enable("b", false), "+enabled = false");
    let expected = "-comand = \"x\"\n+command = \"z\"";
    check("switchboard.toml", text, replace(stdio("a", "z")), expected);
    refused(
        "switchboard.toml",
        "[servers.a]\ncommand = 1\n",
        enable("a", false),
        "switchboard.toml has errors and is left as it is: switchboard.toml:2:11: \
         `command` must be a text, and here is a number [wrong-type]; Write a text instead.",
    );
}

#[test]
fn dialects() {
    refused(
        ".vscode/mcp.json",
        "{\"servers\": {\"a\": {\"type\": \"stdio\", \"command\": \"x\"}}}",
        remove("a"),
        ".vscode/mcp.json is a `vscode` file, which is read but never written; \
         add the server to switchboard.toml, or use that program itself",
    );
    let cannot = |path: &str, what: &str, dialect: &str| {
        format!(
            "{path} cannot say `{what}` of server `a`: `{dialect}` files have no such key; \
             declare the server in switchboard.toml instead"
        )
    };
    let annabelle = "{\"a\": {\"command\": \"x\"}}";
    let expected = cannot("external-mcps.json", "enabled", "annabelle");
    refused("external-mcps.json", annabelle, enable("a", false), &expected);
    let expected = cannot(".mcp.json", "agents", "mcpServers");
    refused(".mcp.json", "{}", add_for(stdio("a", "x"), &["cto"]), &expected);
    let mut sensitive = stdio("a", "x");
    sensitive.sensitive = true;
    refused(".mcp.json", "{}", add(sensitive), &cannot(".mcp.json", "sensitive", "mcpServers"));
    let expected = cannot("aicib.config.yaml", "url", "aicib");
    refused("aicib.config.yaml", "company: x\n", add(http("a", "https://a")), &expected);
}

#[test]
fn what_would_change_more() {
    let expected =
        |why: &str| format!("switchboard.yaml cannot be edited safely: {why}; edit it by hand");
    // The anchor that goes with `a` is what `b` is made of.
    refused(
        "switchboard.yaml",
        "servers:\n  a: &a\n    command: x\n  b: *a\n",
        remove("a"),
        &expected("the file would no longer be valid"),
    );
    refused(
        "switchboard.yaml",
        "servers:\n  a: &a\n    command: x\n  b: *a\n",
        enable("a", false),
        &expected("server `b` would not be as it should be"),
    );
    refused(
        "switchboard.yaml",
        "servers:\n  a: &a {command: x}\n  b: {<<: *a, cwd: /tmp}\n",
        replace(stdio("b", "y")),
        &expected("an alias brings `command` in from elsewhere"),
    );
    refused(
        "switchboard.json",
        "{}",
        add(http("a", "not a url")),
        "switchboard.json cannot be edited safely: there would be a new error: `not a url` is not \
         a URL that can be connected to: relative URL without a base; edit it by hand",
    );
}

#[test]
fn secrets_are_not_told() {
    let canary = "sk-canary-0123456789abcdef";
    let text = format!("servers:\n  a: &a\n    command: x\n    env: {{K: {canary}}}\n  b: *a\n");
    for change in [remove("a"), enable("a", false), add(with(stdio("a", "x"), "K", canary))] {
        let error = apply(Path::new("s.yaml"), &text, Dialect::Native, &change).unwrap_err();
        assert!(!format!("{error} {error:?} {change:?}").contains(canary));
    }
}
