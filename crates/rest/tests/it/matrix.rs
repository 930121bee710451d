//! Every route with every kind of credential: exactly those pass for whom it is.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_model::{AgentId, AgentSpec, Scope, ServerKey};
use switchboard_rest::{Access, ROUTES};
use switchboard_store::{Actor, Role, Subject};

use crate::kit::{Engine, World, global, user};

suite! {
    exactly_the_allowed_pass,
    nothing_that_is_sent_breaks_a_route,
    what_is_in_no_table_is_not_there,
    faults_are_told_and_nothing_breaks,
}

/// A route, what is sent to it, and the answers to another member, to the member whose things they
/// are, to the administrator, and to the member's agent.
pub(crate) struct Case {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) body: &'static str,
    answers: [u16; 4],
}

const fn case(
    method: &'static str,
    path: &'static str,
    body: &'static str,
    answers: [u16; 4],
) -> Case {
    Case { method, path, body, answers }
}

/// For whoever has a credential.
const ALL: [u16; 4] = [200; 4];
/// For people.
const PEOPLE: [u16; 4] = [200, 200, 200, 403];
/// For whoever a thing belongs to, and administrators.
const OWN: [u16; 4] = [404, 200, 200, 403];
/// For administrators.
const ADMIN: [u16; 4] = [403, 403, 200, 403];

const ENTRY: &str = r#"{"entry": {"url": "http://127.0.0.1:9/mcp", "enabled": false}}"#;
const NO_HASH: &str =
    r#"{"hash": "0000000000000000000000000000000000000000000000000000000000000000"}"#;

/// Every route.
pub(crate) const CASES: &[Case] = &[
    case("GET", "/api/v1/servers", "", PEOPLE),
    case("POST", "/api/v1/servers", "{}", [422, 422, 422, 403]),
    case("GET", "/api/v1/servers/{server}", "", OWN),
    case("PUT", "/api/v1/servers/{server}", ENTRY, OWN),
    case("DELETE", "/api/v1/servers/{server}", "", [404, 204, 204, 403]),
    case("POST", "/api/v1/servers/{server}/enable", "", OWN),
    case("POST", "/api/v1/servers/{server}/disable", "", OWN),
    case("POST", "/api/v1/servers/{server}/approve", NO_HASH, [403, 403, 412, 403]),
    case("POST", "/api/v1/servers/{server}/reconnect", "", OWN),
    case("POST", "/api/v1/servers/{server}/test", "", OWN),
    case("GET", "/api/v1/servers/{server}/logs", "", OWN),
    case("PUT", "/api/v1/servers/{server}/credential", r#"{"kind":"bearer","value":"x"}"#, OWN),
    case("DELETE", "/api/v1/servers/{server}/credential", "", [404, 404, 404, 403]),
    case("GET", "/api/v1/catalog", "", PEOPLE),
    case("GET", "/api/v1/tools", "", ALL),
    case("POST", "/api/v1/tools/call", r#"{"name": "mcp__none__x"}"#, [404; 4]),
    case("GET", "/api/v1/agents", "", PEOPLE),
    case("POST", "/api/v1/agents", "{}", [422, 422, 422, 403]),
    case("GET", "/api/v1/agents/{agent}", "", OWN),
    case("PUT", "/api/v1/agents/{agent}", "{}", OWN),
    case("DELETE", "/api/v1/agents/{agent}", "", [404, 204, 204, 403]),
    case("GET", "/api/v1/agents/{agent}/tools", "", [404, 200, 200, 404]),
    case("GET", "/api/v1/agents/{agent}/tokens", "", OWN),
    case("POST", "/api/v1/agents/{agent}/tokens", r#"{"name": "x"}"#, [404, 201, 201, 403]),
    // Of an agent that a file declares, which nobody owns.
    case("GET", "/api/v1/agents/clerk", "", PEOPLE),
    case("PUT", "/api/v1/agents/clerk", "{}", [409, 409, 409, 403]),
    case("DELETE", "/api/v1/agents/clerk", "", [409, 409, 409, 403]),
    case("GET", "/api/v1/agents/clerk/tools", "", [403, 403, 200, 404]),
    case("GET", "/api/v1/agents/clerk/tokens", "", ADMIN),
    case("POST", "/api/v1/agents/clerk/tokens", r#"{"name": "x"}"#, [403, 403, 201, 403]),
    case("GET", "/api/v1/tokens", "", PEOPLE),
    case("POST", "/api/v1/tokens", r#"{"name": "x"}"#, [201, 201, 201, 403]),
    case("DELETE", "/api/v1/tokens/{token}", "", [404, 204, 204, 403]),
    case("GET", "/api/v1/me", "", ALL),
    case("GET", "/api/v1/users", "", ADMIN),
    case("POST", "/api/v1/users", "{}", [403, 403, 422, 403]),
    case("GET", "/api/v1/users/bob", "", OWN),
    case("PUT", "/api/v1/users/bob", "{}", OWN),
    case("DELETE", "/api/v1/users/{user}", "", [403, 403, 204, 403]),
    case("PUT", "/api/v1/users/bob/password", "{}", [404, 204, 204, 403]),
    case("POST", "/api/v1/users/bob/sign-in-link", "", [403, 403, 201, 403]),
    case("POST", "/api/v1/sign-in", "{}", [422; 4]),
    case("GET", "/sign-in", "", [400; 4]),
    case("POST", "/api/v1/sign-out", "", [204, 204, 204, 403]),
    case("GET", "/api/v1/audit", "", PEOPLE),
    case("GET", "/api/v1/audit/verify", "", ADMIN),
    case("GET", "/api/v1/audit/retention", "", ADMIN),
    case("PUT", "/api/v1/audit/retention", r#"{"days": 365}"#, ADMIN),
    case("GET", "/api/v1/usage", "", PEOPLE),
    case("GET", "/api/v1/usage/totals", "", PEOPLE),
    case("GET", "/api/v1/events", "", PEOPLE),
    case("GET", "/api/v1/openapi.json", "", ALL),
    case("GET", "/api", "", ALL),
    case("GET", "/api/style.css", "", ALL),
    case("GET", "/healthz", "", ALL),
    case("GET", "/readyz", "", ALL),
    case("GET", "/metrics", "", PEOPLE),
    case("GET", "/tools/list", "", ALL),
    case("GET", "/api/agents/mcp", "", PEOPLE),
    case(
        "POST",
        "/api/agents/mcp/reconnect",
        r#"{"server_name": "user:bob:none"}"#,
        [404, 404, 404, 403],
    ),
    case("GET", "/api/mcp", "", PEOPLE),
    case("POST", "/api/mcp", "{}", [422, 422, 422, 403]),
    case("DELETE", "/api/mcp", "", [400, 400, 400, 403]),
    case("GET", "/integrations", "", PEOPLE),
    case("POST", "/integrations", "{}", [422, 422, 422, 403]),
    case("GET", "/integrations/{server}", "", OWN),
    case("PUT", "/integrations/{server}", "{}", OWN),
    case("DELETE", "/integrations/{server}", "", [404, 204, 204, 403]),
    case("POST", "/integrations/{server}/test", "", OWN),
    case("POST", "/integrations/{server}/reconnect", "", OWN),
];

/// The path as the table has it.
fn row(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{server}" | "{agent}" | "{token}" | "{user}" | "bob" | "clerk" => "{id}",
        other => other,
    });
    parts.collect::<Vec<_>>().join("/")
}

async fn exactly_the_allowed_pass(engine: Engine<'_>) {
    let cases: BTreeSet<_> =
        CASES.iter().map(|case| (case.method.to_owned(), row(case.path))).collect();
    let routes: BTreeSet<_> =
        ROUTES.iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    assert_eq!(cases, routes, "every route has its row here");

    let world = World::with(engine, |_| vec![crate::agents::FILE.to_owned()]).await;
    let tokens = world.tokens.clone();
    let document = world.nobody().get("/api/v1/openapi.json").await.expect(200);
    let mut wrong = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let route = ROUTES.iter().find(|r| r.method == case.method && r.path == row(case.path));
        let public = route.unwrap().access == Access::Public;
        let shut = if public { case.answers[0] } else { 401 };
        let (ada, bob, eve) = (&tokens.ada, &tokens.bob, &tokens.eve);
        let everybody: [(&str, Option<&str>, u16); 8] = [
            ("nobody", None, shut),
            ("garbage", Some("swb_garbage"), shut),
            ("expired", Some(&tokens.expired), shut),
            ("revoked", Some(&tokens.revoked), shut),
            ("another member", Some(eve), case.answers[0]),
            ("the member", Some(bob), case.answers[1]),
            ("the administrator", Some(ada), case.answers[2]),
            ("the member's agent", Some(&tokens.agent), case.answers[3]),
        ];
        for (who, token, wanted) in everybody {
            let path = world.fixture(case.path, number).await;
            let client = token.map_or_else(|| world.nobody(), |token| world.client(token));
            let body = Some(case.body).filter(|body| !body.is_empty()).map(str::to_owned);
            let status = client.open(case.method, &path, body).await.status().as_u16();
            if !documented(&document, case, status) {
                wrong.push(format!("{} {path}: {status} is not in the document", case.method));
            }
            if status != wanted {
                wrong.push(format!("{} {path}: {who}: {status}, not {wanted}", case.method));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    world.stop().await;
}

/// Whether a route may answer so.
fn documented(document: &Value, case: &Case, status: u16) -> bool {
    let operation = &document["paths"][&row(case.path)][case.method.to_lowercase()];
    operation["responses"][status.to_string()].is_object()
}

async fn nothing_that_is_sent_breaks_a_route(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let document = world.nobody().get("/api/v1/openapi.json").await.expect(200);
    let nested = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let nul = "{\"name\": \"a\\u0000b\", \"id\": \"a\\u0000b\"}";
    let wide = r#"{"name": "\u202e", "id": "..", "entry": {"url": "\ud800"}, "expires_in": -1}"#;
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "7",
        "\"x\"",
        "{\"name\": null}",
        &nested,
        nul,
        wide,
        "\u{feff}{}",
    ];
    let ids = ["%20", "%00", "%FF", "..", "%2e%2e%2f", "a:b:c", "user::x", "agent:%F0%9F%A6%80:x"];
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| !case.path.ends_with("/events")) {
        for (number, body) in bodies.iter().enumerate() {
            let id = ids[number % ids.len()];
            let parts = case.path.split('/').map(|part| match part {
                "{server}" | "{agent}" | "{token}" | "{user}" => id,
                other => other,
            });
            let path = format!("{}?limit=1e3&x=%00", parts.collect::<Vec<_>>().join("/"));
            let path = if number % 2 == 0 { path.split('?').next().unwrap() } else { &path };
            let body = Some((*body).to_owned()).filter(|body| !body.is_empty());
            let status = world.ada().open(case.method, path, body).await.status().as_u16();
            let refused = [400, 404].contains(&status);
            if status >= 500 || !(refused || documented(&document, case, status)) {
                wrong.push(format!("{} {path} {number}: {status}", case.method));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    world.stop().await;
}

async fn what_is_in_no_table_is_not_there(engine: Engine<'_>) {
    let world = World::start(engine).await;
    for path in ["/", "/api/v2/servers", "/api/v1", "/api/v1/nothing", "/api/v1/servers/x/y/z"] {
        for client in [world.ada(), world.nobody()] {
            let answer = client.get(path).await;
            assert_eq!(answer.header("content-type"), "application/problem+json", "{path}");
            assert_eq!(answer.expect(404)["code"], "not_found", "{path}");
        }
    }
    assert_eq!(world.ada().send("PATCH", "/api/v1/servers", None).await.status, 405);
    world.stop().await;
}

impl World {
    /// The path with the ids of things that were just made, all of them Bob's.
    async fn fixture(&self, path: &str, number: usize) -> String {
        let by = Actor::system();
        if path.contains("{server}") {
            let scope = Scope::User(user("bob"));
            let key = ServerKey { scope, ..global(&format!("server-{number}")) };
            if self.store.servers().get(&key).await.unwrap().is_some() {
                self.store.servers().remove(&key, &by).await.unwrap();
            }
            let spec = crate::servers::off(&key.name);
            let row = self.store.servers().create(&key, &spec, &by).await.unwrap();
            self.hub.make_so().await.unwrap();
            return path.replace("{server}", &row.id);
        }
        if path.contains("{agent}") {
            let id = AgentId::parse(&format!("agent-{number}")).unwrap();
            if self.store.agents().get(&id).await.unwrap().is_none() {
                let spec = AgentSpec::default();
                self.store.agents().create(&id, &user("bob"), &spec, &by).await.unwrap();
            }
            return path.replace("{agent}", id.as_str());
        }
        if path.contains("{token}") {
            let subject = Subject::User(user("bob"));
            let made = self.store.tokens().create(&subject, "x", None, &by).await.unwrap();
            return path.replace("{token}", &made.token.id);
        }
        if path.contains("{user}") {
            let id = user(&format!("user-{number}"));
            if self.store.users().get(&id).await.unwrap().is_none() {
                self.store.users().create(&id, "x", Role::Member, &by).await.unwrap();
            }
            return path.replace("{user}", id.as_str());
        }
        path.to_owned()
    }
}

async fn faults_are_told_and_nothing_breaks(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let ada = world.ada();
    let strange = ["/api/v1/servers/%00", "/api/v1/servers/%FF", "/api/v1/agents/..%2f..%2fetc"];
    for path in strange {
        let status = ada.get(path).await.status;
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
    for (query, status) in [("limit=0", 400), ("limit=x", 400), ("cursor=%2f", 400), ("x=y", 200)] {
        assert_eq!(ada.get(&format!("/api/v1/servers?{query}")).await.status, status, "{query}");
    }
    let answer = ada.send("POST", "/api/v1/servers", Some("{".to_owned())).await;
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert_eq!(answer.expect(400)["code"], "not_json");
    let answer = ada.post("/api/v1/servers", json!({"name": 7})).await;
    assert_eq!(answer.expect(422)["type"], "urn:switchboard:problem:invalid");
    let large = format!("\"{}\"", "x".repeat(1024 * 1024));
    assert_eq!(ada.send("POST", "/api/v1/servers", Some(large)).await.status, 413);
    let text = ada.header("content-type", "text/plain");
    assert_eq!(text.send("POST", "/api/v1/servers", None).await.status, 415);
    world.stop().await;
}
