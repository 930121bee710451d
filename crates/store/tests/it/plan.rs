//! Ten million rows: a page reads only blocks that hold what it looks for, whatever the filters and wherever it
//! begins.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_model::{CallOrigin, Decision, Outcome};
use switchboard_store::{Actor, CALL, Cursor, Entry, Filter, Store};
use switchboard_testkit::repetitions;

use crate::kit::{World, agent, global, user};

suite! {
    prove_a_page_of_ten_million_rows_reads_few_blocks,
}

const BEGIN: u64 = 1_800_000_000_000;
/// Rows that are written together.
const BATCH: u32 = 5_000;
const LIMIT: u32 = 50;

fn moment(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

/// Forty agents of twenty people; each uses three servers, and of a server's ten tools mostly the first.
fn row(n: u64) -> Entry {
    let random = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let mut entry = Entry::act(moment(BEGIN + n * 20), &Actor::system(), CALL);
    let who = (random >> 8) % 40;
    let server = (who + (random >> 16) % 3) % 30;
    let tool = ((random >> 24) % 10) * ((random >> 32) % 10) / 9;
    entry.user = Some(user(&format!("u{}", who % 20)));
    entry.agent = Some(agent(&format!("a{who}")));
    entry.server = Some(global(&format!("s{server}")));
    entry.source = format!("mcp:s{server}");
    entry.tool = Some(format!("s{server}_t{tool}"));
    entry.origin = Some(if random.is_multiple_of(4) { CallOrigin::Rest } else { CallOrigin::Mcp });
    entry.decision = Some(if n % 1_000 == 7 { Decision::Deny } else { Decision::Allow });
    entry.outcome = Some(if n % 5_000 == 9 { Outcome::Lost } else { Outcome::Done });
    entry.duration = Some(Duration::from_micros(random % 1_000_000));
    (entry.bytes_in, entry.bytes_out) = (Some(random % 1_000), Some(random % 10_000));
    entry.trace = Some(format!("{random:032x}"));
    entry.detail = Some(serde_json::json!({"shape": {"path": "string", "depth": "number"}}));
    // One in each block, and one long ago.
    if n % 500 == 250 {
        entry.tool = Some("once_a_block".to_owned());
    }
    if n == 1_234 {
        entry.user = Some(user("long-ago"));
    }
    entry
}

async fn fill(store: &Store, rows: u32) {
    for first in (0..rows).step_by(BATCH as usize) {
        let entries: Vec<Entry> = (first..first + BATCH).map(|n| row(n.into())).collect();
        store.audit().append_all(&entries).await.unwrap();
    }
}

fn filters(rows: u32) -> Vec<(&'static str, Filter)> {
    let all = Filter::default();
    let at = |part: u32| Some(moment(BEGIN + u64::from(rows / 10 * part) * 20));
    vec![
        ("all", all.clone()),
        ("action", Filter { action: Some(CALL.to_owned()), ..all.clone() }),
        ("action none", Filter { action: Some("none".to_owned()), ..all.clone() }),
        ("user", Filter { user: Some(user("u7")), ..all.clone() }),
        ("user long ago", Filter { user: Some(user("long-ago")), ..all.clone() }),
        ("agent", Filter { agent: Some(agent("a7")), ..all.clone() }),
        ("agent of another", Filter { agent: Some(agent("a8")), ..all.clone() }),
        ("server", Filter { server: Some(global("s8")), ..all.clone() }),
        ("tool", Filter { tool: Some("s8_t1".to_owned()), ..all.clone() }),
        ("tool once a block", Filter { tool: Some("once_a_block".to_owned()), ..all.clone() }),
        ("origin", Filter { origin: Some(CallOrigin::Mcp), ..all.clone() }),
        ("origin none", Filter { origin: Some(CallOrigin::Page), ..all.clone() }),
        ("decision", Filter { decision: Some(Decision::Allow), ..all.clone() }),
        ("decision rare", Filter { decision: Some(Decision::Deny), ..all.clone() }),
        ("outcome", Filter { outcome: Some(Outcome::Done), ..all.clone() }),
        ("outcome rare", Filter { outcome: Some(Outcome::Lost), ..all.clone() }),
        ("time", Filter { since: at(3), until: at(4), ..all.clone() }),
        ("time of nothing", Filter { until: Some(moment(BEGIN)), ..all.clone() }),
        ("since", Filter { since: at(9), ..all.clone() }),
        ("until", Filter { until: at(1), ..all }),
    ]
}

fn both(one: &Filter, other: &Filter) -> Filter {
    let (one, other) = (one.clone(), other.clone());
    Filter {
        action: one.action.or(other.action),
        user: one.user.or(other.user),
        agent: one.agent.or(other.agent),
        server: one.server.or(other.server),
        tool: one.tool.or(other.tool),
        origin: one.origin.or(other.origin),
        decision: one.decision.or(other.decision),
        outcome: one.outcome.or(other.outcome),
        since: one.since.or(other.since),
        until: one.until.or(other.until),
    }
}

async fn prove_a_page_of_ten_million_rows_reads_few_blocks(world: World) {
    let store = world.open().await;
    let rows = 100_000 * repetitions(100).pow(2) / 100;
    let begun = now();
    fill(&store, rows).await;
    world.raw("ANALYZE").await;
    eprintln!("{rows} rows on {:?}, written in {:?}", store.engine(), begun.elapsed());
    eprintln!(
        "{:<36} {:>5} {:>7} {:>11}  deep {:>7} {:>11}",
        "filters", "rows", "blocks", "", "", ""
    );
    let filters = filters(rows);
    let mut slowest = Duration::ZERO;
    for (n, (name, one)) in filters.iter().enumerate() {
        slowest = slowest.max(measure(&store, name, one, rows).await);
        for (with, other) in &filters[n + 1..] {
            let name = format!("{name} + {with}");
            slowest = slowest.max(measure(&store, &name, &both(one, other), rows).await);
        }
    }
    eprintln!("the slowest page took {slowest:?}");
    store.close().await.unwrap();
}

/// The first page and one in the middle; but for the four that are tried for common words, each block that is read has a
/// row that fits the words, and all but those at the ends of a time have one for the page.
async fn measure(store: &Store, name: &str, filter: &Filter, rows: u32) -> Duration {
    let (mut told, mut slowest) = (String::new(), Duration::ZERO);
    let deep = Cursor::parse(&format!("{:x}", rows / 2));
    for after in [None, deep] {
        let begun = now();
        let page = store.audit().page(filter, after, LIMIT).await.unwrap();
        let took = begun.elapsed();
        slowest = slowest.max(took);
        assert!(page.blocks as usize <= page.rows.len() + 6, "{name}: {} blocks", page.blocks);
        assert!(page.blocks <= LIMIT + 6, "{name}: {} blocks", page.blocks);
        told.push_str(&format!(" {:>5} {:>7} {took:>11.1?} ", page.rows.len(), page.blocks));
    }
    eprintln!("{name:<36}{told}");
    slowest
}

#[expect(clippy::disallowed_methods, reason = "real time is measured")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
