//! The audit log: acts are in it, pages follow filters, and no tampering goes unnoticed.

use std::time::Duration;

use switchboard_model::{AgentSpec, CallOrigin, Decision, Outcome};
use switchboard_store::{Actor, Address, Entry, Filter, Retention, Store, Verdict, Violation};

use crate::kit::{World, ada, agent, global, remote, user};

suite! {
    every_act_is_in_the_log,
    an_act_and_its_row_stand_or_fall_together,
    pages_follow_the_filters,
    tampering_is_found_and_named,
    a_chain_written_anew_is_not_the_one_that_was_vouched_for,
    a_log_put_back_to_an_earlier_state_is_told_by_its_head,
    retention_keeps_the_rest_verifiable,
}

async fn write(store: &Store, world: &World, count: u32) {
    use switchboard_model::Clock;
    for n in 0..count {
        let mut entry = Entry::act(world.clock.now(), &ada(), "test.act");
        entry.tool = Some(format!("tool_{n}"));
        entry.detail = Some(serde_json::json!({"n": n}));
        store.audit().append(entry).await.unwrap();
    }
}

async fn every_act_is_in_the_log(world: World) {
    let store = world.peopled().await;
    let key = global("github");
    store
        .agents()
        .create(&agent("cto"), &user("bob"), &AgentSpec::default(), &ada())
        .await
        .unwrap();
    store.servers().create(&key, &remote(&key), &ada()).await.unwrap();
    store.servers().disable(&key, &ada()).await.unwrap();
    store.servers().remove(&key, &ada()).await.unwrap();
    let page = store.audit().page(&Filter::default(), None, 50).await.unwrap();
    let actions: Vec<_> = page.rows.iter().rev().map(|row| &*row.entry.action).collect();
    let expected = [
        "user.create",
        "user.create",
        "agent.create",
        "server.create",
        "server.disable",
        "server.remove",
    ];
    assert_eq!(actions, expected);
    let last = &page.rows[0].entry;
    assert_eq!(last.user, Some(user("ada")));
    assert_eq!(last.origin, Some(CallOrigin::Rest));
    assert_eq!(last.server, Some(key));
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 6, .. }));
    store.close().await.unwrap();
}

async fn an_act_and_its_row_stand_or_fall_together(world: World) {
    let store = world.peopled().await;
    let before = store.audit().head().await.unwrap();
    // Refused after it was half done.
    store.users().remove(&user("ada"), &ada()).await.unwrap_err();
    // Dropped at every place where it waits.
    for polls in 1..40 {
        let (users, id, by) = (store.users(), user(&format!("u{polls}")), ada());
        let mut creating = Box::pin(users.create(&id, "U", switchboard_store::Role::Member, &by));
        let mut left = polls;
        std::future::poll_fn(|context| {
            left -= 1;
            match creating.as_mut().poll(context) {
                std::task::Poll::Pending if left > 0 => std::task::Poll::Pending,
                _ => std::task::Poll::Ready(()),
            }
        })
        .await;
    }
    let people = store.users().list().await.unwrap().len();
    let created = Filter { action: Some("user.create".to_owned()), ..Filter::default() };
    let rows = store.audit().page(&created, None, 100).await.unwrap().rows.len();
    assert_eq!(people, rows);
    assert!(people > 2 && store.audit().head().await.unwrap().seq > before.seq);
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { .. }));
    store.close().await.unwrap();
}

async fn pages_follow_the_filters(world: World) {
    use switchboard_model::Clock;
    let store = world.open().await;
    for n in 0..30_u32 {
        let mut entry = Entry::act(world.clock.now(), &Actor::system(), "mcp_tool_call");
        entry.user = Some(user(if n % 2 == 0 { "ada" } else { "bob" }));
        entry.agent = Some(agent(if n % 3 == 0 { "cto" } else { "ceo" }));
        entry.server = Some(global(if n % 5 == 0 { "github" } else { "linear" }));
        entry.tool = Some(format!("tool_{}", n % 10));
        entry.origin = Some(if n % 2 == 0 { CallOrigin::Mcp } else { CallOrigin::Cli });
        entry.decision = Some(if n % 6 == 0 { Decision::Deny } else { Decision::Allow });
        entry.outcome = (n % 6 != 0).then_some(Outcome::Done);
        store.audit().append(entry).await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    }
    let end = world.clock.now();
    let all = Filter::default();
    let cases: [(Filter, usize); 11] = [
        (all.clone(), 30),
        (Filter { user: Some(user("ada")), ..all.clone() }, 15),
        (Filter { agent: Some(agent("cto")), ..all.clone() }, 10),
        (Filter { server: Some(global("github")), ..all.clone() }, 6),
        (Filter { tool: Some("tool_3".to_owned()), ..all.clone() }, 3),
        (Filter { origin: Some(CallOrigin::Cli), ..all.clone() }, 15),
        (Filter { decision: Some(Decision::Deny), ..all.clone() }, 5),
        (Filter { outcome: Some(Outcome::Done), ..all.clone() }, 25),
        (Filter { action: Some("other".to_owned()), ..all.clone() }, 0),
        (Filter { since: Some(end - Duration::from_secs(10)), ..all.clone() }, 10),
        (
            Filter {
                user: Some(user("ada")),
                agent: Some(agent("cto")),
                until: Some(end - Duration::from_secs(10)),
                ..all.clone()
            },
            4,
        ),
    ];
    for (filter, expected) in cases {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.audit().page(&filter, after, 4).await.unwrap();
            seen.extend(page.rows.iter().map(|row| row.seq));
            let Some(next) = page.next else { break };
            after = switchboard_store::Cursor::parse(&next.encode());
        }
        assert_eq!(seen.len(), expected, "{filter:?}");
        assert!(seen.is_sorted_by(|a, b| a > b), "{filter:?}: {seen:?}");
    }
    store.close().await.unwrap();
}

/// What somebody with the database, but without the key, may try.
async fn tampering_is_found_and_named(world: World) {
    let store = world.open().await;
    write(&store, &world, 12).await;
    let copy = world.address.clone();
    let edit = |seq: i64| Verdict::Broken(Violation::Edited { seq });
    let missing = |seq: i64| Verdict::Broken(Violation::Missing { seq });
    let unvouched = |seq: i64| Verdict::Broken(Violation::Unvouched { seq });
    let cut = |seq: i64| Verdict::Broken(Violation::Cut { seq, head: Some(12) });
    let cases: [(&str, Verdict); 12] = [
        ("UPDATE audit SET tool = 'other' WHERE seq = 5", edit(5)),
        ("UPDATE audit SET at = at + 1 WHERE seq = 1", edit(1)),
        ("UPDATE audit SET user_id = NULL WHERE seq = 12", edit(12)),
        (
            "UPDATE audit SET hash = (SELECT hash FROM audit a WHERE a.seq = 3) WHERE seq = 4",
            edit(4),
        ),
        ("DELETE FROM audit WHERE seq = 7", missing(7)),
        ("DELETE FROM audit WHERE seq = 1", missing(1)),
        ("DELETE FROM audit WHERE seq > 9", cut(9)),
        ("DELETE FROM audit", cut(0)),
        (
            "UPDATE audit SET seq = 100 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4;
             UPDATE audit SET seq = 4 WHERE seq = 100",
            edit(3),
        ),
        (
            "DELETE FROM audit WHERE seq > 9; UPDATE audit_head SET seq = 9,
             hash = (SELECT hash FROM audit WHERE seq = 9)",
            cut(9),
        ),
        ("DELETE FROM sealed WHERE owner = 'audit'", unvouched(12)),
        (
            "INSERT INTO audit_marks SELECT seq, 'anchor', hash FROM audit WHERE seq = 6;
             DELETE FROM audit WHERE seq <= 6",
            unvouched(6),
        ),
    ];
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 12, .. }));
    for (tampering, expected) in cases {
        let saved = save(&copy).await;
        world.raw(tampering).await;
        assert_eq!(store.audit().verify().await.unwrap(), expected, "{tampering}");
        restore(&world, saved).await;
        assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { .. }), "restored");
    }
    store.close().await.unwrap();
}

/// The tables of the log, put aside inside the database itself.
async fn save(address: &Address) -> [&'static str; 4] {
    let tables = ["audit", "audit_head", "audit_marks", "sealed"];
    let world = World { address: address.clone(), ..World::sqlite() };
    for table in tables {
        world.raw(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    tables
}

async fn restore(world: &World, tables: [&'static str; 4]) {
    for table in tables {
        world
            .raw(&format!(
                "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};
                 DROP TABLE kept_{table}"
            ))
            .await;
    }
}

/// Every hash fits, but the head was sealed for another chain.
async fn a_chain_written_anew_is_not_the_one_that_was_vouched_for(world: World) {
    let store = world.open().await;
    write(&store, &world, 6).await;
    let saved = save(&world.address).await;
    write(&store, &world, 6).await;
    world.raw("CREATE TABLE right_sealed AS SELECT * FROM sealed").await;
    restore(&world, saved).await;
    world.clock.advance(Duration::from_secs(1));
    write(&store, &world, 6).await;
    world.raw("DELETE FROM sealed; INSERT INTO sealed SELECT * FROM right_sealed").await;
    let verdict = store.audit().verify().await.unwrap();
    assert_eq!(verdict, Verdict::Broken(Violation::Forged { seq: 12 }));
    store.close().await.unwrap();
}

async fn a_log_put_back_to_an_earlier_state_is_told_by_its_head(world: World) {
    let store = world.open().await;
    write(&store, &world, 3).await;
    let saved = save(&world.address).await;
    write(&store, &world, 3).await;
    let head = store.audit().head().await.unwrap();
    assert!(store.audit().holds(head).await.unwrap());
    restore(&world, saved).await;
    // By itself it is whole: only who kept the head can tell.
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 3, .. }));
    assert!(!store.audit().holds(head).await.unwrap());
    store.close().await.unwrap();
}

async fn retention_keeps_the_rest_verifiable(world: World) {
    let store = world.open().await;
    write(&store, &world, 20).await;
    world.clock.advance(Duration::from_secs(100));
    write(&store, &world, 10).await;
    let age = Retention { age: Some(Duration::from_secs(50)), rows: None };
    assert_eq!(store.audit().retain(age).await.unwrap(), 20);
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 11, .. }));
    let rows = Retention { age: None, rows: Some(5) };
    assert_eq!(store.audit().retain(rows).await.unwrap(), 6);
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { rows: 6, .. }), "{verdict:?}");
    assert_eq!(store.audit().retain(Retention::default()).await.unwrap(), 0);
    // One row more than retention took is missed.
    world.raw("DELETE FROM audit WHERE seq = (SELECT MIN(seq) FROM audit)").await;
    let verdict = store.audit().verify().await.unwrap();
    assert_eq!(verdict, Verdict::Broken(Violation::Missing { seq: 27 }));
    store.close().await.unwrap();
}
