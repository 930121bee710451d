//! `switchboard audit`: who did what, and whether the log is whole.

mod arguments;
mod retention;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::Value;
use switchboard_model::{Clock as _, SystemClock};

use super::api;
use super::out::{BAD, DIM, GOOD, Out, table};

/// Show who called and changed what, and check that nothing was taken out.
#[derive(Debug, Args)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    wanted: Wanted,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check the chain of the whole log: no row was changed, added or removed.
    Verify,
    /// Show how much of the log is kept, or say how much.
    Retention(retention::Retention),
}

#[derive(Debug, Args)]
struct Wanted {
    /// Only of this kind: `mcp_tool_call`, `server.create`, ….
    #[arg(long)]
    action: Option<String>,
    /// Only of this person.
    #[arg(long)]
    user: Option<String>,
    /// Only of this agent.
    #[arg(long)]
    agent: Option<String>,
    /// Only about this server.
    #[arg(long)]
    server: Option<String>,
    /// Only about this tool, by the server's own name.
    #[arg(long)]
    tool: Option<String>,
    /// Only what ended so: `done`, `tool_error`, `refused`, `timed_out`, `cancelled`, `lost`.
    #[arg(long)]
    outcome: Option<String>,
    /// Only the last `2h`, `7d`, ….
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    since: Option<Duration>,
    /// How many rows, the newest first.
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Where the page before ended, as `--json` shows it in `next`.
    #[arg(long)]
    cursor: Option<String>,
}

impl Audit {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        match &self.command {
            Some(Command::Verify) => verify(out),
            Some(Command::Retention(retention)) => retention.run(out),
            None => self.wanted.list(out),
        }
    }
}

impl Wanted {
    fn list(&self, out: &Out) -> Result<ExitCode> {
        let query = api::query(&[
            ("action", self.action.clone()),
            ("user", self.user.clone()),
            ("agent", self.agent.clone()),
            ("server", self.server.clone()),
            ("tool", self.tool.clone()),
            ("outcome", self.outcome.clone()),
            ("since", self.since.map(moment)),
            ("limit", Some(self.limit.to_string())),
            ("cursor", self.cursor.clone()),
        ]);
        let page = api::get(&format!("/api/v1/audit{query}"))?;
        out.json(&page);
        let rows = page.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        if rows.is_empty() {
            out.line("There is nothing of that kind in the log.");
            return Ok(ExitCode::SUCCESS);
        }
        let mut header = vec!["WHEN", "WHO", "DID", "TO", "BY", "ENDED", "TOOK"];
        let mut lines: Vec<Vec<String>> = rows.iter().map(cells).collect();
        // Only where values are written down is there anything to show.
        if rows.iter().any(|row| arguments::of(row).is_some()) {
            header.push("WITH");
            for (line, row) in lines.iter_mut().zip(&rows) {
                line.push(arguments::of(row).map(arguments::line).unwrap_or_default());
            }
        }
        out.line(table(&header, lines));
        if page.get("next").is_some_and(Value::is_string) {
            out.note(format!(
                "{DIM}There is more: ask for more with `--limit`, or less with a filter.{DIM:#}"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn verify(out: &Out) -> Result<ExitCode> {
    let verdict = api::get("/api/v1/audit/verify")?;
    out.json(&verdict);
    if verdict.get("whole").and_then(Value::as_bool) == Some(true) {
        let rows = verdict.get("rows").and_then(Value::as_u64).unwrap_or_default();
        let head = verdict.get("head").and_then(Value::as_str).unwrap_or_default();
        out.line(format!("{GOOD}The log is whole.{GOOD:#} {rows} rows were checked."));
        out.note(format!("{DIM}Its head is {head}; kept elsewhere, it shows later that nothing was put back.{DIM:#}"));
        return Ok(ExitCode::SUCCESS);
    }
    let seq = verdict.get("seq").and_then(Value::as_i64).unwrap_or_default();
    let what = match verdict.get("violation").and_then(Value::as_str).unwrap_or_default() {
        "missing" => "a row is missing",
        "edited" => "a row was changed",
        "hidden" => "rows were hidden from filters",
        "forged" => "a row was added by somebody else",
        "cut" => "its end was cut off",
        "unvouched" => "rows were written without the hub's key",
        other => other,
    };
    let place = match verdict.get("to").and_then(Value::as_i64) {
        Some(to) => format!("between numbers {seq} and {to}"),
        None => format!("at number {seq}"),
    };
    out.line(format!("{BAD}The log is not whole:{BAD:#} {what}, {place}."));
    Ok(ExitCode::FAILURE)
}

/// So long ago, as the API takes it.
pub(super) fn moment(ago: Duration) -> String {
    let at = SystemClock.now().checked_sub(ago).unwrap_or(std::time::UNIX_EPOCH);
    humantime::format_rfc3339_seconds(at).to_string()
}

/// What came, went and changed in files.
fn edited(row: &Value) -> String {
    let lists = [("+", "added"), ("-", "removed"), ("~", "changed")].into_iter();
    let marked = lists.flat_map(|(mark, name)| {
        let list = row.pointer(&format!("/detail/{name}")).and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(Value::as_str);
        names.map(move |name| format!("{mark} {name}"))
    });
    marked.collect::<Vec<_>>().join(", ")
}

fn cells(row: &Value) -> Vec<String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let who = match (text("user"), text("agent")) {
        (user, agent) if agent.is_empty() => user,
        (_, agent) => format!("agent {agent}"),
    };
    let detail = |name: &str| row.pointer(&format!("/detail/{name}")).and_then(Value::as_str);
    let other = detail("user").or(detail("agent")).or(detail("name")).unwrap_or_default();
    let to = match (text("server"), text("tool")) {
        (server, _) if server.is_empty() && other.is_empty() => edited(row),
        (server, _) if server.is_empty() => other.to_owned(),
        (server, tool) if tool.is_empty() => server,
        (server, tool) => format!("{server} {tool}"),
    };
    let took = row.get("duration_us").and_then(Value::as_u64);
    let took = took.map(|us| format!("{:.1} ms", us as f64 / 1000.0)).unwrap_or_default();
    let when = text("at").replace('T', " ");
    let when = when.split('.').next().unwrap_or_default().to_owned();
    vec![when, who, text("action"), to, text("origin"), text("outcome"), took]
}
