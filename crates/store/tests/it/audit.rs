//! The audit log: acts are in it, pages follow filters, and what is kept stays whole.

use std::time::Duration;

use switchboard_model::{AgentSpec, CallOrigin, Decision, Outcome};
use switchboard_store::{Actor, Entry, Filter, Retention, Store, Verdict, Violation};

use crate::kit::{World, ada, agent, global, remote, user};

/// Longer than a block is open for rows.
pub(crate) const LATER: Duration = Duration::from_secs(2 * 3600);

suite! {
    every_act_is_in_the_log,
    an_act_and_its_row_stand_or_fall_together,
    pages_follow_the_filters,
    retention_keeps_the_rest_verifiable,
    retention_by_size_takes_the_oldest_and_no_more,
    words_that_went_with_their_rows_come_back,
}

pub(crate) async fn write(store: &Store, world: &World, count: u32) {
    use switchboard_model::Clock;
    for n in 0..count {
        let mut entry = Entry::act(world.clock.now(), &ada(), "test.act");
        entry.tool = Some(format!("tool_{n}"));
        entry.detail = Some(serde_json::json!({"n": n}));
        store.audit().append(entry).await.unwrap();
    }
}

/// Rows of ten tools in one go: blocks of 500.
pub(crate) async fn write_together(store: &Store, world: &World, count: u32) {
    use switchboard_model::Clock;
    let entry = |n: u32| {
        let mut entry = Entry::act(world.clock.now(), &ada(), "test.act");
        entry.tool = Some(format!("tool_{}", n % 10));
        entry.detail = Some(serde_json::json!({"n": n}));
        entry
    };
    let entries: Vec<Entry> = (0..count).map(entry).collect();
    store.audit().append_all(&entries).await.unwrap();
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

async fn retention_keeps_the_rest_verifiable(world: World) {
    let store = world.open().await;
    write(&store, &world, 20).await;
    world.clock.advance(LATER);
    write(&store, &world, 10).await;
    let age = Retention { age: Some(LATER / 2), ..Retention::default() };
    assert_eq!(store.audit().retain(age).await.unwrap(), 20);
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 11, .. }));
    // A block stays as long as one of its rows does.
    let rows = Retention { rows: Some(5), ..Retention::default() };
    assert_eq!(store.audit().retain(rows).await.unwrap(), 0);
    world.clock.advance(LATER);
    write(&store, &world, 6).await;
    assert_eq!(store.audit().retain(rows).await.unwrap(), 11);
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { rows: 7, .. }), "{verdict:?}");
    assert_eq!(store.audit().retain(Retention::default()).await.unwrap(), 0);
    let page = store.audit().page(&Filter::default(), None, 50).await.unwrap();
    assert_eq!(page.rows.len(), 7);
    world.clock.advance(LATER);
    write(&store, &world, 1).await;
    // One block more than retention took is missed.
    world.raw("DELETE FROM audit_blocks WHERE first = (SELECT MIN(first) FROM audit_blocks)").await;
    let verdict = store.audit().verify().await.unwrap();
    assert_eq!(verdict, Verdict::Broken(Violation::Missing { seq: 32 }));
    store.close().await.unwrap();
}

async fn retention_by_size_takes_the_oldest_and_no_more(world: World) {
    const SIZE: &str = "SELECT CAST(SUM(octet_length(body)) AS BIGINT) FROM audit_blocks";
    const LARGEST: &str = "SELECT CAST(MAX(octet_length(body)) AS BIGINT) FROM audit_blocks";
    let store = world.open().await;
    for _ in 0..40 {
        write_together(&store, &world, 500).await;
    }
    let (size, largest) = (world.count(SIZE).await, world.count(LARGEST).await);
    let bound = size / 2;
    let keep = Retention { bytes: Some(bound.unsigned_abs()), ..Retention::default() };
    let gone = store.audit().retain(keep).await.unwrap();
    assert!(gone > 0 && gone < 20_000, "{gone}");
    // The row that says so is the only one beyond what was asked for, and nothing went that could stay.
    let left = world.count(SIZE).await;
    assert!(left <= bound + 200 && left + largest > bound, "{left} of {size}");
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { rows, .. } if rows == 20_001 - gone), "{verdict:?}");
    let small = Retention { bytes: Some(1), ..Retention::default() };
    store.audit().retain(small).await.unwrap();
    assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { rows: 1.., .. }));
    if let switchboard_store::Address::Sqlite(_) = world.address {
        let free = "SELECT freelist_count FROM pragma_freelist_count";
        assert_eq!(world.count(free).await, 0, "what became free was given back");
        let pages = "SELECT page_count FROM pragma_page_count";
        assert!(world.count(pages).await * 4096 < size, "the file is smaller than the log was");
    }
    store.close().await.unwrap();
}

/// Whoever remembers their numbers learns that they are gone.
async fn words_that_went_with_their_rows_come_back(world: World) {
    let (store, other) = (world.open().await, world.open().await);
    for _ in 0..3 {
        write(&store, &world, 5).await;
        write(&other, &world, 5).await;
    }
    world.clock.advance(LATER);
    let entry = Entry::act(switchboard_model::Clock::now(&*world.clock), &ada(), "other.act");
    store.audit().append(entry).await.unwrap();
    let rows = Retention { rows: Some(1), ..Retention::default() };
    assert_eq!(store.audit().retain(rows).await.unwrap(), 30);
    assert_eq!(world.count("SELECT COUNT(*) FROM audit_subjects").await, 2);
    assert_eq!(world.count("SELECT COUNT(DISTINCT subject) FROM audit_index").await, 2);
    write(&store, &world, 5).await;
    write(&other, &world, 5).await;
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { rows: 12, .. }), "{verdict:?}");
    let tool = Filter { tool: Some("tool_3".to_owned()), ..Filter::default() };
    assert_eq!(other.audit().page(&tool, None, 50).await.unwrap().rows.len(), 2);
    for store in [store, other] {
        store.close().await.unwrap();
    }
}
