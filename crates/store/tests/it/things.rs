//! The smaller groups: definitions, cache, verdicts, approvals, rules, settings, snapshots, leases,
//! events, requests that must not be done twice.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use serde_json::json;
use switchboard_model::{CallOrigin, Clock, Decision, Pattern, Rule, Secret};
use switchboard_store::{
    Answer, ApprovalState, Asked, Claim, Error, Filter, Freshness, NewEvent, Observation, Observed,
    Replay, Retention, Seen, SnapshotEntry, Topic,
};

use crate::kit::{World, ada, agent, global, until, user};

suite! {
    a_changed_definition_must_be_reviewed_again,
    a_catalog_is_kept_byte_for_byte,
    verdicts_are_remembered,
    an_approval_is_answered_once_and_in_time,
    rules_keep_their_order,
    settings_are_kept_and_secret_ones_sealed,
    how_much_is_kept_is_changed_by_one_at_a_time,
    the_last_snapshot_is_kept,
    a_reader_that_goes_away_leaves_nothing_behind,
    a_lease_has_one_holder_and_an_end,
    events_are_numbered_and_resumed,
    a_request_is_done_once,
    a_request_whose_doer_died_is_tried_again,
}

const MINUTE: Duration = Duration::from_secs(60);

async fn a_changed_definition_must_be_reviewed_again(world: World) {
    let store = world.open().await;
    let (key, definitions) = (global("x"), store.definitions());
    let one = |tool: &str, version: u8| Observed {
        tool: tool.to_owned(),
        hash: [version; 32],
        definition: format!("{{\"v\":{version}}}"),
    };
    let new = definitions.observe(&key, &[one("a", 1), one("b", 1)]).await.unwrap();
    assert_eq!(new.len(), 2);
    assert!(matches!(&new[0], Observation::New { tool } if tool == "a"));
    assert_eq!(definitions.review_all(&key, &ada()).await.unwrap(), 2);
    assert_eq!(definitions.observe(&key, &[one("a", 1), one("b", 1)]).await.unwrap(), []);
    let offered = definitions.offered(&key).await.unwrap();
    assert!(offered.iter().all(|one| one.reviewed.is_some() && one.seen == Seen::Now));

    world.clock.advance(MINUTE);
    let changed = definitions.observe(&key, &[one("a", 2)]).await.unwrap();
    let expected = [
        Observation::Changed { tool: "a".to_owned(), before: Some([1; 32]), now: [2; 32] },
        Observation::Gone { tool: "b".to_owned() },
    ];
    assert_eq!(changed, expected);
    assert_eq!(definitions.offered(&key).await.unwrap()[0].reviewed, None);
    let stale = definitions.review(&key, "a", &[1; 32], &ada()).await.unwrap_err();
    assert!(matches!(stale, Error::Stale { .. }), "{stale}");
    definitions.review(&key, "a", &[2; 32], &ada()).await.unwrap();

    // Back to what it was, and back from nowhere: to be reviewed, though both were once.
    world.clock.advance(MINUTE);
    let back = definitions.observe(&key, &[one("a", 1), one("b", 1)]).await.unwrap();
    assert_eq!(back.len(), 2);
    assert!(matches!(&back[1], Observation::Changed { tool, before: None, .. } if tool == "b"));
    let offered = definitions.offered(&key).await.unwrap();
    assert!(offered.iter().all(|one| one.reviewed.is_none()), "{offered:?}");
    let history = definitions.history(&key, "a").await.unwrap();
    let hashes: Vec<u8> = history.iter().map(|one| one.observed.hash[0]).collect();
    assert_eq!(hashes, [1, 2]);
    store.close().await.unwrap();
}

async fn a_catalog_is_kept_byte_for_byte(world: World) {
    let store = world.open().await;
    let (key, bytes) = (global("x"), b"{ \"tools\" : [],\n\"n\":1.0 }\0\xff");
    store.tool_cache().put(&key, bytes, "2025-11-25").await.unwrap();
    store.tool_cache().mark_stale(&key).await.unwrap();
    let cached = store.tool_cache().get(&key).await.unwrap().unwrap();
    assert_eq!((cached.catalog.as_slice(), cached.freshness), (&bytes[..], Freshness::Stale));
    store.tool_cache().put(&key, b"{}", "2026-07-28").await.unwrap();
    let all = store.tool_cache().all().await.unwrap();
    assert_eq!(
        (all[&key].freshness, all[&key].revision.as_str()),
        (Freshness::Fresh, "2026-07-28")
    );
    store.tool_cache().remove(&key).await.unwrap();
    assert_eq!(store.tool_cache().get(&key).await.unwrap(), None);
    store.close().await.unwrap();
}

async fn verdicts_are_remembered(world: World) {
    let store = world.open().await;
    store.verdicts().set("stdio:1", "session").await.unwrap();
    store.verdicts().set("stdio:1", "stateless").await.unwrap();
    store.verdicts().set("https://a", "session").await.unwrap();
    store.verdicts().forget("https://a").await.unwrap();
    let all = store.verdicts().all().await.unwrap();
    assert_eq!(all, [("stdio:1".to_owned(), "stateless".to_owned())].into());
    store.close().await.unwrap();
}

async fn an_approval_is_answered_once_and_in_time(world: World) {
    let store = world.peopled().await;
    let asked = Asked {
        user: user("bob"),
        agent: Some(agent("cto")),
        session: Some("s1".to_owned()),
        server: global("github"),
        tool: "delete_repo".to_owned(),
        origin: CallOrigin::Mcp,
        reason: "it is destructive".to_owned(),
        arguments: Secret::new("{\"repo\":\"x\"}"),
        expires_at: world.clock.now() + MINUTE,
    };
    let approvals = store.approvals();
    let first = approvals.ask(&asked).await.unwrap();
    let second = approvals.ask(&asked).await.unwrap();
    store.close().await.unwrap();
    let store = world.open().await;
    let approvals = store.approvals();
    let pending = approvals.pending(Some(&user("bob"))).await.unwrap();
    assert_eq!(pending.len(), 2);
    assert_eq!(pending[0].asked.arguments.expose(), "{\"repo\":\"x\"}");
    assert_eq!(approvals.pending(Some(&user("ada"))).await.unwrap().len(), 0);
    assert_eq!(approvals.pending(None).await.unwrap().len(), 2);
    let by = ada();
    let both = tokio::join!(
        approvals.answer(&first, Answer::Once, &by),
        approvals.answer(&first, Answer::Deny, &by),
    );
    assert_eq!([both.0.is_ok(), both.1.is_ok()].iter().filter(|ok| **ok).count(), 1);
    world.clock.advance(2 * MINUTE);
    let late = approvals.answer(&second, Answer::Always, &ada()).await.unwrap_err();
    assert!(matches!(late, Error::Refused(_)), "{late}");
    let state = approvals.get(&second).await.unwrap().unwrap().state;
    assert_eq!(state, ApprovalState::Expired);
    assert_eq!(approvals.expire(SystemTime::UNIX_EPOCH).await.unwrap(), 1);
    approvals.expire(world.clock.now()).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed WHERE owner = 'approvals'").await, 0);
    store.close().await.unwrap();
}

async fn rules_keep_their_order(world: World) {
    let store = world.peopled().await;
    let rule = |tool: &str, action| Rule {
        agent: None,
        user: Some(Pattern::parse("b*").unwrap()),
        server: None,
        tool: Some(Pattern::parse(tool).unwrap()),
        read_only: Some(false),
        destructive: None,
        origin: Some(CallOrigin::Page),
        action,
    };
    let deny = rule("delete_*", Decision::Deny);
    let first = store.rules().add(&deny, &ada()).await.unwrap();
    let second = store.rules().add(&rule("*", Decision::Ask), &ada()).await.unwrap();
    let third = store.rules().add(&rule("read_*", Decision::Allow), &ada()).await.unwrap();
    let list = store.rules().list().await.unwrap();
    assert_eq!((&list[0].rule, &list[0].created_by), (&deny, &"ada".to_owned()));
    store.rules().reorder(&[third.clone(), first.clone()], &ada()).await.unwrap();
    let ids: Vec<_> = store.rules().list().await.unwrap().into_iter().map(|rule| rule.id).collect();
    assert_eq!(ids, [third, first.clone(), second.clone()]);
    store.rules().update(&second, &deny, &ada()).await.unwrap();
    store.rules().remove(&first, &ada()).await.unwrap();
    let gone = store.rules().remove(&first, &ada()).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound { .. }), "{gone}");
    assert_eq!(store.rules().list().await.unwrap()[1].rule, deny);
    store.close().await.unwrap();
}

async fn settings_are_kept_and_secret_ones_sealed(world: World) {
    let store = world.open().await;
    let settings = store.settings();
    settings.set("retention", &json!({"days": 30}), &ada()).await.unwrap();
    settings.set_secret("telegram", Some(&Secret::new("t0k")), &ada()).await.unwrap();
    assert_eq!(settings.get("retention").await.unwrap(), Some(json!({"days": 30})));
    assert_eq!(settings.secret("telegram").await.unwrap().unwrap().expose(), "t0k");
    assert_eq!(settings.get("telegram").await.unwrap(), None);
    settings.remove("retention", &ada()).await.unwrap();
    settings.set_secret("telegram", None, &ada()).await.unwrap();
    assert_eq!(settings.get("retention").await.unwrap(), None);
    assert!(settings.secret("telegram").await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn how_much_is_kept_is_changed_by_one_at_a_time(world: World) {
    let store = world.open().await;
    let settings = store.settings();
    let first = settings.retention().await.unwrap();
    assert_eq!((first.retention.days(), first.retention.rows), (Some(365), Some(10_000_000)));
    let less = Retention::of(Some(30), None, Some(2));
    let second = settings.set_retention(less, Some(first.revision), &ada()).await.unwrap();
    assert_eq!(settings.retention().await.unwrap(), second);
    assert_eq!(second.retention, less);
    // The clock stands still, and even so it is another revision.
    let third = settings.set_retention(less, None, &ada()).await.unwrap();
    assert_ne!(second.revision, third.revision);
    let late = settings.set_retention(less, Some(second.revision), &ada()).await.unwrap_err();
    assert!(matches!(late, Error::Stale { .. }), "{late}");
    assert_eq!(settings.retention().await.unwrap(), third);
    let filter = Filter { action: Some("audit.retention".to_owned()), ..Filter::default() };
    let acts = store.audit().page(&filter, None, 10).await.unwrap().rows;
    assert_eq!(acts.len(), 2);
    assert_eq!(acts[0].entry.detail.as_ref().unwrap()["days"], 30);
    store.close().await.unwrap();
}

async fn the_last_snapshot_is_kept(world: World) {
    let store = world.open().await;
    let entry = |name: &str| SnapshotEntry { name: name.to_owned(), kind: "external".to_owned() };
    assert_eq!(store.snapshots().save(&[entry("a")]).await.unwrap(), None);
    world.clock.advance(MINUTE);
    let before = store.snapshots().save(&[entry("a"), entry("b")]).await.unwrap().unwrap();
    assert_eq!(before.servers, [entry("a")]);
    let last = store.snapshots().last().await.unwrap().unwrap();
    assert_eq!((last.servers.len(), last.taken_at), (2, world.clock.now()));
    store.close().await.unwrap();
}

/// Whoever hangs up drops what was being read for them, at any moment; the next one writes on that connection.
async fn a_reader_that_goes_away_leaves_nothing_behind(world: World) {
    let store = world.open().await;
    let event = NewEvent { kind: "x".to_owned(), user: None, server: None, payload: json!({}) };
    for steps in (0..2_000).step_by(20) {
        {
            let filter = Filter::default();
            let mut reading = pin!(store.audit().page(&filter, None, 1));
            for _ in 0..steps {
                let looked = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context)));
                if looked.await.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // As many at once as may have that connection: a reader would set it right again.
        let write = || store.events().append(&event);
        let (a, b, c, d) = tokio::join!(write(), write(), write(), write());
        for written in [a, b, c, d] {
            written.unwrap_or_else(|error| panic!("after {steps} steps: {error}"));
        }
    }
    store.close().await.unwrap();
}

async fn a_lease_has_one_holder_and_an_end(world: World) {
    let store = world.open().await;
    let leases = store.leases();
    let both = tokio::join!(leases.take("refresh", MINUTE), leases.take("refresh", MINUTE));
    let taken: Vec<_> = [both.0.unwrap(), both.1.unwrap()].into_iter().flatten().collect();
    assert_eq!(taken.len(), 1);
    assert!(leases.take("other", MINUTE).await.unwrap().is_some());
    leases.release(taken[0].clone()).await.unwrap();
    let second = leases.take("refresh", MINUTE).await.unwrap().unwrap();
    // The first holder gives back what is no longer its own.
    leases.release(taken[0].clone()).await.unwrap();
    assert!(leases.take("refresh", MINUTE).await.unwrap().is_none());
    world.clock.advance(2 * MINUTE);
    assert!(leases.take("refresh", MINUTE).await.unwrap().is_some());
    drop(second);
    store.close().await.unwrap();
}

async fn events_are_numbered_and_resumed(world: World) {
    let store = world.open().await;
    let event = |n: u32| NewEvent {
        kind: "server.state".to_owned(),
        user: n.is_multiple_of(2).then(|| user("bob")),
        server: Some(global("x")),
        payload: json!({"n": n}),
    };
    let watch = store.watch(Topic::Events);
    let events = store.events();
    let (a, b, c) = (event(1), event(2), event(3));
    let numbers = tokio::join!(events.append(&a), events.append(&b), events.append(&c));
    let mut numbers = [numbers.0.unwrap(), numbers.1.unwrap(), numbers.2.unwrap()];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    until("the watch tells", async || *watch.borrow() == 3).await;
    let after = events.after(1, 10).await.unwrap();
    assert_eq!(after.iter().map(|event| event.seq).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(events.after(0, 1).await.unwrap().len(), 1);
    assert_eq!(events.range().await.unwrap(), (1, 3));
    world.clock.advance(MINUTE);
    events.append(&event(4)).await.unwrap();
    assert_eq!(events.prune(Duration::from_secs(30)).await.unwrap(), 3);
    assert_eq!(events.range().await.unwrap(), (4, 4));
    assert_eq!(events.after(3, 10).await.unwrap()[0].event, event(4));
    store.close().await.unwrap();
}

async fn a_request_is_done_once(world: World) {
    let store = world.open().await;
    let requests = store.idempotency();
    let claim = async |who: &str, body: &[u8]| {
        requests.claim((&user(who), who), "k1", body, MINUTE).await.unwrap()
    };
    let first = async |who: &str, body: &[u8]| match claim(who, body).await {
        Claim::First(held) => held,
        other => panic!("it is not the first: {other:?}"),
    };
    let held = first("ada", b"create x").await;
    assert_eq!(claim("ada", b"create x").await, Claim::UnderWay);
    assert_eq!(claim("ada", b"create y").await, Claim::Other);
    first("bob", b"create x").await;
    let headers = [("etag", "\"r1\""), ("location", "/x: y")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let answer = Replay { status: 201, headers, body: b"{\"token\":\"swb_x\"}\n\n".to_vec() };
    requests.finish(&held, &answer).await.unwrap();
    assert_eq!(claim("ada", b"create x").await, Claim::Done(answer));
    world.clock.advance(2 * MINUTE);
    let held = first("ada", b"create x").await;
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed WHERE owner = 'idempotency'").await, 0);
    requests.abandon(&held).await.unwrap();
    let held = first("ada", b"create z").await;
    requests.abandon(&held).await.unwrap();
    assert_eq!(world.count("SELECT COUNT(*) FROM leases").await, 0);
    store.close().await.unwrap();
}

async fn a_request_whose_doer_died_is_tried_again(world: World) {
    let store = world.open().await;
    let requests = store.idempotency();
    let claim = async || {
        requests.claim((&user("ada"), "ada"), "k1", b"create x", 60 * MINUTE).await.unwrap()
    };
    let Claim::First(dead) = claim().await else { panic!("it is the first") };
    // As long as it is renewed, it is under way.
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(15));
        assert_eq!(claim().await, Claim::UnderWay);
        assert!(requests.renew(&dead).await.unwrap());
    }
    world.clock.advance(Duration::from_secs(21));
    let Claim::First(second) = claim().await else { panic!("nobody does it") };
    assert_eq!(claim().await, Claim::UnderWay, "one does it again, not two");
    // Whoever was only slow comes too late to say anything.
    assert!(!requests.renew(&dead).await.unwrap());
    let answer = |status| Replay { status, headers: Vec::new(), body: b"{}".to_vec() };
    requests.finish(&dead, &answer(201)).await.unwrap();
    requests.abandon(&dead).await.unwrap();
    assert_eq!(claim().await, Claim::UnderWay);
    requests.finish(&second, &answer(200)).await.unwrap();
    assert_eq!(claim().await, Claim::Done(answer(200)));
    store.close().await.unwrap();
}
