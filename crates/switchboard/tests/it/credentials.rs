//! Credentials reach the servers they are for, as long as they are good, and no others.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard_model::{Clock as _, SystemClock};
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::{Hub, entry, wait};
use crate::rest::{Rest, person};

/// What a server says of a variable in its environment.
fn variable(hub: &Hub, token: &str, server: &str, name: &str) -> Rest {
    let call = json!({"name": format!("mcp__{server}__env"), "arguments": {"name": name}});
    hub.rest("POST", "/api/v1/tools/call", token, Some(&call))
}

/// How a server stands.
fn state(hub: &Hub, token: &str, server: &str) -> Value {
    hub.rest("GET", &format!("/api/v1/servers/{server}"), token, None).body["state"].clone()
}

#[test]
fn a_key_reaches_the_variable_it_is_for() {
    let auth = "auth = { type = \"api_key\", variable = \"MYKEY\" }\n";
    let text = format!("{}{auth}", entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &text);
    let hub = Hub::start(&context);
    let admin = person(&context, "admin");
    let path = "/api/v1/servers/a/credential";
    wait("it wants a key", || state(&hub, &admin, "a")["code"] == "needs_auth");
    for value in ["first", "second"] {
        let given = json!({"kind": "api_key", "value": value});
        let set = hub.rest("PUT", path, &admin, Some(&given));
        assert_eq!((set.status, &set.body["state"]["code"]), (200, &json!("connected")));
        let said = variable(&hub, &admin, "a", "MYKEY").body;
        assert_eq!(said["content"][0]["text"], value, "{said}");
    }
    assert_eq!(hub.rest("DELETE", path, &admin, None).status, 204);
    let state = state(&hub, &admin, "a");
    assert_eq!(state["code"], "needs_auth", "{state}");
    assert!(state["message"].as_str().unwrap().contains("none is stored"), "{state}");
}

#[test]
fn what_has_run_out_is_not_sent() {
    let context = Context::new();
    let record = context.work().join("record");
    let server = Scripted::http(&Script::new().record(&record));
    let text = format!("[servers.a]\nurl = \"{}\"\nauth = \"bearer\"\n", server.url());
    context.write("switchboard.toml", &text);
    let hub = Hub::start(&context);
    let admin = person(&context, "admin");
    let put = |value: &str, until: SystemTime| {
        let until = humantime::format_rfc3339_seconds(until).to_string();
        let given = json!({"kind": "bearer", "value": value, "expires_at": until});
        hub.rest("PUT", "/api/v1/servers/a/credential", &admin, Some(&given)).body["state"].clone()
    };
    let heard = |value: &str| {
        let record = std::fs::read_to_string(&record).unwrap_or_default();
        record.contains(&format!("Bearer {value}"))
    };
    let old = put("long-gone", SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800));
    assert_eq!(old["code"], "needs_auth", "{old}");
    assert!(old["message"].as_str().unwrap().contains("expired at 2020-01-01"), "{old}");
    assert!(!heard("long-gone"));
    // One that runs out while it is used is not used any longer.
    let soon = put("soon-gone", SystemClock.now() + Duration::from_secs(20));
    assert_eq!(soon["code"], "connected", "{soon}");
    assert!(heard("soon-gone"));
    wait("it has run out", || state(&hub, &admin, "a")["code"] == "needs_auth");
    let good = put("good", SystemClock.now() + Duration::from_secs(3600));
    assert_eq!(good["code"], "connected", "{good}");
    assert!(heard("good"));
}

/// What was given for one address never reaches another, whoever moves the server.
#[test]
fn a_file_that_moves_a_server_does_not_get_its_credential() {
    let context = Context::new();
    let records = ["first", "second"].map(|name| context.work().join(name));
    let [first, second] = records.clone().map(|file| Scripted::http(&Script::new().record(&file)));
    let heard = |nr: usize, value: &str| {
        let record = std::fs::read_to_string(&records[nr]).unwrap_or_default();
        record.contains(&format!("Bearer {value}"))
    };
    let filed =
        |name: &str, url: &str| format!("[servers.{name}]\nurl = {url:?}\nauth = \"bearer\"\n");
    context.write("switchboard.toml", &filed("a", first.url()));
    let hub = Hub::start(&context);
    let (admin, anna) = (person(&context, "admin"), person(&context, "anna"));
    let entry = json!({"url": first.url(), "auth": "bearer"});
    let new = json!({"name": "b", "scope": "global", "entry": entry});
    assert_eq!(hub.rest("POST", "/api/v1/servers", &admin, Some(&new)).status, 201);
    let put = |who: &str, name: &str, value: &str| {
        let given = json!({"kind": "bearer", "value": value});
        let path = format!("/api/v1/servers/global:{name}/credential");
        let set = hub.rest("PUT", &path, who, Some(&given));
        assert_eq!(set.body["state"]["code"], "connected", "{}", set.body);
    };
    put(&admin, "a", "everybodys-a");
    put(&anna, "a", "annas-a");
    put(&admin, "b", "everybodys-b");
    assert!(["everybodys-a", "annas-a", "everybodys-b"].iter().all(|value| heard(0, value)));

    // The file moves its own, and hides the store's.
    let moved = filed("a", second.url()) + &filed("b", second.url());
    context.write("switchboard.toml", &moved);
    let all = ["global:a", "user:anna:a", "global:b"];
    for server in all {
        wait(&format!("{server} wants another"), || {
            let state = state(&hub, &admin, server);
            let text = state["message"].as_str().unwrap_or_default().to_owned();
            state["code"] == "needs_auth" && text.contains("given for another address")
        });
    }
    // Neither by a new connection nor by a new start.
    for server in all {
        let path = format!("/api/v1/servers/{server}/reconnect");
        assert_eq!(hub.rest("POST", &path, &admin, None).body["state"]["code"], "needs_auth");
    }
    put(&admin, "a", "second-a");
    assert!(heard(1, "second-a"));
    for value in ["everybodys-a", "annas-a", "everybodys-b"] {
        assert!(!heard(1, value), "{value}");
    }
    // Back where it was given for, it is good again.
    context.write("switchboard.toml", &filed("a", second.url()));
    wait("the store's counts again", || state(&hub, &admin, "global:b")["code"] == "connected");
    assert!(!heard(1, "everybodys-b"));
}

#[test]
fn each_reaches_what_all_have_with_their_own() {
    let auth = "auth = { type = \"api_key\", variable = \"MYKEY\" }\n";
    let text = format!("{}{auth}", entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &text);
    let hub = Hub::start(&context);
    let admin = person(&context, "admin");
    let (anna, bob) = (person(&context, "anna"), person(&context, "bob"));
    let new = json!({"id": "annas"});
    assert_eq!(hub.rest("POST", "/api/v1/agents", &anna, Some(&new)).status, 201);
    let new = json!({"name": "test"});
    let agents = hub.rest("POST", "/api/v1/agents/annas/tokens", &anna, Some(&new)).body;
    let agents = agents["secret"].as_str().unwrap().to_owned();
    let path = "/api/v1/servers/global:a/credential";
    for (who, value) in [(&admin, "everybody's"), (&anna, "anna's")] {
        let given = json!({"kind": "api_key", "value": value});
        let set = hub.rest("PUT", path, who, Some(&given));
        assert_eq!(
            (set.status, &set.body["state"]["code"]),
            (200, &json!("connected")),
            "{}",
            set.body
        );
    }
    let wanted = [(&anna, "anna's"), (&agents, "anna's"), (&bob, "everybody's")];
    for (who, value) in wanted {
        let said = variable(&hub, who, "a", "MYKEY").body;
        assert_eq!(said["content"][0]["text"], value, "{said}");
    }
    // It lasts, and goes with her.
    hub.stop();
    let hub = Hub::start(&context);
    wait("hers runs again", || state(&hub, &anna, "user:anna:a")["code"] == "connected");
    let shared = || state(&hub, &admin, "global:a")["pid"].clone();
    wait("everybody's runs again", || shared().is_u64());
    let before = shared();
    context.ok(&["user", "remove", "anna"]);
    assert_eq!(shared(), before, "nobody else's connection is touched");
    let gone = hub.rest("GET", "/api/v1/servers/user:anna:a", &admin, None);
    assert_eq!(gone.status, 404, "{}", gone.body);
}
