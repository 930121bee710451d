//! The audit log, counts and events: a member sees their own.

use http_body_util::BodyExt;
use serde_json::{Value, json};
use switchboard_model::{Scope, ServerKey};
use switchboard_store::{Actor, NewEvent, Role, Subject};

use crate::kit::{Client, Engine, World, global, user};

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);

suite! {
    how_much_is_kept_is_said_by_administrators,
    members_see_only_what_they_did,
    events_are_resumed_filtered_and_end_with_the_credential,
    whoever_missed_events_is_told,
    nothing_is_told_by_a_credential_that_has_expired,
    whoever_gets_an_id_anew_finds_nothing_under_it,
}

async fn members_see_only_what_they_did(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    ada.post("/api/v1/agents", json!({"id": "hers"})).await.expect(201);
    bob.post("/api/v1/agents", json!({"id": "his"})).await.expect(201);
    let rows = bob.get("/api/v1/audit").await.expect(200);
    let rows = rows["items"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["user"] == "bob"), "{rows:?}");
    assert_eq!(bob.get("/api/v1/audit?user=ada").await.status, 403);
    assert_eq!(bob.get("/api/v1/usage?user=ada").await.status, 403);
    let made = ada.get("/api/v1/audit?action=agent.create&limit=1").await.expect(200);
    assert_eq!(made["items"][0]["detail"]["agent"], "his");
    let next = made["next"].as_str().unwrap();
    let older = ada.get(&format!("/api/v1/audit?action=agent.create&cursor={next}")).await;
    assert_eq!(older.expect(200)["items"][0]["detail"]["agent"], "hers");
    for query in ["origin=nowhere", "since=yesterday", "cursor=x", "agent=%20"] {
        assert_eq!(ada.get(&format!("/api/v1/audit?{query}")).await.status, 400, "{query}");
    }
    let verdict = ada.get("/api/v1/audit/verify").await.expect(200);
    assert_eq!(verdict["whole"], true, "{verdict}");
    assert_eq!(ada.get("/api/v1/usage?period=hour").await.expect(200)["points"], json!([]));
    assert_eq!(ada.get("/api/v1/usage/totals").await.expect(200)["totals"], json!([]));
    world.stop().await;
}

async fn how_much_is_kept_is_said_by_administrators(engine: Engine<'_>) {
    const PATH: &str = "/api/v1/audit/retention";
    let world = World::start(engine).await;
    let ada = world.ada();
    let first = ada.get(PATH).await;
    let etag = first.header("etag").to_owned();
    assert_eq!(
        first.expect(200),
        json!({"days": 365, "rows": 10_000_000, "megabytes": null, "revision": 0})
    );
    for (body, status) in [
        (json!({"days": 0}), 422),
        (json!({"days": 36_501}), 422),
        (json!({"days": -1}), 422),
        (json!({"rows": 0}), 422),
        (json!({"rows": u64::MAX}), 422),
        (json!({"megabytes": 0}), 422),
        (json!({"megabytes": 1_000_000_001}), 422),
        (json!({"weeks": 1}), 422),
        (json!({"days": 30, "rows": null}), 200),
    ] {
        assert_eq!(ada.put(PATH, body.clone()).await.status, status, "{body}");
    }
    let late = ada.header("if-match", &etag).put(PATH, json!({"days": 1})).await;
    assert_eq!(late.expect(412)["code"], "stale");
    let now = ada.get(PATH).await;
    let held = ada.header("if-match", now.header("etag"));
    assert_eq!((&now.expect(200)["days"], &now.expect(200)["rows"]), (&json!(30), &Value::Null));
    let less = json!({"days": 7, "rows": 5000, "megabytes": 3});
    let less = held.put(PATH, less).await.expect(200);
    assert_eq!((&less["rows"], &less["megabytes"]), (&json!(5000), &json!(3)));
    let acts = ada.get("/api/v1/audit?action=audit.retention").await.expect(200);
    let said = |row: &Value| (row["user"].clone(), row["detail"]["days"].clone());
    let acts: Vec<_> = acts["items"].as_array().unwrap().iter().map(said).collect();
    assert_eq!(acts, [(json!("ada"), json!(7)), (json!("ada"), json!(30))]);
    world.stop().await;
}

/// Events as they come.
struct Stream {
    body: hyper::body::Incoming,
    text: String,
}

impl Stream {
    async fn open(client: &Client, path: &str) -> Self {
        let response = client.open("GET", path, None).await;
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next event's id and data; none at the end.
    async fn next(&mut self) -> Option<(i64, Value)> {
        // Signs of life are no events, and come for ever.
        tokio::time::timeout(std::time::Duration::from_secs(30), self.read()).await.unwrap()
    }

    async fn read(&mut self) -> Option<(i64, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned))
                };
                let found = field("id: ").zip(field("data: "));
                self.text = rest.to_owned();
                if let Some((id, data)) = found {
                    return Some((id.parse().unwrap(), serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let Ok(frame) = self.body.frame().await? else { return None };
            if let Some(data) = frame.data_ref() {
                self.text.push_str(std::str::from_utf8(data).unwrap());
            }
        }
    }
}

fn event(kind: &str, whose: Option<&str>, server: Option<ServerKey>) -> NewEvent {
    NewEvent { kind: kind.to_owned(), user: whose.map(user), server, payload: json!({"n": 1}) }
}

async fn whoever_missed_events_is_told(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, events) = (world.bob(), world.store.events());
    for _ in 0..3 {
        events.append(&event("old", None, None)).await.unwrap();
    }
    world.clock.advance(std::time::Duration::from_secs(3600));
    events.append(&event("new", None, None)).await.unwrap();
    events.prune(std::time::Duration::from_secs(60)).await.unwrap();
    for (last, at, reason) in [("1", 3, "gone"), ("999", 4, "unknown")] {
        let mut stream = Stream::open(&bob.header("last-event-id", last), "/api/v1/events").await;
        let (id, data) = stream.next().await.unwrap();
        assert_eq!((id, &data["kind"]), (at, &json!("reset")), "after {last}");
        assert_eq!(data["payload"]["reason"], reason);
        if at == 4 {
            events.append(&event("newer", None, None)).await.unwrap();
        }
        assert_eq!(stream.next().await.unwrap().0, at + 1, "after {last}");
    }
    let mut stream = Stream::open(&bob.header("last-event-id", "3"), "/api/v1/events").await;
    assert_eq!(stream.next().await.unwrap().1["kind"], "new", "nothing was missed");
    world.stop().await;
}

async fn events_are_resumed_filtered_and_end_with_the_credential(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (bob, events) = (world.bob(), world.store.events());
    let hers = ServerKey { scope: Scope::User(user("eve")), ..global("hers") };
    let mut live = Stream::open(&bob, "/api/v1/events").await;
    events.append(&event("eve's server", None, Some(hers.clone()))).await.unwrap();
    events.append(&event("eve's", Some("eve"), None)).await.unwrap();
    events.append(&event("everybody's", None, Some(global("all")))).await.unwrap();
    let (id, data) = live.next().await.unwrap();
    assert_eq!((id, &data["kind"]), (3, &json!("everybody's")));
    assert_eq!(data["server"], "global:all");
    events.append(&event("bob's", Some("bob"), None)).await.unwrap();
    assert_eq!(live.next().await.unwrap().1["kind"], "bob's");

    let mut again = Stream::open(&bob.header("last-event-id", "3"), "/api/v1/events").await;
    assert_eq!(again.next().await.unwrap().0, 4);
    let mut all = Stream::open(&world.ada(), "/api/v1/events?after=0").await;
    for id in 1..=4 {
        assert_eq!(all.next().await.unwrap().0, id);
    }
    assert_eq!(bob.header("last-event-id", "x").get("/api/v1/events").await.status, 400);

    let tokens = world.store.tokens().list().await.unwrap();
    for token in tokens.iter().filter(|token| format!("{:?}", token.subject).contains("bob")) {
        world.store.tokens().revoke(&token.id, &switchboard_store::Actor::system()).await.unwrap();
    }
    assert_eq!(live.next().await, None, "a stream outlived its token");
    assert_eq!(again.next().await, None);
    world.stop().await;
}

async fn nothing_is_told_by_a_credential_that_has_expired(engine: Engine<'_>) {
    use switchboard_model::Clock as _;
    let world = World::start(engine).await;
    let (events, subject) = (world.store.events(), Subject::User(user("bob")));
    let until = Some(world.clock.now() + MINUTE);
    let token = world.store.tokens().create(&subject, "x", until, &Actor::system()).await.unwrap();
    let session = world.store.sign_in().begin(&user("bob"), MINUTE).await.unwrap();
    let cookie = format!("__Host-switchboard={}", session.id.expose());
    let mut token = Stream::open(&world.client(token.secret.expose()), "/api/v1/events").await;
    let mut page = Stream::open(&world.nobody().header("cookie", &cookie), "/api/v1/events").await;
    let mut lasting = Stream::open(&world.bob(), "/api/v1/events").await;
    events.append(&event("before", None, None)).await.unwrap();
    for stream in [&mut token, &mut page, &mut lasting] {
        assert_eq!(stream.next().await.unwrap().1["kind"], "before");
    }
    world.clock.advance(2 * MINUTE);
    events.append(&event("after", None, None)).await.unwrap();
    assert_eq!(lasting.next().await.unwrap().1["kind"], "after");
    assert_eq!(token.next().await, None, "a stream outlived its token");
    assert_eq!(page.next().await, None, "a stream outlived its session");
    world.stop().await;
}

async fn whoever_gets_an_id_anew_finds_nothing_under_it(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, by) = (world.ada(), Actor::system());
    let keyed = world.bob().header("idempotency-key", "k");
    keyed.post("/api/v1/agents", json!({"id": "his"})).await.expect(201);
    world.store.events().append(&event("his", Some("bob"), None)).await.unwrap();
    assert_eq!(ada.delete("/api/v1/users/bob").await.status, 204);
    world.clock.advance(MINUTE);
    world.store.users().create(&user("bob"), "Another", Role::Member, &by).await.unwrap();
    let made = world.store.tokens().create(&Subject::User(user("bob")), "x", None, &by).await;
    let bob = world.client(made.unwrap().secret.expose());
    let acts = async |query: &str| {
        let rows = bob.get(&format!("/api/v1/audit?{query}")).await.expect(200);
        rows["items"].as_array().unwrap().len()
    };
    assert_eq!((acts("").await, acts("since=2001-01-01T00:00:00Z").await), (0, 0));
    assert_eq!(bob.get("/api/v1/usage/totals").await.expect(200)["totals"], json!([]));
    let mut stream = Stream::open(&bob, "/api/v1/events?after=0").await;
    world.store.events().append(&event("next", None, None)).await.unwrap();
    while let Some((_, data)) = stream.next().await {
        assert_ne!(data["kind"], "his");
        if data["kind"] == "next" {
            break;
        }
    }
    let again = bob.header("idempotency-key", "k");
    let again = again.post("/api/v1/agents", json!({"id": "his"})).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, ""), "{again:?}");
    assert_eq!(acts("").await, 1);
    world.stop().await;
}
