//! Pages are look-ups: no filter reads the whole table.

use std::time::Duration;

use switchboard_model::{CallOrigin, Decision, Outcome};
use switchboard_store::{Address, Engine, Filter};

use crate::kit::{World, agent, global, user};

suite! {
    every_filter_is_served_by_an_index,
}

/// Fills the table behind the store's back, as fast as the database can.
async fn fill(world: &World, rows: u32) {
    let numbers = match world.address {
        Address::Sqlite(_) => format!(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows})"
        ),
        Address::Postgres(_) => format!("WITH n AS (SELECT generate_series(1, {rows}) AS n)"),
    };
    let hash = match world.address {
        Address::Sqlite(_) => "zeroblob(32)",
        Address::Postgres(_) => "decode(repeat('00', 32), 'hex')",
    };
    world
        .raw(&format!(
            "{numbers} INSERT INTO audit (seq, at, action, source, user_id, agent, server, tool,
             origin, decision, outcome, hash)
             SELECT n, 1800000000000 + n, 'mcp_tool_call', 'mcp:x', 'u' || (n % 50), 'a' || (n % 40),
             'global/s' || (n % 30), 't' || (n % 500), CASE n % 2 WHEN 0 THEN 'mcp' ELSE 'rest' END,
             CASE n % 1000 WHEN 0 THEN 'deny' ELSE 'allow' END,
             CASE n % 5000 WHEN 0 THEN 'lost' ELSE 'done' END, {hash} FROM n"
        ))
        .await;
    world.raw("ANALYZE").await;
}

fn filters() -> Vec<Filter> {
    let all = Filter::default();
    let time = |n: u64| Some(std::time::UNIX_EPOCH + Duration::from_millis(1_800_000_000_000 + n));
    vec![
        all.clone(),
        Filter { action: Some("mcp_tool_call".to_owned()), ..all.clone() },
        Filter { action: Some("none".to_owned()), ..all.clone() },
        Filter { user: Some(user("u7")), ..all.clone() },
        Filter { agent: Some(agent("a7")), ..all.clone() },
        Filter { server: Some(global("s7")), ..all.clone() },
        Filter { tool: Some("t7".to_owned()), ..all.clone() },
        Filter { origin: Some(CallOrigin::Mcp), ..all.clone() },
        Filter { origin: Some(CallOrigin::Page), ..all.clone() },
        Filter { decision: Some(Decision::Deny), ..all.clone() },
        Filter { outcome: Some(Outcome::Lost), ..all.clone() },
        Filter { since: time(1_000), until: time(2_000), ..all.clone() },
        Filter { user: Some(user("u7")), since: time(1_000), until: time(9_000), ..all.clone() },
    ]
}

async fn every_filter_is_served_by_an_index(world: World) {
    let store = world.open().await;
    let rows = 20_000 * switchboard_testkit::repetitions(50);
    fill(&world, rows).await;
    for filter in filters() {
        let page = store.audit().page(&filter, None, 50).await.unwrap();
        for after in [None, page.next] {
            let plan = store.audit().explain(&filter, after).await.unwrap();
            let reads_all = match store.engine() {
                Engine::Sqlite => {
                    plan.lines()
                        .any(|line| line.starts_with("SCAN") && !line.contains("USING INDEX"))
                        || plan.contains("TEMP B-TREE")
                }
                // A few rows that an index found may be sorted.
                Engine::Postgres => {
                    plan.contains("Seq Scan")
                        || (plan.contains("Sort") && !plan.contains("Index Cond"))
                }
            };
            assert!(!reads_all, "{filter:?} after {after:?}:\n{plan}");
        }
        let before = now();
        store.audit().page(&filter, None, 50).await.unwrap();
        eprintln!("{rows} rows, {:?}: {:?}", store.engine(), now() - before);
    }
    store.close().await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "real time is measured")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
