//! People sign in on the page, and a page elsewhere cannot make their browser change anything.

use peak_alloc::PeakAlloc;
use serde_json::json;
use std::time::Duration;

use crate::kit::{Answer, Client, Engine, World};

suite! {
    changes_need_more_than_a_cookie,
    deleting_a_person_deletes_what_is_theirs,
}

/// What the browser sends back.
fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie");
    for word in ["__Host-switchboard=", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"] {
        assert!(set.contains(word), "{set}");
    }
    set.split(';').next().unwrap().to_owned()
}

async fn signed_in(world: &World, user: &str) -> (Client, String) {
    let path = format!("/api/v1/users/{user}/sign-in-link");
    let link = world.ada().send("POST", &path, None).await.expect(201);
    let looked = world.nobody().send("HEAD", link["path"].as_str().unwrap(), None).await;
    assert_eq!((looked.status, looked.header("set-cookie")), (204, ""));
    let redeemed = world.nobody().get(link["path"].as_str().unwrap()).await;
    assert_eq!((redeemed.status, redeemed.header("location")), (303, "/"));
    let again = world.nobody().get(link["path"].as_str().unwrap()).await;
    assert_eq!(again.expect(401)["code"], "link_over");
    let page = world.nobody().header("cookie", &cookie(&redeemed));
    let me = page.get("/api/v1/me").await.expect(200);
    assert_eq!(me["user"]["id"], user);
    (page, me["csrf"].as_str().unwrap().to_owned())
}

async fn changes_need_more_than_a_cookie(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (page, csrf) = signed_in(&world, "bob").await;
    let (_, other) = signed_in(&world, "eve").await;
    let new = json!({"id": "mine"});
    assert_eq!(page.post("/api/v1/agents", new.clone()).await.expect(403)["code"], "forbidden");
    let strange = page.header("x-csrf-token", &other);
    assert_eq!(strange.post("/api/v1/agents", new.clone()).await.status, 403);
    let own = page.header("x-csrf-token", &csrf);
    let elsewhere = own.header("origin", "https://evil.example");
    assert_eq!(elsewhere.post("/api/v1/agents", new.clone()).await.status, 403);
    let null = own.header("origin", "null");
    assert_eq!(null.post("/api/v1/agents", new.clone()).await.status, 403);
    let home = own.header("origin", &format!("http://{}", world.address));
    home.post("/api/v1/agents", new).await.expect(201);
    // A bad token beside a good cookie is not somebody.
    let both = own.header("authorization", "Bearer swb_nonsense");
    assert_eq!(both.get("/api/v1/me").await.status, 401);

    let out = own.send("POST", "/api/v1/sign-out", None).await;
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(page.get("/api/v1/me").await.status, 401);
    world.stop().await;
}

/// Hashing takes its time, and the store's own tests keep passwords in both engines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_sign_in_and_cannot_be_guessed_at_leisure() {
    let world = World::start(Engine::Sqlite).await;
    let (ada, bob, nobody) = (world.ada(), world.bob(), world.nobody());
    let short = json!({"password": "short"});
    assert_eq!(bob.put("/api/v1/users/bob/password", short).await.status, 422);
    let first = json!({"password": "correct horse"});
    assert_eq!(bob.put("/api/v1/users/bob/password", first).await.status, 204);
    let steal = json!({"password": "battery staple"});
    assert_eq!(bob.put("/api/v1/users/bob/password", steal).await.status, 403);
    let change = json!({"password": "battery staple", "current": "correct horse"});
    assert_eq!(bob.put("/api/v1/users/bob/password", change).await.status, 204);

    let good = json!({"user": "bob", "password": "battery staple"});
    let signed = nobody.post("/api/v1/sign-in", good.clone()).await;
    assert_eq!(signed.expect(200)["user"]["id"], "bob");
    let page = nobody.header("cookie", &cookie(&signed));
    assert_eq!(page.get("/api/v1/me").await.status, 200);
    for _ in 0..5 {
        let bad = json!({"user": "bob", "password": "correct horse"});
        assert_eq!(nobody.post("/api/v1/sign-in", bad).await.status, 401);
    }
    let late = nobody.post("/api/v1/sign-in", good.clone()).await;
    assert_eq!((late.status, late.header("retry-after")), (429, "60"));
    world.clock.advance(Duration::from_secs(61));
    assert_eq!(nobody.post("/api/v1/sign-in", good).await.status, 200);
    let unknown = json!({"user": "nobody-here", "password": "whatever it is"});
    assert_eq!(nobody.post("/api/v1/sign-in", unknown).await.status, 401);
    // An administrator's word ends the sessions.
    let reset = json!({"password": null});
    assert_eq!(ada.put("/api/v1/users/bob/password", reset).await.status, 204);
    assert_eq!(page.get("/api/v1/me").await.status, 401);
    world.stop().await;
}

/// Whoever has somebody's token must not learn their password by trying.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_current_password_cannot_be_guessed_at_leisure() {
    let world = World::start(Engine::Sqlite).await;
    let bob = world.bob();
    let path = "/api/v1/users/bob/password";
    assert_eq!(bob.put(path, json!({"password": "correct horse"})).await.status, 204);
    let guess = json!({"password": "battery staple", "current": "battery horse"});
    for _ in 0..5 {
        assert_eq!(bob.put(path, guess.clone()).await.status, 403);
    }
    let right = json!({"password": "battery staple", "current": "correct horse"});
    let late = bob.put(path, right.clone()).await;
    assert_eq!((late.status, late.header("retry-after")), (429, "60"));
    world.clock.advance(Duration::from_secs(61));
    assert_eq!(bob.put(path, right).await.status, 204);
    world.stop().await;
}

/// What is asked for and not given back: what is resident is also the allocator's, which here keeps some for every
/// thread that ever hashed.
#[global_allocator]
static HELD: PeakAlloc = PeakAlloc;

/// Hashing a password takes memory on purpose, and anybody may ask for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sign_ins_at_once_do_not_take_all_memory() {
    let world = World::start(Engine::Sqlite).await;
    HELD.reset_peak_usage();
    let before = HELD.current_usage_as_mb();
    let sign_ins = (0..64).map(|nth| {
        let nobody = world.nobody();
        let body = json!({"user": format!("nobody-{nth}"), "password": "whatever it is"});
        async move { nobody.post("/api/v1/sign-in", body).await }
    });
    for answer in futures_util::future::join_all(sign_ins).await {
        assert!(matches!(answer.status, 401 | 429), "{answer:?}");
        assert!(answer.status == 401 || !answer.header("retry-after").is_empty(), "{answer:?}");
    }
    let grown = HELD.peak_usage_as_mb() - before;
    assert!((15.0..120.0).contains(&grown), "64 sign-ins took {grown} MB");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_sign_ins_are_written_down_and_cannot_flood_the_log() {
    let world = World::start(Engine::Sqlite).await;
    let (ada, nobody) = (world.ada(), world.nobody());
    let refused = "/api/v1/audit?action=user.sign_in_refused";
    // What is written behind an answer is waited for.
    let until = async |path: &str, count: usize| {
        for _ in 0..6000 {
            let rows = ada.get(path).await.expect(200)["items"].as_array().unwrap().clone();
            if rows.len() >= count {
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{count} refusals are never in the log");
    };
    let sign_in = async |user: &str| {
        let body = json!({"user": user, "password": "canary of a password"});
        nobody.post("/api/v1/sign-in", body).await.status
    };
    for (nth, status) in [401, 401, 401, 401, 401, 429, 429].into_iter().enumerate() {
        assert_eq!(sign_in("bob").await, status, "{nth}");
    }
    for nth in 0..8 {
        assert_eq!(sign_in(&format!("canary-{nth}")).await, 401);
    }
    assert_eq!(sign_in("not a name").await, 401);
    assert_eq!(nobody.get("/sign-in?link=canary").await.status, 401);
    let rows = until(refused, 10).await;
    assert_eq!(rows.len(), 10, "{rows:?}");
    let his = until(&format!("{refused}&user=bob"), 5).await;
    assert_eq!(his.len(), 5, "{his:?}");
    let (detail, outcome) = (&his[0]["detail"], &his[0]["outcome"]);
    assert_eq!((detail, outcome), (&json!({"way": "password", "user": "bob"}), &json!("refused")));
    // A member sees who tries to be them.
    assert_eq!(world.bob().get(refused).await.expect(200)["items"].as_array().unwrap().len(), 5);
    world.clock.advance(Duration::from_secs(61));
    assert_eq!(sign_in("bob").await, 401);
    assert_eq!(sign_in("canary").await, 401);
    let rows = until(refused, 14).await;
    let mut counts: Vec<_> =
        rows.iter().filter_map(|row| row["detail"]["count"].as_u64()).collect();
    counts.sort();
    assert_eq!(counts, [2, 5], "{rows:?}");
    assert!(!json!(rows).to_string().contains("canary"), "{rows:?}");
    world.stop().await;
}

async fn deleting_a_person_deletes_what_is_theirs(engine: Engine<'_>) {
    let world = World::start(engine).await;
    let (ada, bob) = (world.ada(), world.bob());
    let (page, _) = signed_in(&world, "bob").await;
    let entry = json!({"url": "http://127.0.0.1:9/mcp"});
    bob.post("/api/v1/servers", json!({"name": "his", "entry": entry})).await.expect(201);
    assert_eq!(world.hub.upstreams.status().len(), 1);
    assert_eq!(ada.delete("/api/v1/users/bob").await.status, 204);
    assert!(world.hub.upstreams.status().is_empty());
    for client in [&bob, &page, &world.client(&world.tokens.agent)] {
        assert_eq!(client.get("/api/v1/me").await.status, 401);
    }
    let last = ada.delete("/api/v1/users/ada").await;
    assert_eq!(last.expect(409)["code"], "refused");
    let down = ada.put("/api/v1/users/ada", json!({"role": "member"})).await;
    assert_eq!(down.status, 409);
    world.stop().await;
}
