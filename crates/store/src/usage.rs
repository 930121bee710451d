//! Counts over time: a row for each hour and day, server, tool, agent and person. Added up when
//! calls are recorded, so that a chart never reads the calls themselves.

mod add;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use switchboard_model::{AgentId, CallOrigin, Decision, Outcome, ServerKey, UserId};

use crate::db::{Row, Sql, from_millis, made, millis, sql};
use crate::error::Result;
use crate::key::{parse_key, write_key};
use crate::store::Store;
pub(crate) use add::add;

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
    pub tool: Arc<str>,
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
    pub shape: Option<Shape>,
    /// The arguments themselves, redacted, where that is switched on.
    pub arguments: Option<Value>,
    /// What went wrong, for people, with nothing secret in it.
    pub error: Option<String>,
}

/// The shape of some arguments, as JSON. Cheap to clone, as nearly all calls of a tool have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(Arc<str>);

impl Shape {
    /// The shape that is written so; `None` if that is no JSON, which would spoil the log.
    pub fn parse(json: &str) -> Option<Self> {
        let good = serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
        // A line of the log is a line.
        (good && !json.contains('\n')).then(|| Self(json.into()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CallRecord {
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
