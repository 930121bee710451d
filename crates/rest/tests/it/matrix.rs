//! Every route with every kind of credential: exactly those pass for whom it is.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{
    AgentId, AgentSpec, Auth, Scope, Secret, ServerKey, StdioSpec, Template, Transport,
};
use switchboard_rest::{Access, ROUTES};
use switchboard_store::{Actor, CredentialKind, NewCredential, Role, Subject, command_hash};
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Client, Engine, World, global, user};

suite! {
    exactly_the_allowed_pass,
    nothing_that_is_sent_breaks_a_route,
    what_is_in_no_table_is_not_there,
    faults_are_told_and_nothing_breaks,
}

/// A route, what is sent to it, and the answers to another member, to the member whose things they
/// are, to the administrator, and to an agent, whosever it is. In what is sent `{fresh}` is a name that nothing
/// has, `{server}` a server that is switched off, `{command}` one with a command line that waits for approval,
/// which `{hash}` names, and `{credited}` one with a credential.
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
const NEW: &str =
    r#"{"name": "{fresh}", "entry": {"url": "http://127.0.0.1:9/mcp", "enabled": false}}"#;
const NEW_IN_ASSISTANTS: &str = r#"{"name": "{fresh}", "transport": "http", "url": "http://127.0.0.1:9/mcp",
    "enabled": false}"#;
/// For people, of what they make.
const MADE: [u16; 4] = [201, 201, 201, 403];

/// Every route.
pub(crate) const CASES: &[Case] = &[
    case("GET", "/api/v1/servers", "", PEOPLE),
    case("POST", "/api/v1/servers", NEW, MADE),
    case("GET", "/api/v1/servers/{server}", "", OWN),
    case("PUT", "/api/v1/servers/{server}", ENTRY, OWN),
    case("DELETE", "/api/v1/servers/{server}", "", [404, 204, 204, 403]),
    case("POST", "/api/v1/servers/{server}/enable", "", OWN),
    case("POST", "/api/v1/servers/{server}/disable", "", OWN),
    case("POST", "/api/v1/servers/{command}/approve", r#"{"hash": "{hash}"}"#, ADMIN),
    case("POST", "/api/v1/servers/{server}/reconnect", "", OWN),
    case("POST", "/api/v1/servers/{server}/test", "", OWN),
    case("GET", "/api/v1/servers/{server}/logs", "", OWN),
    case("PUT", "/api/v1/servers/{server}/credential", r#"{"kind":"bearer","value":"x"}"#, OWN),
    case("DELETE", "/api/v1/servers/{credited}/credential", "", [404, 204, 204, 403]),
    case("GET", "/api/v1/catalog", "", PEOPLE),
    case("GET", "/api/v1/tools", "", ALL),
    case(
        "POST",
        "/api/v1/tools/call",
        r#"{"name": "mcp__open__echo", "arguments": {"text": "x"}}"#,
        ALL,
    ),
    case("GET", "/api/v1/agents", "", PEOPLE),
    case("POST", "/api/v1/agents", r#"{"id": "{fresh}"}"#, MADE),
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
    case("POST", "/api/v1/users", r#"{"id": "{fresh}"}"#, [403, 403, 201, 403]),
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
    case("POST", "/api/agents/mcp/reconnect", r#"{"server_name": "{server}"}"#, OWN),
    case("GET", "/api/mcp", "", PEOPLE),
    case("POST", "/api/mcp", NEW_IN_ASSISTANTS, PEOPLE),
    case("DELETE", "/api/mcp?id={server}", "", OWN),
    case("GET", "/integrations", "", PEOPLE),
    case("POST", "/integrations", r#"{"name": "{fresh}", "serverType": "memory"}"#, MADE),
    case("GET", "/integrations/{server}", "", OWN),
    case("PUT", "/integrations/{server}", "{}", OWN),
    case("DELETE", "/integrations/{server}", "", [404, 204, 204, 403]),
    case("POST", "/integrations/{server}/test", "", OWN),
    case("POST", "/integrations/{server}/reconnect", "", OWN),
];

/// The path as the table has it.
fn row(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let parts = path.split('/').map(|part| match part {
        "{server}" | "{command}" | "{credited}" | "{agent}" | "{token}" | "{user}" | "bob"
        | "clerk" => "{id}",
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

    let server = Scripted::http(&Script::new());
    let open = format!("[servers.open]\nurl = {:?}\n", server.url());
    let world = World::with(engine, |_| vec![crate::agents::FILE.to_owned(), open]).await;
    world.hub.upstreams.settled(&global("open"), Duration::from_secs(30)).await;
    world.hub.make_so().await.unwrap();
    let asleep = AgentSpec { enabled: false, ..AgentSpec::default() };
    let sleeper = world.agent("sleeper", "bob", &asleep).await;
    let aide = world.agent("aide", "ada", &AgentSpec::default()).await;
    let tokens = world.tokens.clone();
    let document = world.nobody().get("/api/v1/openapi.json").await.expect(200);
    let mut wrong = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let route = ROUTES.iter().find(|r| r.method == case.method && r.path == row(case.path));
        let public = route.unwrap().access == Access::Public;
        let shut = if public { case.answers[0] } else { 401 };
        let token = |token: &str| world.client(token);
        let everybody: [(&str, Client, u16); 11] = [
            ("nobody", world.nobody(), shut),
            ("garbage", token("swb_garbage"), shut),
            ("expired", token(&tokens.expired), shut),
            ("revoked", token(&tokens.revoked), shut),
            ("a disabled agent", token(&sleeper), shut),
            ("another member", token(&tokens.eve), case.answers[0]),
            // Another password ends the sessions, so this comes first.
            ("the member on the page", world.page("bob").await, case.answers[1]),
            ("the member", token(&tokens.bob), case.answers[1]),
            ("the administrator", token(&tokens.ada), case.answers[2]),
            ("the member's agent", token(&tokens.agent), case.answers[3]),
            // It is never more than itself, whoever owns it.
            ("the administrator's agent", token(&aide), case.answers[3]),
        ];
        for (who, client, wanted) in everybody {
            let (path, body) = world.fixture(case, number).await;
            let body = Some(body).filter(|body| !body.is_empty());
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
            let path = case.path.split('?').next().unwrap();
            let parts = path.split('/').map(|part| match part {
                "{server}" | "{command}" | "{credited}" | "{agent}" | "{token}" | "{user}" => id,
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
    /// A token of an agent of this person.
    async fn agent(&self, id: &str, owner: &str, spec: &AgentSpec) -> String {
        let (agent, by) = (AgentId::parse(id).unwrap(), Actor::system());
        self.store.agents().create(&agent, &user(owner), spec, &by).await.unwrap();
        let made = self.store.tokens().create(&Subject::Agent(agent), "x", None, &by).await;
        self.hub.make_so().await.unwrap();
        made.unwrap().secret.expose().to_owned()
    }

    /// Somebody in a new session of the page, who really means what they send.
    async fn page(&self, who: &str) -> Client {
        let session = self.store.sign_in().begin(&user(who), Duration::from_secs(3600)).await;
        let session = session.unwrap();
        let cookie = format!("__Host-switchboard={}", session.id.expose());
        self.nobody().header("cookie", &cookie).header("x-csrf-token", session.csrf.expose())
    }

    /// The path and the body with the ids of things that were just made, all of them Bob's.
    async fn fixture(&self, case: &Case, number: usize) -> (String, String) {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let fresh = format!("fresh-{}", MADE.fetch_add(1, Ordering::Relaxed));
        let body = case.body.replace("{fresh}", &fresh);
        let both = format!("{}\n{body}", case.path);
        let both = match both.contains("{server}")
            || both.contains("{command}")
            || both.contains("{credited}")
        {
            true => self.server_fixture(&both, number).await,
            false => self.other_fixture(&both, number).await,
        };
        let (path, body) = both.split_once('\n').unwrap();
        (path.to_owned(), body.to_owned())
    }

    async fn server_fixture(&self, text: &str, number: usize) -> String {
        let (by, servers) = (Actor::system(), self.store.servers());
        let scope = Scope::User(user("bob"));
        let key = ServerKey { scope, ..global(&format!("server-{number}")) };
        if servers.get(&key).await.unwrap().is_some() {
            servers.remove(&key, &by).await.unwrap();
        }
        let mut spec = crate::servers::off(&key.name);
        if text.contains("{command}") {
            let (command, args) = (Template::literal("true"), Vec::new());
            let line = StdioSpec { command, args, env: Default::default(), cwd: None };
            (spec.transport, spec.auth) = (Transport::Stdio(line), Auth::None);
        }
        let row = servers.create(&key, &spec, &by).await.unwrap();
        if text.contains("{credited}") {
            let new = NewCredential {
                kind: CredentialKind::Bearer,
                value: Secret::new("x"),
                issuer: None,
                scopes: None,
                expires_at: None,
                target: switchboard_store::target_hash(&spec),
            };
            self.store.credentials().set(&key, None, &new, &by).await.unwrap();
        }
        self.hub.make_so().await.unwrap();
        let hash: String = command_hash(&spec).iter().map(|byte| format!("{byte:02x}")).collect();
        let ids = ["{server}", "{command}", "{credited}"];
        ids.iter().fold(text.replace("{hash}", &hash), |text, id| text.replace(id, &row.id))
    }

    async fn other_fixture(&self, path: &str, number: usize) -> String {
        let by = Actor::system();
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
