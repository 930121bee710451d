//! Entries shown and taken back, as data.

use serde_json::json;
use switchboard_model::ServerName;

use super::super::entry;
use super::*;

fn spec(value: &Value) -> ServerSpec {
    let name = ServerName::parse("s").unwrap();
    entry::native(&name, value.as_object().unwrap()).unwrap()
}

#[test]
fn what_is_read_can_be_sent_back_and_nothing_is_lost() {
    let command = json!({
        "command": "npx",
        "args": ["-y", "pkg", "--api-key", "sesame", "--url=http://me:sesame@h/", "${DIR:-.}"],
        "env": {"KEY": "sesame", "FROM": "${HUB}", "OR": "${HUB:-sesame}", "EMPTY": ""},
        "cwd": "/tmp", "timeout": "5s", "call_timeout": {"total": "1h"}, "idle_timeout": "2m",
        "tools": {"allow": ["read_*"], "deny": ["x"]}, "enabled": false, "max_output": "7KB",
        "description": "d", "category": "c", "sensitive": true, "trust_hints": false,
        "auth": {"type": "api_key", "variable": "V", "key": "sesame"},
    });
    let url = json!({
        "url": "https://h/mcp?key=sesame", "transport": "sse", "start": "lazy",
        "headers": {"X-Key": "sesame", "X-Open": "Bearer ${HUB}"},
        "auth": {"type": "oauth", "scopes": ["a"], "client_id": "me", "client_secret": "sesame"},
    });
    let bearer = json!({"url": "https://h/mcp", "auth": {"type": "bearer", "token": "sesame"}});
    let open = json!({"url": "https://h/mcp", "auth": {"type": "bearer", "token": "${HUB}"}});
    for value in [command, url, bearer, open] {
        let spec = spec(&value);
        let seen = shown(&spec);
        assert!(!Value::Object(seen.clone()).to_string().contains("sesame"), "{seen:?}");
        let back = self::spec(&Value::Object(filled(&seen, &spec).unwrap()));
        assert_eq!(back, spec, "{seen:?}");
    }
}

#[test]
fn only_what_is_secret_is_hidden() {
    let value = json!({"command": "npx", "args": ["-y", "--token", "sesame", "/tmp"],
        "env": {"A": "sesame", "B": "${HUB}"}});
    let seen = Value::Object(shown(&spec(&value)));
    let wanted = json!({"command": "npx", "args": ["-y", "--token", null, "/tmp"],
        "env": {"A": null, "B": "${HUB}"}});
    assert_eq!(seen, wanted);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let old = json!({"url": "https://h/mcp", "headers": {"X-Key": "v"}});
    let cases = [
        (json!({"url": "https://h/mcp?key=***"}), "`url` holds `***`"),
        (json!({"url": null, "headers": {"x-key": "***"}}), "`headers.x-key` holds"),
        (json!({"url": null, "headers": {"x-key": "Bearer ***"}}), "`headers.x-key` holds"),
        (json!({"url": null, "headers": {"other": null}}), "`headers.other` is null, and"),
        (json!({"url": null, "auth": {"type": "bearer", "token": null}}), "`auth.token` is null"),
        (json!({"command": "npx", "args": [null]}), "`args[0]` is null"),
        (json!({"command": "npx", "args": ["--key=***"]}), "`args[0]` holds"),
    ];
    for (entry, words) in cases {
        let problem = filled(entry.as_object().unwrap(), &spec(&old)).unwrap_err();
        assert!(format!("{problem:?}").contains(words), "{entry}: {problem:?}");
    }
    let fine = json!({"url": null, "headers": {"x-key": null, "stars": "a***b"}});
    assert!(filled(fine.as_object().unwrap(), &spec(&old)).is_ok());
}
