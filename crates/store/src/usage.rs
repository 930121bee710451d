//! Counts over time: a row for each hour and day, server, tool, agent and person. Added up when
//! calls are recorded, so that a chart never reads the calls themselves.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard_model::{AgentId, CallOrigin, Decision, Outcome, ServerKey, UserId};

use crate::audit::{CALL, Entry};
use crate::db::{Row, Sql, Tx, from_millis, made, micros, millis, sql};
use crate::error::Result;
use crate::key::{parse_key, write_key};
use crate::store::Store;

/// One call of a tool, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// When it came.
    pub at: SystemTime,
    /// Whose.
    pub user: Option<UserId>,
    /// Which agent's.
    pub agent: Option<AgentId>,
    /// To which server.
    pub server: ServerKey,
    /// Which tool, by the server's own name.
    pub tool: String,
    /// Through which door.
    pub origin: CallOrigin,
    /// What the policy said.
    pub decision: Decision,
    /// How it ended; none if it never reached the server.
    pub outcome: Option<Outcome>,
    /// How long it took.
    pub duration: Duration,
    /// Bytes of the arguments.
    pub bytes_in: u64,
    /// Bytes of the result.
    pub bytes_out: u64,
    /// The trace it belongs to.
    pub trace: Option<String>,
    /// The shape of the arguments: names and types.
    pub shape: Option<Value>,
    /// The arguments themselves, redacted, where that is switched on.
    pub arguments: Option<Value>,
    /// What went wrong, for people, with nothing secret in it.
    pub error: Option<String>,
}

impl CallRecord {
    pub(crate) fn entry(&self) -> Entry {
        let parts = [("shape", &self.shape), ("arguments", &self.arguments)];
        let mut detail: serde_json::Map<String, Value> = parts
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)))
            .collect();
        if let Some(error) = &self.error {
            detail.insert("error".to_owned(), json!(error));
        }
        Entry {
            at: self.at,
            action: CALL.into(),
            source: format!("mcp:{}", self.server.name),
            user: self.user.clone(),
            agent: self.agent.clone(),
            server: Some(self.server.clone()),
            tool: Some(self.tool.clone()),
            origin: Some(self.origin),
            decision: Some(self.decision),
            outcome: self.outcome,
            duration: Some(self.duration),
            bytes_in: Some(self.bytes_in),
            bytes_out: Some(self.bytes_out),
            trace: self.trace.clone(),
            detail: (!detail.is_empty()).then_some(Value::Object(detail)),
        }
    }

    fn failed(&self) -> bool {
        match self.outcome {
            Some(Outcome::ToolError | Outcome::Refused | Outcome::TimedOut | Outcome::Lost) => true,
            Some(Outcome::Done | Outcome::Cancelled) | None => false,
        }
    }
}

/// How long one point of a chart is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day, by UTC.
    Day,
}

impl Period {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    const fn millis(self) -> i64 {
        match self {
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }
}

/// Which counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Not before.
    pub since: Option<SystemTime>,
    /// Before.
    pub until: Option<SystemTime>,
    /// Of this server.
    pub server: Option<ServerKey>,
    /// Of this tool.
    pub tool: Option<String>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this person.
    pub user: Option<UserId>,
}

/// Counts of one period, or of one server and tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Where the period begins; the first one, where several are added up.
    pub start: SystemTime,
    /// Calls, refused ones too.
    pub calls: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those that the policy or a person refused.
    pub denied: u64,
    /// How long they took together.
    pub duration: Duration,
    /// How long the slowest took.
    pub slowest: Duration,
    /// Bytes of arguments.
    pub bytes_in: u64,
    /// Bytes of results.
    pub bytes_out: u64,
}

/// Counts over time.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'a>(pub(crate) &'a Store);

const SUMS: &str = "MIN(start) AS start, CAST(SUM(calls) AS BIGINT) AS calls,
     CAST(SUM(errors) AS BIGINT) AS errors, CAST(SUM(denied) AS BIGINT) AS denied,
     CAST(SUM(duration_us) AS BIGINT) AS duration_us, MAX(slowest_us) AS slowest_us,
     CAST(SUM(bytes_in) AS BIGINT) AS bytes_in, CAST(SUM(bytes_out) AS BIGINT) AS bytes_out";

impl Usage<'_> {
    /// One point a period, the oldest first; periods without a call are not there.
    pub async fn series(self, period: Period, of: &Series) -> Result<Vec<Point>> {
        let mut tx = self.0.db().read().await?;
        let query = query(&format!("SELECT {SUMS}"), period, of, "GROUP BY start ORDER BY start");
        query.all(&mut tx).await?.iter().map(point).collect()
    }

    /// What each server and tool adds up to, the most used first.
    pub async fn totals(
        self,
        period: Period,
        of: &Series,
    ) -> Result<Vec<(ServerKey, String, Point)>> {
        let mut tx = self.0.db().read().await?;
        let order = "GROUP BY server, tool ORDER BY calls DESC, server, tool";
        let rows = query(&format!("SELECT server, tool, {SUMS}"), period, of, order);
        let rows = rows.all(&mut tx).await?;
        let read =
            |row: &Row| Ok((parse_key(&row.text("server")?)?, row.text("tool")?, point(row)?));
        rows.iter().map(read).collect()
    }

    /// Forgets the counts of hours and days that are older.
    pub async fn prune(self, hours: Duration, days: Duration) -> Result<u64> {
        let now = self.0.now();
        let mut tx = self.0.db().begin().await?;
        let mut gone = 0;
        for (period, age) in [(Period::Hour, hours), (Period::Day, days)] {
            let limit = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
            let query = sql("DELETE FROM usage WHERE period = $1 AND start < $2");
            gone += query.bind(period.as_str()).bind(limit).run(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(gone)
    }
}

type Key = (&'static str, i64, String, String, String, String);

/// Adds calls to the counts, in a fixed order, so that two instances never wait for each other in a
/// circle.
pub(crate) async fn add(tx: &mut Tx, calls: &[&CallRecord]) -> Result<()> {
    let mut servers: BTreeMap<String, Vec<&CallRecord>> = BTreeMap::new();
    let mut counts: BTreeMap<Key, Vec<&CallRecord>> = BTreeMap::new();
    for calls in alike(calls) {
        let Some(first) = calls.first() else { continue };
        let server = write_key(&first.server);
        for period in [Period::Hour, Period::Day] {
            let at = millis(first.at);
            let start = at - at.rem_euclid(period.millis());
            let agent = first.agent.as_ref().map(AgentId::to_string).unwrap_or_default();
            let user = first.user.as_ref().map(UserId::to_string).unwrap_or_default();
            let tool = first.tool.replace('\0', "\u{fffd}");
            let key = (period.as_str(), start, server.clone(), tool, agent, user);
            counts.entry(key).or_default().extend(&calls);
        }
        servers.entry(server).or_default().extend(&calls);
    }
    for (server, calls) in servers {
        add_to_server(tx, server, &calls).await?;
    }
    for (key, calls) in counts {
        add_to_usage(tx, key, &calls).await?;
    }
    Ok(())
}

/// Those that are counted together, found without writing anything down for each of them.
fn alike<'c>(calls: &[&'c CallRecord]) -> Vec<Vec<&'c CallRecord>> {
    let mut groups: BTreeMap<_, Vec<&CallRecord>> = BTreeMap::new();
    for call in calls {
        let hour = millis(call.at).div_euclid(Period::Hour.millis());
        let who = (call.agent.as_ref(), call.user.as_ref());
        groups.entry((hour, &call.server, call.tool.as_str(), who)).or_default().push(call);
    }
    groups.into_values().collect()
}

async fn add_to_server(tx: &mut Tx, server: String, calls: &[&CallRecord]) -> Result<()> {
    let ran = calls.iter().filter(|call| call.outcome.is_some());
    let failed = calls.iter().filter(|call| call.failed());
    let last = calls.iter().map(|call| millis(call.at)).max();
    let error = failed.clone().max_by_key(|call| call.at).and_then(|call| call.error.clone());
    let query = sql(
        "INSERT INTO server_stats (server, added_at, last_used, use_count, error_count, last_error)
         VALUES ($1, $2, $2, $3, $4, $5) ON CONFLICT (server) DO UPDATE SET
         last_used = CASE WHEN COALESCE(server_stats.last_used, 0) > excluded.last_used
             THEN server_stats.last_used ELSE excluded.last_used END,
         use_count = server_stats.use_count + excluded.use_count,
         error_count = server_stats.error_count + excluded.error_count,
         last_error = COALESCE(excluded.last_error, server_stats.last_error)",
    );
    let query = query.bind(server).bind(last.unwrap_or_default()).bind(count(ran.count()));
    let error = error.map(|error| error.replace('\0', "\u{fffd}"));
    query.bind(count(failed.count())).bind(error).run(tx).await.map(drop)
}

async fn add_to_usage(tx: &mut Tx, key: Key, calls: &[&CallRecord]) -> Result<()> {
    let (period, start, server, tool, agent, user) = key;
    let sum = |of: fn(&CallRecord) -> u64| calls.iter().map(|call| of(call)).sum::<u64>();
    let denied = calls.iter().filter(|c| c.outcome.is_none()).count();
    let took = calls.iter().map(|call| micros(call.duration));
    let query = sql("INSERT INTO usage (period, start, server, tool, agent, user_id, calls, errors,
         denied, duration_us, slowest_us, bytes_in, bytes_out)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (period, start, server, tool, agent, user_id) DO UPDATE SET
         calls = usage.calls + excluded.calls, errors = usage.errors + excluded.errors,
         denied = usage.denied + excluded.denied, duration_us = usage.duration_us + excluded.duration_us,
         slowest_us = CASE WHEN usage.slowest_us > excluded.slowest_us
             THEN usage.slowest_us ELSE excluded.slowest_us END,
         bytes_in = usage.bytes_in + excluded.bytes_in, bytes_out = usage.bytes_out + excluded.bytes_out");
    let query = query.bind(period).bind(start).bind(server).bind(tool).bind(agent).bind(user);
    let query = query.bind(count(calls.len()));
    let query = query.bind(count(calls.iter().filter(|call| call.failed()).count()));
    let query = query.bind(count(denied)).bind(took.clone().sum::<i64>());
    let query = query.bind(took.max().unwrap_or_default());
    let bytes = [sum(|call| call.bytes_in), sum(|call| call.bytes_out)];
    let [bytes_in, bytes_out] = bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    query.bind(bytes_in).bind(bytes_out).run(tx).await.map(drop)
}

fn query(select: &str, period: Period, of: &Series, rest: &str) -> Sql {
    let mut values: Vec<crate::db::Value> = vec![period.as_str().into()];
    let floor = |time| millis(time) - millis(time).rem_euclid(period.millis());
    let mut text = format!("{select} FROM usage WHERE period = $1");
    let conditions = [
        ("start >=", of.since.map(|since| floor(since).into())),
        ("start <", of.until.map(Into::into)),
        ("server =", of.server.as_ref().map(|server| write_key(server).into())),
        ("tool =", of.tool.clone().map(Into::into)),
        ("agent =", of.agent.as_ref().map(|agent| agent.as_str().into())),
        ("user_id =", of.user.as_ref().map(|user| user.as_str().into())),
    ];
    for (condition, value) in conditions {
        if let Some(value) = value {
            values.push(value);
            text.push_str(&format!(" AND {condition} ${}", values.len()));
        }
    }
    values.into_iter().fold(made(format!("{text} {rest}")), Sql::bind)
}

fn point(row: &Row) -> Result<Point> {
    Ok(Point {
        start: from_millis(row.int("start")?),
        calls: row.count("calls")?,
        errors: row.count("errors")?,
        denied: row.count("denied")?,
        duration: Duration::from_micros(row.count("duration_us")?),
        slowest: Duration::from_micros(row.count("slowest_us")?),
        bytes_in: row.count("bytes_in")?,
        bytes_out: row.count("bytes_out")?,
    })
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
