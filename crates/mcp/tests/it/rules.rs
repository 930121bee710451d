//! The rules of both eras on one URL, each as one row: what is sent, and what comes back.

use serde_json::{Value, json};

use crate::kit::{Client, Hub, call, json as parsed, listed, request, stateless};

/// A request that breaks a rule, or keeps it: what it is, its headers, its body, and the status and
/// the code of the answer, which is 0 for a good one.
type Row<'r> = (&'static str, &'r [(&'static str, &'static str)], Value, u16, i64);

async fn check(client: &Client, (what, headers, sent, status, code): Row<'_>) {
    let mut client = client.clone();
    for (name, value) in headers {
        client = client.with(name, value);
    }
    let mut answer = client.post(&sent.to_string()).await;
    let text = answer.text().await;
    assert_eq!(answer.status, status, "{what}: {text}");
    let body: Value =
        serde_json::from_str(&text.replace(r"\ud800", "")).unwrap_or_else(|_| panic!("{what}"));
    assert_eq!(body["error"]["code"].as_i64().unwrap_or(0), code, "{what}: {text}");
    if !sent["id"].is_null() && !body["id"].is_null() {
        assert_eq!(body["id"], sent["id"], "{what}");
    }
}

fn modern(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = stateless(json!({}));
    json!({"jsonrpc": "2.0", "id": "a-7", "method": method, "params": params})
}

const V: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

#[tokio::test]
async fn stateless_requests_say_all_about_themselves() {
    let without = |key: &str| {
        let mut body = modern("tools/list", json!({}));
        body["params"]["_meta"].as_object_mut().unwrap().remove(key);
        body
    };
    let version = |version: &str| {
        let mut body = modern("server/discover", json!({}));
        body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
        body
    };
    let discover = ("mcp-method", "server/discover");
    let list = ("mcp-method", "tools/list");
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("a good list", &[V, list], modern("tools/list", json!({})), 200, 0),
        ("discover", &[V, discover], modern("server/discover", json!({})), 200, 0),
        ("no capabilities", &[V, list], without("io.modelcontextprotocol/clientCapabilities"), 400, -32602),
        ("a header, but no revision", &[V, list], without("io.modelcontextprotocol/protocolVersion"), 400, -32602),
        ("a header, but no meta", &[V, list], json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 400, -32602),
        ("no version header", &[list], modern("tools/list", json!({})), 400, -32020),
        ("another version header", &[("mcp-protocol-version", "2025-11-25"), list], modern("tools/list", json!({})), 400, -32020),
        ("no method header", &[V], modern("tools/list", json!({})), 400, -32020),
        ("another method header", &[V, discover], modern("tools/list", json!({})), 400, -32020),
        ("an unknown version", &[("mcp-protocol-version", "v999"), discover], version("v999"), 400, -32022),
        ("versions that differ", &[V, discover], version("v999"), 400, -32020),
        ("a session's version", &[("mcp-protocol-version", "2025-11-25"), discover], version("2025-11-25"), 400, -32022),
        ("initialize", &[V, ("mcp-method", "initialize")], modern("initialize", json!({})), 404, -32601),
        ("ping", &[V, ("mcp-method", "ping")], modern("ping", json!({})), 404, -32601),
        ("setLevel", &[V, ("mcp-method", "logging/setLevel")], modern("logging/setLevel", json!({"level": "info"})), 404, -32601),
        ("subscribe", &[V, ("mcp-method", "resources/subscribe")], modern("resources/subscribe", json!({"uri": "x"})), 404, -32601),
        ("no such method", &[V, ("mcp-method", "no/such")], modern("no/such", json!({})), 404, -32601),
        ("a notification as a request", &[V, ("mcp-method", "notifications/cancelled")], modern("notifications/cancelled", json!({})), 404, -32601),
        ("no name header", &[V, ("mcp-method", "tools/call")], modern("tools/call", json!({"name": "alpha__echo"})), 400, -32020),
        ("another name header", &[V, ("mcp-method", "tools/call"), ("mcp-name", "beta__echo")], modern("tools/call", json!({"name": "alpha__echo"})), 400, -32020),
        ("the name header encoded", &[V, ("mcp-method", "tools/call"), ("mcp-name", "=?base64?YWxwaGFfX2VjaG8=?=")], modern("tools/call", json!({"name": "alpha__echo"})), 200, 0),
        ("a mirrored argument is missing", &[V, ("mcp-method", "tools/call"), ("mcp-name", "alpha__mirrored")], modern("tools/call", json!({"name": "alpha__mirrored", "arguments": {"region": "eu"}})), 400, -32020),
        ("a mirrored argument differs", &[V, ("mcp-method", "tools/call"), ("mcp-name", "alpha__mirrored"), ("mcp-param-region", "us")], modern("tools/call", json!({"name": "alpha__mirrored", "arguments": {"region": "eu"}})), 400, -32020),
        ("a mirrored argument", &[V, ("mcp-method", "tools/call"), ("mcp-name", "alpha__mirrored"), ("mcp-param-region", "eu")], modern("tools/call", json!({"name": "alpha__mirrored", "arguments": {"region": "eu"}})), 200, 0),
        ("no such tool", &[V, ("mcp-method", "tools/call"), ("mcp-name", "nothing")], modern("tools/call", json!({"name": "nothing"})), 200, -32602),
        ("no such resource", &[V, ("mcp-method", "resources/read"), ("mcp-name", "no://x")], modern("resources/read", json!({"uri": "no://x"})), 200, -32602),
        ("no name", &[V, ("mcp-method", "tools/call")], modern("tools/call", json!({})), 200, -32602),
    ];
    for hub in Hub::each_way().await {
        let client = hub.client("token-cto");
        for row in rows {
            check(&client, row.clone()).await;
        }
        assert_eq!(hub.served.by(hub.way), rows.len());
    }
}

/// Whatever they say, and whether or not the argument is there.
#[tokio::test]
async fn a_mirrored_header_that_is_there_twice_is_refused() {
    for hub in Hub::each_way().await {
        for (values, arguments, status) in [
            (&["eu"][..], json!({"region": "eu"}), 200),
            (&["eu", "eu"], json!({"region": "eu"}), 400),
            (&["eu", "us"], json!({"region": "eu"}), 400),
            (&["us", "eu"], json!({"region": "eu"}), 400),
            (&["eu", "us"], json!({}), 400),
        ] {
            let mut client = hub.client("token-cto");
            for value in values {
                client.headers.push(("mcp-param-region".to_owned(), (*value).to_owned()));
            }
            let params = json!({"name": "alpha__mirrored", "arguments": arguments});
            let answer = client.ask(1, "tools/call", params, json!({})).await;
            assert_eq!(answer.status, status, "{values:?}");
            if status == 400 {
                assert_eq!(answer.json().await["error"]["code"], -32020, "{values:?}");
            }
        }
    }
}

#[tokio::test]
async fn requests_of_a_session() {
    #[rustfmt::skip]
    let none: &[Row<'_>] = &[
        ("no session", &[], json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 400, -32600),
        ("no such session", &[("mcp-session-id", "0123456789abcdef0123456789abcdef")], json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 404, -32600),
        ("initialize without a version", &[], json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}), 400, -32602),
        ("no message", &[], json!({"id": 1}), 400, -32600),
        ("params that are a list", &[], json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}), 400, -32600),
    ];
    let of = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("ping", &[], of("ping", json!({})), 200, 0),
        ("a list", &[], of("tools/list", json!({})), 200, 0),
        ("a bad cursor", &[], of("tools/list", json!({"cursor": "?"})), 200, -32602),
        ("a cursor that is no text", &[], of("tools/list", json!({"cursor": 5})), 200, -32602),
        ("a version that is none", &[("mcp-protocol-version", "1")], of("ping", json!({})), 400, -32600),
        ("no version header", &[("mcp-protocol-version", "")], of("ping", json!({})), 200, 0),
        ("a level", &[], of("logging/setLevel", json!({"level": "info"})), 200, 0),
        ("a level that is none", &[], of("logging/setLevel", json!({"level": "loud"})), 200, -32602),
        ("no such method", &[], of("no/such", json!({})), 200, -32601),
        ("a method of the other era", &[], of("subscriptions/listen", json!({"notifications": {}})), 200, -32601),
        ("no such tool", &[], of("tools/call", json!({"name": "x"})), 200, -32602),
        ("no such prompt", &[], of("prompts/get", json!({"name": "x"})), 200, -32602),
        ("no such resource", &[], of("resources/read", json!({"uri": "x://y"})), 200, -32002),
        ("a prompt", &[], of("prompts/get", json!({"name": "alpha__greet"})), 200, 0),
        ("a resource", &[], of("resources/read", json!({"uri": "mcp://alpha/test://alpha"})), 200, 0),
        ("a completion", &[], of("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "beta__greet"}, "argument": {"name": "a", "value": ""}})), 200, 0),
        ("a task of nobody's", &[], of("tasks/get", json!({"taskId": "x"})), 200, -32602),
        ("a batch", &[], json!([of("ping", json!({}))]), 400, -32600),
        ("a name twice would be", &[], of("tools/call", json!({})), 200, -32602),
    ];
    for hub in Hub::each_way().await {
        let client = hub.client("token-cto");
        for row in none {
            check(&client, row.clone()).await;
        }
        let client = client.initialized("2025-11-25", json!({})).await;
        for row in rows {
            check(&client, row.clone()).await;
        }
        assert_eq!(hub.served.by(hub.way), none.len() + rows.len() + 2);
    }
}

/// Whatever a request does, its revision has to be one of a session's.
#[tokio::test]
async fn every_request_of_a_session_names_a_revision_of_its_era() {
    let hub = Hub::start().await;
    let ping = request(1, "ping", json!({}));
    for (revision, is_good) in [
        ("2025-11-25", true),
        ("2025-06-18", true),
        ("", true),
        ("2026-07-28", false),
        ("1999-01-01", false),
        ("1", false),
    ] {
        for (method, body, good) in [("POST", &*ping, 200), ("GET", "", 200), ("DELETE", "", 204)] {
            // What a revision of the other era says by POST is none of the session's business.
            if (method, revision) == ("POST", "2026-07-28") {
                continue;
            }
            let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
            let sent = client.clone().with("mcp-protocol-version", revision);
            let answer = sent.send(method, body.as_bytes()).await;
            let status = if is_good { good } else { 400 };
            assert_eq!(answer.status, status, "{method} {revision:?}");
            let after = client.post(&ping).await.status;
            let ended = is_good && method == "DELETE";
            assert_eq!(after, if ended { 404 } else { 200 }, "{method} {revision:?}");
        }
    }
}

#[tokio::test]
async fn every_revision_is_negotiated() {
    let hub = Hub::start().await;
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ];
    for (asked, given) in cases {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {}});
        let answer = hub.client("token-cto").post(&request(1, "initialize", params)).await;
        let id = answer.header("mcp-session-id").unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()) && id.len() < 1000, "{id}");
        let body = answer.json().await;
        assert_eq!(body["result"]["protocolVersion"], given);
        let capabilities = &body["result"]["capabilities"];
        for list in ["tools", "resources", "prompts"] {
            assert_eq!(capabilities[list]["listChanged"], true, "{capabilities}");
        }
        assert_eq!(capabilities["x"], 1);
        assert_eq!(body["result"]["serverInfo"]["name"], "switchboard");
    }
}

/// Clients ask nobody for completions any more once they were told that there is no such method.
#[tokio::test]
async fn a_server_that_cannot_complete_suggests_nothing() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let session = client.clone().initialized("2025-11-25", json!({})).await;
    let name = json!({"ref": {"type": "ref/prompt", "name": "alpha__greet"}, "argument": {"name": "a", "value": ""}});
    let old = session.post(&request(1, "completion/complete", name.clone())).await;
    let old = old.json().await;
    assert_eq!(old["result"], json!({"completion": {"values": []}}));
    let new = client.ask(1, "completion/complete", name, json!({})).await;
    let new = new.json().await;
    assert_eq!(new["result"]["completion"], json!({"values": []}));
    assert_eq!(new["result"]["resultType"], "complete");
    assert_eq!(hub.servers.count(&hub.servers.begun), 0);
}

#[tokio::test]
async fn lists_are_the_same_bytes_in_both_eras() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    let session = client.clone().initialized("2025-06-18", json!({})).await;
    let mut old = session.post(&request(1, "tools/list", json!({}))).await;
    let old = old.text().await;
    let mut new = client.ask(1, "tools/list", json!({}), json!({})).await;
    let new = new.text().await;
    let entries =
        |text: &str| parsed(text).get("result").unwrap().get("tools").unwrap().as_str().to_owned();
    assert_eq!(entries(&old), entries(&new));
    assert!(old.contains(r#""big":9223372036854775809,"one":1.0"#), "{old}");
    assert!(old.contains(r#""$defs":{"a":{"$anchor":"x"}}"#) && old.contains(r#""zz":"\ud800""#));
    let body: Value = serde_json::from_str(&new.replace(r"\ud800", "")).unwrap();
    assert_eq!(body["result"]["resultType"], "complete");
    assert_eq!(body["result"]["cacheScope"], "private");
    assert_eq!(body["result"]["ttlMs"], 60_000);
    let info = &body["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "switchboard");
    let names = listed(&body, "tools", "name");
    assert!(names.contains(&"alpha__echo".to_owned()) && names.contains(&"beta__echo".to_owned()));
    assert_eq!(names.len(), 32);
}

#[tokio::test]
async fn nothing_holds_longer_than_the_servers_in_it() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    for (seconds, expected) in [(Some(0), 0), (Some(5), 5_000), (Some(300), 60_000), (None, 60_000)]
    {
        let holds = seconds.map(std::time::Duration::from_secs);
        let offer = switchboard_core::Offer { holds, ..crate::kit::offer("beta") };
        hub.registry.publish(&crate::kit::key("beta"), std::sync::Arc::new(offer));
        for method in ["prompts/list", "server/discover"] {
            let mut answer = client.ask(1, method, json!({}), json!({})).await;
            let body: Value = serde_json::from_str(&answer.text().await).unwrap();
            assert_eq!(body["result"]["ttlMs"], expected, "{method} {seconds:?}");
        }
    }
}

/// What one caller may read is not everybody's, whatever its server says; for how long it holds is the server's word.
#[tokio::test]
async fn what_was_read_is_the_callers_own() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto");
    for (uri, lasts) in [("test://alpha/x", 0), ("test://alpha/public", 5_000)] {
        let params = json!({"uri": format!("mcp://alpha/{uri}")});
        let read = client.ask(1, "resources/read", params, json!({})).await.json().await;
        let result = &read["result"];
        assert_eq!(result["contents"][0]["text"], "x", "{read}");
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(lasts), &json!("private")));
    }
}

#[tokio::test]
async fn payloads_pass_byte_for_byte() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let arguments =
        r#"{ "z":1.0,"a":9223372036854775809,"u":"\ud800 \u00e9","n":{"b":[1e2, -0]} ,"z2":null}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x-unknown":1.0,"name":"alpha__raw","arguments":{arguments}}}}}"#
    );
    let mut answer = client.post(&body).await;
    let text = answer.text().await;
    assert_eq!(text, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{arguments}}}"#));
    let (server, _, params) = hub.servers.last();
    assert_eq!(server, "alpha");
    assert_eq!(params, format!(r#"{{"x-unknown":1.0,"name":"raw","arguments":{arguments}}}"#));
    // An id is answered as it came.
    for id in [r#""x\u0041""#, "1.0", "-7", "9223372036854775809"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let text = client.post(&body).await.text().await;
        assert_eq!(text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[tokio::test]
async fn failures_are_such_as_a_model_can_act_upon() {
    let hub = Hub::start().await;
    let client = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
    let mut answer = client.post(&call(1, "alpha__fail", json!({}))).await;
    let text = answer.text().await;
    assert!(
        text.contains(r#""error":{"code":-32042,"message":"no","data":{"x":1.0},"more":true}"#)
    );
    let body = client.post(&call(2, "alpha__gone", json!({}))).await.json().await;
    assert_eq!(body["result"]["isError"], true);
    let said = body["result"]["content"][0]["text"].as_str().unwrap();
    let why = "The connection to the server `alpha` ended: the process exited.";
    assert!(said.starts_with(why) && said.contains("check before"), "{said}");
    let body = client.post(&call(3, "alpha__nothing", json!({}))).await.json().await;
    assert_eq!(body["error"]["code"], -32602);
    assert!(body["error"]["message"].as_str().unwrap().contains("alpha__nothing"));
}
