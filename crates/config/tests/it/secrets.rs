//! No secret that somebody wrote into a file, and no value of a variable, is ever shown.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use switchboard_config::merge::{self, Input};
use switchboard_config::parse::{self, Context};
use switchboard_config::syntax::Format;
use switchboard_config::{Dialect, Loader, Selection, check};
use switchboard_model::{Secret, ServerSpec};
use switchboard_testkit::{ManualClock, Scratch, mutate};

use crate::support::render_all;
use crate::tree::tree;

/// Looks like no key that a pattern could know.
const CANARY: &str = "little-yellow-bird";

/// A file of each dialect with a canary at every place for a secret.
const FILES: &[(Dialect, Format, &str)] = &[
    (
        Dialect::Native,
        Format::Toml,
        r#"
hub = { store = "postgres://hub:CANARY@db.example.com/hub?sslpassword=CANARY" }
[servers.a]
command = "npx"
args = ["-y", "pkg", "--api-key", "CANARY", "--token=CANARY", "https://u:CANARY@example.com"]
env = { API_KEY = "CANARY", lower = 'CANARY', MIXED = "${A}CANARY${B:-CANARY}" }
auth = { type = "api_key", variable = "KEY", key = "CANARY" }
[servers.b]
url = "https://user:CANARY@example.com/mcp?key=CANARY&other=CANARY#x"
headers = { Authorization = "Bearer CANARY", X-Key = "CANARY", plain = "CANARY" }
auth = { type = "bearer", token = "CANARY" }
[servers.c]
url = "https://example.com/mcp"
auth = { type = "oauth", client_id = "id", client_secret = "CANARY" }
[servers.d]
command = "npx --token CANARY"
[servers.d.env]
TOKEN = "CANARY"
"#,
    ),
    (
        Dialect::Native,
        Format::Yaml,
        r#"
hub:
  store: postgres://hub:CANARY@db.example.com/hub
servers:
  a:
    command: npx
    env:
      API_KEY: CANARY
      lower: 'CANARY'
      MORE: "a CANARY"
  b:
    url: https://user:CANARY@example.com/mcp?key=CANARY
    headers:
      Authorization: Bearer CANARY
      plain: CANARY
    auth: { type: bearer, token: CANARY }
  c: { command: npx, env: { TOKEN: CANARY, lower: CANARY } }
"#,
    ),
    (
        Dialect::Annabelle,
        Format::Json,
        r#"{"a": {"command": "npx", "env": {"API_KEY": "CANARY", "x": "${A}CANARY"}},
"b": {"type": "http", "url": "https://u:CANARY@example.com/?k=CANARY", "headers": {"Authorization": "Bearer CANARY"}}}"#,
    ),
    (
        Dialect::Spacebot,
        Format::Toml,
        r#"
[[defaults.mcp]]
name = "a"
transport = "stdio"
command = "npx"
env = { TOKEN = "CANARY", lower = "CANARY" }
[[defaults.mcp]]
name = "b"
transport = "http"
url = "https://u:CANARY@example.com/?k=CANARY"
headers = { "Authorization" = "Bearer CANARY" }
"#,
    ),
    (
        Dialect::McpServers,
        Format::Json,
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["--api-key", "CANARY"], "env": {"TOKEN": "CANARY", "n": "CANARY"}},
"b": {"type": "http", "url": "https://u:CANARY@example.com/?k=CANARY", "headers": {"X-Key": "CANARY"}, "oauth": {"clientId": "i", "clientSecret": "CANARY"}}}}"#,
    ),
    (
        Dialect::Aicib,
        Format::Yaml,
        r#"
integrations:
  composio: { enabled: true, api_key: "CANARY" }
  servers:
    a:
      command: npx
      args: []
      env: { TOKEN: "CANARY", lower: CANARY }
  default_servers: [a]
"#,
    ),
    (
        Dialect::VsCode,
        Format::Json,
        r#"{"servers": {"a": {"type": "stdio", "command": "npx", "env": {"TOKEN": "CANARY"}},
"b": {"type": "sse", "url": "https://u:CANARY@example.com/?k=CANARY", "headers": {"Authorization": "Bearer CANARY"}}}}"#,
    ),
    (
        Dialect::Zed,
        Format::Json,
        r#"{"context_servers": {"a": {"command": {"path": "npx", "env": {"TOKEN": "CANARY"}}},
"b": {"url": "https://u:CANARY@example.com/?k=CANARY", "headers": {"X-Key": "CANARY"}, "oauth": {"client_secret": "CANARY"}}}}"#,
    ),
    (
        Dialect::Codex,
        Format::Toml,
        r#"
[mcp_servers.a]
command = "npx"
env = { TOKEN = "CANARY" }
[mcp_servers.b]
url = "https://u:CANARY@example.com/?k=CANARY"
http_headers = { "X-Key" = "CANARY" }
bearer_token = "CANARY"
bearer_token_env_var = "TOKEN"
"#,
    ),
    (
        Dialect::Goose,
        Format::Yaml,
        r#"
extensions:
  a: { type: stdio, enabled: true, cmd: npx, args: [], envs: { TOKEN: CANARY, lower: "CANARY" } }
  b:
    type: streamable_http
    enabled: true
    uri: https://u:CANARY@example.com/?k=CANARY
    headers:
      X-Key: CANARY
"#,
    ),
    (
        Dialect::Continue,
        Format::Yaml,
        r#"
mcpServers:
  - name: a
    command: npx
    env:
      TOKEN: CANARY
  - name: b
    url: https://u:CANARY@example.com/?k=CANARY
    apiKey: CANARY
    requestOptions: { headers: { X-Key: CANARY } }
"#,
    ),
    (
        Dialect::OpenCode,
        Format::Json,
        r#"{"mcp": {"a": {"type": "local", "command": ["npx", "--token", "CANARY"], "environment": {"TOKEN": "CANARY", "l": "CANARY{env:X}"}},
"b": {"type": "remote", "url": "https://u:CANARY@example.com/?k=CANARY", "headers": {"X-Key": "CANARY"}, "oauth": {"clientId": "i", "clientSecret": "CANARY"}}}}"#,
    ),
];

fn planted(text: &str) -> String {
    text.replace("CANARY", CANARY)
}

/// Reads bytes and collects everything that could ever be shown of them.
fn shown(dialect: Dialect, format: Format, bytes: &[u8]) -> String {
    let context = Context { dialect: Some(dialect), format: Some(format), ..Context::default() };
    let parsed = parse::bytes(Path::new("file"), bytes.to_vec(), &context);
    let mut shown = format!("{parsed:?}\n{}", render_all(&parsed.problems));
    let Some(declared) = &parsed.declared else { return shown };
    let merged = merge::merge(&[Input { dialect, declared }], &BTreeSet::new());
    let missing = check::variables(&merged.desired, &merged.origins, &|_| None);
    shown.push_str(&format!("{merged:?}\n{}\n", render_all(&merged.problems)));
    shown.push_str(&render_all(&missing));
    for problem in parsed.problems.iter().chain(&missing) {
        shown.push_str(&format!("{problem}\n"));
    }
    for spec in merged.desired.servers.values() {
        shown.push_str(&format!("{}\n", spec.target()));
    }
    shown
}

fn silent(dialect: Dialect, format: Format, bytes: &[u8]) {
    let shown = shown(dialect, format, bytes);
    if let Some(at) = shown.find(CANARY) {
        let line = shown[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = shown[at..].find('\n').map_or(shown.len(), |n| at + n);
        panic!(
            "{dialect:?} sings: {}\nof {}",
            &shown[line.max(at.saturating_sub(300))..end.min(at + 200)],
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn every_dialect_has_its_canaries() {
    for dialect in Dialect::ALL {
        assert!(FILES.iter().any(|(of, ..)| *of == dialect), "{dialect:?}");
    }
    for (dialect, format, text) in FILES {
        let context =
            Context { dialect: Some(*dialect), format: Some(*format), ..Context::default() };
        let parsed = parse::text(Path::new("file"), &planted(text), &context);
        let errors: Vec<_> = parsed.problems.iter().filter(|p| p.is_error()).collect();
        assert!(errors.is_empty(), "{dialect:?}: {errors:?}");
        assert!(!parsed.declared.unwrap().servers.is_empty());
    }
}

#[test]
fn written_secrets_are_not_shown() {
    for (dialect, format, text) in FILES {
        silent(*dialect, *format, planted(text).as_bytes());
    }
}

/// A file that is cut anywhere shows its last line, and with it whatever stood there.
#[test]
fn nor_of_a_file_that_is_cut() {
    for (dialect, format, text) in FILES {
        mutate::truncated(&planted(text)).for_each(|bytes| silent(*dialect, *format, &bytes));
    }
}

/// A broken letter anywhere breaks the neighbour of some secret. A letter that is part of a key or
/// of a quote can change what is a secret, so only the others are changed.
#[test]
fn nor_of_a_file_with_broken_neighbours() {
    for (dialect, format, text) in FILES {
        let text = planted(text);
        let holders = ["{", "}", "[", "]", ",", "npx", "type", "stdio", "http", "name"];
        for word in holders {
            for (at, _) in text.match_indices(word) {
                for with in ["", "}", "\"", "{", "\u{fffd}"] {
                    let broken = format!("{}{with}{}", &text[..at], &text[at + word.len()..]);
                    silent(*dialect, *format, broken.as_bytes());
                }
            }
        }
    }
}

/// A wrong value at every place, with all of the file in one line.
#[test]
fn nor_of_a_file_with_wrong_values() {
    for (dialect, format, text) in FILES {
        // Without its option, nothing tells that a word of a command is a secret.
        let text =
            text.replace("\"--api-key\", \"CANARY\"", "").replace(", \"--token\", \"CANARY\"", "");
        let text = text.replace(", ,", ",");
        for tree in mutate::replaced(&tree(&planted(&text), *format)) {
            silent(*dialect, Format::Json, tree.to_string().as_bytes());
        }
    }
}

/// A password may contain what looks like a variable.
#[test]
fn nor_of_a_broken_variable() {
    for secret in ["${CANARY}", "x${CANARY", "${A:-CANARY}", "${A:-${CANARY}}", "$${CANARY}"] {
        let secret = planted(secret);
        let text = format!("[servers.a]\ncommand = 'x'\nenv = {{ K = \"{secret}\" }}\n");
        silent(Dialect::Native, Format::Toml, text.as_bytes());
    }
}

#[test]
fn values_of_variables_are_not_shown() {
    let text = "[servers.a]\ncommand = '${BIN}'\nargs = ['${ARG}']\nenv = { T = 'x${TOKEN}' }\n\
                cwd = '${DIR}'\n[servers.b]\nurl = 'https://${HOST}/'\nheaders = { K = '${KEY}' }\n\
                auth = { type = 'bearer', token = '${AUTH}' }\n";
    let scratch = Scratch::new();
    let path = scratch.write("switchboard.toml", text);
    let loaded = Loader::new(Selection::Named(vec![path]), Arc::new(ManualClock::new())).load();
    let asked = std::sync::Mutex::new(0);
    let env = |_: &str| {
        *asked.lock().unwrap() += 1;
        Some(Secret::new(CANARY))
    };
    let mut shown = format!("{loaded:?}");
    for spec in loaded.desired.servers.values() {
        let resolved = ServerSpec::resolve(spec, &env).unwrap();
        shown.push_str(&format!("{resolved:?} {spec:?} {}", spec.target()));
    }
    shown.push_str(&format!("{:?}", check::variables(&loaded.desired, &loaded.origins, &env)));
    assert!(*asked.lock().unwrap() >= 7, "every variable was looked up");
    assert!(!shown.contains(CANARY), "{shown}");
    let some = |name: &str| (name != "TOKEN").then(|| Secret::new(CANARY));
    let missing = loaded.desired.servers.values().find_map(|spec| spec.resolve(&some).err());
    assert_eq!(missing.unwrap().to_string(), "not set: TOKEN");
}
