//! Whoever has the database, but not the key, cannot change the log unnoticed.

use std::time::Duration;

use switchboard_store::{Address, Filter, Head, Store, Verdict, Violation};

use crate::audit::{LATER, write, write_together};
use crate::kit::World;

suite! {
    tampering_is_found_and_named,
    tampering_with_spans_is_found,
    what_was_cut_off_is_not_forgotten_by_writing_on,
    a_chain_written_anew_is_not_the_one_that_was_vouched_for,
    a_log_put_back_to_an_earlier_state_is_told_by_its_head,
    a_head_is_held_though_its_block_grew,
}

/// What somebody with the database, but without the key, may try.
async fn tampering_is_found_and_named(world: World) {
    let store = world.open().await;
    write_together(&store, &world, 1_200).await;
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_blocks").await, 3);
    for (tampering, expected) in edits().into_iter().chain(others()) {
        check(&world, &store, tampering, expected).await;
    }
    store.close().await.unwrap();
}

/// Rows that say something else.
fn edits() -> Vec<(&'static str, Verdict)> {
    let edit = |from: i64, to: i64| Verdict::Broken(Violation::Edited { from, to });
    vec![
        ("UPDATE audit_blocks SET body = replace(body, ':700}', ':7}')", edit(501, 1_000)),
        ("UPDATE audit_blocks SET body = body || body WHERE first = 501", edit(501, 1_000)),
        ("UPDATE audit_blocks SET body = '' WHERE first = 501", edit(501, 1_000)),
        ("UPDATE audit_blocks SET body = 'x' WHERE first = 501", edit(501, 1_000)),
        ("UPDATE audit_blocks SET last = 1199 WHERE first = 1001", edit(1_001, 1_199)),
        ("UPDATE audit_blocks SET low = low - 1 WHERE first = 1", edit(1, 500)),
        ("UPDATE audit_blocks SET high = high + 1 WHERE first = 501", edit(501, 1_000)),
        (
            "UPDATE audit_blocks SET hash = (SELECT b.hash FROM audit_blocks b WHERE b.first = 501)
             WHERE first = 1",
            edit(1, 500),
        ),
        (
            "UPDATE audit_blocks SET body = (SELECT b.body FROM audit_blocks b WHERE b.first = 501)
             WHERE first = 1",
            edit(1, 500),
        ),
        ("UPDATE audit_subjects SET tool = 'other' WHERE tool = 'tool_3'", edit(1, 500)),
        ("UPDATE audit_subjects SET user_id = NULL", edit(1, 500)),
        ("UPDATE audit_subjects SET decision = 'deny' WHERE tool = 'tool_9'", edit(1, 500)),
        ("DELETE FROM audit_subjects WHERE tool = 'tool_3'", edit(1, 500)),
    ]
}

/// Rows that are taken away, moved, hidden or vouched for by somebody else.
fn others() -> Vec<(&'static str, Verdict)> {
    let edit = |from: i64, to: i64| Verdict::Broken(Violation::Edited { from, to });
    let hidden = |from: i64, to: i64| Verdict::Broken(Violation::Hidden { from, to });
    let missing = |seq: i64| Verdict::Broken(Violation::Missing { seq });
    let unvouched = |seq: i64| Verdict::Broken(Violation::Unvouched { seq });
    let cut = |seq: i64| Verdict::Broken(Violation::Cut { seq, head: Some(1_200) });
    vec![
        ("DELETE FROM audit_blocks WHERE first = 501", missing(501)),
        ("DELETE FROM audit_blocks WHERE first = 1", missing(1)),
        ("DELETE FROM audit_blocks WHERE first = 1001", cut(1_000)),
        ("DELETE FROM audit_blocks", cut(0)),
        (
            "UPDATE audit_blocks SET first = 5000 WHERE first = 1;
             UPDATE audit_blocks SET first = 1, last = 500 WHERE first = 501;
             UPDATE audit_blocks SET first = 501, last = 1000 WHERE first = 5000",
            edit(1, 500),
        ),
        (
            "DELETE FROM audit_index WHERE block = 501
             AND subject = (SELECT MAX(subject) FROM audit_index)",
            hidden(501, 1_000),
        ),
        ("UPDATE audit_index SET block = 502 WHERE block = 501", hidden(501, 1_000)),
        ("DELETE FROM audit_marks", unvouched(1_000)),
        (
            "UPDATE audit_marks SET hash = (SELECT hash FROM audit_blocks WHERE first = 1)",
            unvouched(1_000),
        ),
        ("DELETE FROM sealed WHERE owner = 'audit'", unvouched(1_000)),
        ("DELETE FROM sealed WHERE owner = 'audit' AND id = 'head'", unvouched(1_200)),
        (
            "INSERT INTO audit_marks SELECT last, 'anchor', hash FROM audit_blocks WHERE first = 1;
             DELETE FROM audit_blocks WHERE first = 1",
            unvouched(500),
        ),
    ]
}

/// Does it, sees that it is found, and undoes it.
async fn check(world: &World, store: &Store, tampering: &str, expected: Verdict) {
    let saved = save(&world.address).await;
    world.raw(tampering).await;
    assert_eq!(store.audit().verify().await.unwrap(), expected, "{tampering}");
    restore(world, saved).await;
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { .. }), "restored: {verdict:?}");
}

/// A filter on time would pass over what a span does not name.
async fn tampering_with_spans_is_found(world: World) {
    use switchboard_model::Clock;
    let store = world.open().await;
    let begin = world.clock.now();
    for _ in 0..150 {
        write(&store, &world, 1).await;
        world.clock.advance(LATER);
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_spans").await, 2);
    for n in [0, 70, 130] {
        let since = Some(begin + LATER * n);
        let until = Some(begin + LATER * (n + 2));
        let page = Filter { since, until, ..Filter::default() };
        let page = store.audit().page(&page, None, 10).await.unwrap();
        assert_eq!((page.rows.len(), page.blocks), (2, 2), "{n}");
    }
    let hidden = |seq: i64| Verdict::Broken(Violation::Hidden { from: seq, to: seq });
    let cases = [
        ("UPDATE audit_spans SET low = low + 1 WHERE first = 1", hidden(1)),
        ("UPDATE audit_spans SET high = high - 1 WHERE first = 1", hidden(64)),
        ("UPDATE audit_spans SET last = last - 1 WHERE first = 1", hidden(64)),
        ("UPDATE audit_spans SET last = 1000 WHERE first = 65", hidden(129)),
        ("DELETE FROM audit_spans WHERE first = 1", hidden(1)),
    ];
    for (tampering, expected) in cases {
        check(&world, &store, tampering, expected).await;
    }
    store.close().await.unwrap();
}

/// The tables of the log, put aside inside the database itself.
async fn save(address: &Address) -> [&'static str; 7] {
    let tables = [
        "audit_blocks",
        "audit_subjects",
        "audit_index",
        "audit_spans",
        "audit_state",
        "audit_marks",
        "sealed",
    ];
    let world = World { address: address.clone(), ..World::sqlite() };
    for table in tables {
        world.raw(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    tables
}

async fn restore(world: &World, tables: [&'static str; 7]) {
    for table in tables {
        world
            .raw(&format!(
                "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table};
                 DROP TABLE kept_{table}"
            ))
            .await;
    }
}

async fn what_was_cut_off_is_not_forgotten_by_writing_on(world: World) {
    let store = world.open().await;
    write(&store, &world, 3).await;
    world.clock.advance(LATER);
    write(&store, &world, 3).await;
    world
        .raw("DELETE FROM audit_index WHERE block = 4; DELETE FROM audit_blocks WHERE first = 4")
        .await;
    write(&store, &world, 1).await;
    let broken = Filter { action: Some("audit.broken".to_owned()), ..Filter::default() };
    let rows = store.audit().page(&broken, None, 10).await.unwrap().rows;
    let details: Vec<_> = rows.iter().map(|row| row.entry.detail.clone().unwrap()).collect();
    assert_eq!(details, [serde_json::json!({"found": 3, "vouched": 6})]);
    store.close().await.unwrap();
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

async fn a_head_is_held_though_its_block_grew(world: World) {
    let store = world.open().await;
    let mut heads = Vec::new();
    for n in 1..=4 {
        write(&store, &world, n).await;
        heads.push(store.audit().head().await.unwrap());
    }
    world.clock.advance(LATER);
    write_together(&store, &world, 1_100).await;
    heads.push(store.audit().head().await.unwrap());
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_blocks WHERE first < 12").await, 2);
    for head in heads {
        assert!(store.audit().holds(head).await.unwrap(), "{head:?}");
        let other = Head { hash: [7; 32], ..head };
        assert!(!store.audit().holds(other).await.unwrap(), "{other:?}");
        let other = Head { seq: head.seq + 1, ..head };
        assert!(!store.audit().holds(other).await.unwrap(), "{other:?}");
    }
    store.close().await.unwrap();
}
