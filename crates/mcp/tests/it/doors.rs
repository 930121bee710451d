//! Who gets in where: tokens, hosts, origins, and the doors of agents and servers.

use serde_json::json;

use crate::kit::{Hub, call, listed, request};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[tokio::test]
async fn no_token_no_answer() {
    for hub in Hub::each_way().await {
        for value in ["", "Bearer", "Bearer ", "Bearer wrong", "Basic token-cto", "token-cto"] {
            for method in ["POST", "GET", "DELETE", "PUT"] {
                for path in ["/mcp", "/mcp/agents/cto", "/mcp/servers/alpha", "/sse"] {
                    let client = hub.client("token-cto").at(path).with("authorization", value);
                    let answer = client.send(method, HELLO.as_bytes()).await;
                    assert_eq!(answer.status, 401, "{method} {path} {value}");
                    assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
                }
            }
        }
    }
}

#[tokio::test]
async fn a_name_that_was_bound_to_us_is_not_ours() {
    for hub in Hub::each_way().await {
        let port = hub.address.port();
        let rows = [
            (format!("127.0.0.1:{port}"), "", 200),
            (format!("localhost:{port}"), "http://localhost:5173", 200),
            ("evil.example.com".to_owned(), "http://evil.example.com", 421),
            (format!("evil.example.com:{port}"), "", 421),
            (format!("127.0.0.1:{port}"), "http://evil.example.com", 403),
            (format!("127.0.0.1:{port}"), "null", 403),
        ];
        for (host, origin, status) in rows {
            // With and without a good token: what is refused here is refused before it is looked at.
            let client = hub.client("token-cto").with("host", &host).with("origin", origin);
            assert_eq!(client.post(HELLO).await.status, status, "{host} {origin}");
            let stranger = client.with("authorization", "");
            let expected = if status == 200 { 401 } else { status };
            assert_eq!(stranger.post(HELLO).await.status, expected, "{host} {origin}");
        }
    }
}

#[tokio::test]
async fn doors_of_others_do_not_exist() {
    for hub in Hub::each_way().await {
        let rows = [
            ("token-cto", "/mcp", 200),
            ("token-cto", "/mcp/agents/cto", 200),
            ("token-cto", "/mcp/agents/dev", 404),
            ("token-cto", "/mcp/agents/nobody", 404),
            ("token-cto", "/mcp/servers/alpha", 200),
            ("token-cto", "/mcp/servers/beta", 200),
            ("token-cto", "/mcp/servers/nothing", 404),
            ("token-cto", "/mcp/servers/..%2f", 404),
            ("token-dev", "/mcp", 200),
            ("token-dev", "/mcp/agents/cto", 404),
            ("token-dev", "/mcp/servers/alpha", 404),
            ("token-dev", "/mcp/servers/beta", 200),
            ("token-boss", "/mcp", 200),
            ("token-boss", "/mcp/agents/cto", 200),
            ("token-boss", "/mcp/agents/nobody", 404),
            ("token-boss", "/mcp/servers/alpha", 200),
            ("token-boss", "/mcp/servers/nothing", 404),
        ];
        for (token, path, status) in rows {
            let answer = hub.client(token).at(path).post(HELLO).await;
            assert_eq!(answer.status, status, "{token} {path}");
        }
    }
}

#[tokio::test]
async fn everybody_sees_what_is_theirs() {
    let hub = Hub::start().await;
    let rows = [
        ("token-cto", "/mcp", 32, "alpha__echo"),
        ("token-dev", "/mcp", 16, "beta__echo"),
        ("token-boss", "/mcp", 32, "beta__echo"),
        ("token-boss", "/mcp/agents/dev", 16, "beta__echo"),
        ("token-cto", "/mcp/servers/alpha", 16, "echo"),
        ("token-dev", "/mcp/servers/beta", 16, "raw"),
    ];
    for (token, path, count, one) in rows {
        let client = hub.client(token).at(path).initialized("2025-06-18", json!({})).await;
        let mut answer = client.post(&request(1, "tools/list", json!({}))).await;
        let text = answer.text().await.replace(r"\ud800", "");
        let names = listed(&serde_json::from_str(&text).unwrap(), "tools", "name");
        assert_eq!(names.len(), count, "{token} {path}");
        assert!(names.iter().any(|name| name == one), "{token} {path} {names:?}");
        assert!(names.is_sorted(), "{names:?}");
        let answer = client.post(&call(2, one, json!({}))).await.json().await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let dev = hub.client("token-dev").initialized("2025-06-18", json!({})).await;
    let answer = dev.post(&call(1, "alpha__echo", json!({}))).await.json().await;
    assert_eq!(answer["error"]["code"], -32602, "what is not seen cannot be called");
}

#[tokio::test]
async fn other_methods_and_kinds_are_refused() {
    for hub in Hub::each_way().await {
        let client = hub.client("token-cto");
        for method in ["PUT", "PATCH", "OPTIONS"] {
            assert_eq!(client.send(method, b"{}").await.status, 405);
        }
        assert_eq!(client.clone().with("content-type", "text/plain").post(HELLO).await.status, 415);
        assert_eq!(client.clone().with("accept", "application/json").post(HELLO).await.status, 406);
        assert_eq!(client.clone().with("accept", "*/*").post(HELLO).await.status, 200);
        assert_eq!(client.clone().with("accept", "").post(HELLO).await.status, 200);
        assert_eq!(client.with("accept", "application/json").get().await.status, 406);
    }
}
