//! Every route of the address with every kind of credential. Those of the API have their own matrix, beside
//! their table; here are the others, and that there are no more.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use switchboard_config::Loaded;
use switchboard_model::{AgentId, AgentSpec, Clock as _, SystemClock, UserId};
use switchboard_rest::ROUTES;
use switchboard_store::{Actor, Address, KeySource, Options, Role, Store, Subject};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::super::{OnPaper, api};
use super::*;

/// To nobody, with garbage, with an expired and a revoked token; to another member, the agent's owner, the
/// administrator, the agent.
type Answers = [u16; 8];

/// For everybody.
const ALL: Answers = [200; 8];
/// Whoever has a token is heard; what is sent is no message.
const HEARD: Answers = [401, 401, 401, 401, 400, 400, 400, 400];
/// The same, of a stream.
const OPENED: Answers = [401, 401, 401, 401, 200, 200, 200, 200];
/// That agent and the administrator.
const THEIRS: Answers = [401, 401, 401, 401, 404, 404, 400, 400];
/// The same, of a stream.
const THEIR_STREAM: Answers = [401, 401, 401, 401, 404, 404, 200, 200];
/// A server that nobody has.
const GONE: Answers = [401, 401, 401, 401, 404, 404, 404, 404];

/// Every route that is not the API's: how it is matched, what is asked, and the answers.
const CASES: [(&str, &str, &str, Answers); 8] = [
    ("/", "GET", "/", ALL),
    ("/mcp", "POST", "/mcp", HEARD),
    ("/mcp/sse", "GET", "/mcp/sse", OPENED),
    ("/sse", "GET", "/sse", OPENED),
    ("/mcp/agents/{id}", "POST", "/mcp/agents/helper", THEIRS),
    ("/mcp/agents/{id}/sse", "GET", "/mcp/agents/helper/sse", THEIR_STREAM),
    ("/mcp/servers/{name}", "POST", "/mcp/servers/none", GONE),
    ("/mcp/servers/{name}/sse", "GET", "/mcp/servers/none/sse", GONE),
];

/// The paths of a router. It tells them nowhere else.
fn paths(router: &Router) -> BTreeSet<String> {
    let shown = format!("{router:?}");
    let named = shown.split("RouteId(").filter_map(|part| part.split_once("): \""));
    let paths = named.filter_map(|(_, rest)| rest.split_once('"')).map(|(path, _)| path.to_owned());
    // What answers where no route does is no route.
    paths.filter(|path| !path.contains("axum_fallback")).collect()
}

/// What each kind of caller sends, in the order of the answers.
async fn tokens(store: &Store) -> [Option<String>; 8] {
    let by = Actor::system();
    let user = |id: &str| UserId::parse(id).unwrap();
    store.users().first(&user("ada"), "Ada").await.unwrap();
    for id in ["bob", "eve"] {
        store.users().create(&user(id), id, Role::Member, &by).await.unwrap();
    }
    let helper = AgentId::parse("helper").unwrap();
    store.agents().create(&helper, &user("bob"), &AgentSpec::default(), &by).await.unwrap();
    let gone = SystemClock.now() - Duration::from_secs(60);
    let token = async |subject: Subject, expires| {
        let made = store.tokens().create(&subject, "test", expires, &by).await.unwrap();
        (made.token.id, made.secret.expose().to_owned())
    };
    let (id, revoked) = token(Subject::User(user("ada")), None).await;
    store.tokens().revoke(&id, &by).await.unwrap();
    [
        None,
        Some("swb_garbage".to_owned()),
        Some(token(Subject::User(user("ada")), Some(gone)).await.1),
        Some(revoked),
        Some(token(Subject::User(user("eve")), None).await.1),
        Some(token(Subject::User(user("bob")), None).await.1),
        Some(token(Subject::User(user("ada")), None).await.1),
        Some(token(Subject::Agent(helper), None).await.1),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_is_known_and_answers_exactly_those_it_is_for() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        address: Address::Sqlite(directory.path().join("store.db")),
        key: KeySource::File(directory.path().join("master.key")),
        clock: Arc::new(SystemClock),
    };
    let store = Store::open(options).await.unwrap();
    let tokens = tokens(&store).await;
    let hub = Hub::builder().store(store.clone()).start().await.unwrap();
    hub.refresh_audience();
    let paper = OnPaper::read(Loaded::default(), Some(store.clone())).await.unwrap();
    let (clock, end) = (Arc::new(SystemClock), CancellationToken::new());
    let api = api::api(&hub, store.clone(), Arc::new(paper), clock, end);
    let mut router = router(&hub, &api, SocketAddr::from(([127, 0, 0, 1], 8010)));

    let known = ROUTES.iter().map(|route| route.path).chain(CASES.map(|(matched, ..)| matched));
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    assert_eq!(paths(&router), known, "every route has its case, here or beside the API's table");

    let mut wrong = Vec::new();
    for (matched, method, path, answers) in CASES {
        for (number, (token, wanted)) in tokens.iter().zip(answers).enumerate() {
            let mut request = Request::builder().method(method).uri(path);
            request = request.header(header::HOST, "127.0.0.1:8010");
            request = request.header(header::CONTENT_TYPE, "application/json");
            request = request.header(header::ACCEPT, "application/json, text/event-stream");
            if let Some(token) = token {
                request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            }
            let request = request.body(Body::from("no message")).unwrap();
            let status = router.call(request).await.unwrap().status().as_u16();
            if status != wanted {
                wrong.push(format!("{method} {matched} {number}: {status}, not {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    hub.shutdown().await;
}
