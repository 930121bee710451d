//! Adds a batch of calls to the counts: those that are alike are added up first, so that a batch is few
//! statements.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use switchboard_model::{AgentId, UserId};

use super::{CallRecord, Period};
use crate::audit::Sheet;
use crate::db::{Many, Sql, Tx, micros, millis, sql};
use crate::error::Result;
use crate::key::write_key;

static USAGE: LazyLock<Many> = LazyLock::new(|| {
    Many::new(
        "INSERT INTO usage (server, tool, agent, user_id, period, start, calls, errors, denied,
         duration_us, slowest_us, bytes_in, bytes_out) VALUES",
        13,
        "ON CONFLICT (period, start, server, tool, agent, user_id) DO UPDATE SET
         calls = usage.calls + excluded.calls, errors = usage.errors + excluded.errors,
         denied = usage.denied + excluded.denied, duration_us = usage.duration_us + excluded.duration_us,
         slowest_us = CASE WHEN usage.slowest_us > excluded.slowest_us
             THEN usage.slowest_us ELSE excluded.slowest_us END,
         bytes_in = usage.bytes_in + excluded.bytes_in, bytes_out = usage.bytes_out + excluded.bytes_out",
    )
});

/// Of which server, tool, agent and person, and of which period.
type Key = (String, String, String, String, &'static str, i64);

/// What calls add up to.
#[derive(Clone, Copy, Default)]
struct Sums {
    calls: i64,
    errors: i64,
    denied: i64,
    duration: i64,
    slowest: i64,
    bytes_in: i64,
    bytes_out: i64,
}

/// What is kept of a server itself.
#[derive(Default)]
struct Server<'c> {
    ran: i64,
    failed: i64,
    last: i64,
    failure: Option<&'c CallRecord>,
}

/// Adds calls to the counts, in a fixed order, so that two instances never wait for each other in a
/// circle.
pub(crate) async fn add(tx: &mut Tx, sheet: &Sheet<'_>) -> Result<()> {
    let groups = alike(sheet);
    let mut servers: BTreeMap<String, Server<'_>> = BTreeMap::new();
    let mut counts: BTreeMap<Key, Sums> = BTreeMap::new();
    for ((_, hour), group) in &groups {
        let call = group.call;
        let server = write_key(&call.server);
        let agent = call.agent.as_ref().map(AgentId::to_string).unwrap_or_default();
        let user = call.user.as_ref().map(UserId::to_string).unwrap_or_default();
        let tool = call.tool.replace('\0', "\u{fffd}");
        let at = hour * Period::Hour.millis();
        for period in [Period::Hour, Period::Day] {
            let start = at - at.rem_euclid(period.millis());
            let [server, tool, agent, user] = [&server, &tool, &agent, &user].map(Clone::clone);
            let key = (server, tool, agent, user, period.as_str(), start);
            counts.entry(key).or_default().merge(&group.sums);
        }
        servers.entry(server).or_default().merge(group);
    }
    for (server, sums) in servers {
        add_to_server(tx, server, &sums).await?;
    }
    add_to_usage(tx, counts).await
}

/// Calls that are alike, of one hour.
struct Group<'c> {
    /// One of them.
    call: &'c CallRecord,
    /// The last of those that failed.
    failure: Option<&'c CallRecord>,
    last: i64,
    sums: Sums,
}

/// Found without writing anything down for each of them.
fn alike<'c>(sheet: &Sheet<'c>) -> HashMap<(u32, i64), Group<'c>> {
    let mut groups = HashMap::new();
    let mut calls = sheet.calls().peekable();
    while let Some((place, call)) = calls.next() {
        let hour = |call: &CallRecord| millis(call.at).div_euclid(Period::Hour.millis());
        let key = (place, hour(call));
        let group = groups.entry(key).or_insert_with(|| Group {
            call,
            failure: None,
            last: i64::MIN,
            sums: Sums::default(),
        });
        group.add(call);
        // Calls come in runs.
        while let Some((_, call)) = calls.next_if(|(place, call)| (*place, hour(call)) == key) {
            group.add(call);
        }
    }
    groups
}

impl<'c> Group<'c> {
    fn add(&mut self, call: &'c CallRecord) {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (failed, took) = (call.failed(), micros(call.duration));
        self.sums.merge(&Sums {
            calls: 1,
            errors: failed.into(),
            denied: call.outcome.is_none().into(),
            duration: took,
            slowest: took,
            bytes_in: number(call.bytes_in),
            bytes_out: number(call.bytes_out),
        });
        self.last = self.last.max(millis(call.at));
        if failed {
            self.failure = later(self.failure, Some(call));
        }
    }
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.denied += other.denied;
        self.duration = self.duration.saturating_add(other.duration);
        self.slowest = self.slowest.max(other.slowest);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
    }
}

impl<'c> Server<'c> {
    fn merge(&mut self, group: &Group<'c>) {
        self.ran += group.sums.calls - group.sums.denied;
        self.failed += group.sums.errors;
        self.last = self.last.max(group.last);
        self.failure = later(self.failure, group.failure);
    }
}

fn later<'c>(one: Option<&'c CallRecord>, other: Option<&'c CallRecord>) -> Option<&'c CallRecord> {
    [one, other].into_iter().flatten().max_by_key(|call| call.at)
}

async fn add_to_server(tx: &mut Tx, server: String, sums: &Server<'_>) -> Result<()> {
    let query = sql(
        "INSERT INTO server_stats (server, added_at, last_used, use_count, error_count, last_error)
         VALUES ($1, $2, $2, $3, $4, $5) ON CONFLICT (server) DO UPDATE SET
         last_used = CASE WHEN COALESCE(server_stats.last_used, 0) > excluded.last_used
             THEN server_stats.last_used ELSE excluded.last_used END,
         use_count = server_stats.use_count + excluded.use_count,
         error_count = server_stats.error_count + excluded.error_count,
         last_error = COALESCE(excluded.last_error, server_stats.last_error)",
    );
    let error = sums.failure.and_then(|call| call.error.as_deref());
    let error = error.map(|error| error.replace('\0', "\u{fffd}"));
    let query = query.bind(server).bind(sums.last).bind(sums.ran).bind(sums.failed);
    query.bind(error).run(tx).await.map(drop)
}

async fn add_to_usage(tx: &mut Tx, counts: BTreeMap<Key, Sums>) -> Result<()> {
    let mut left = counts.len();
    let mut counts = counts.into_iter();
    while left > 0 {
        let (query, rows) = USAGE.next(tx.engine(), left);
        left -= rows;
        counts.by_ref().take(rows).fold(query, bind).run(tx).await?;
    }
    Ok(())
}

fn bind(query: Sql, (key, sums): (Key, Sums)) -> Sql {
    let (server, tool, agent, user, period, start) = key;
    let query = query.bind(server).bind(tool).bind(agent).bind(user).bind(period).bind(start);
    let query = query.bind(sums.calls).bind(sums.errors).bind(sums.denied).bind(sums.duration);
    query.bind(sums.slowest).bind(sums.bytes_in).bind(sums.bytes_out)
}
