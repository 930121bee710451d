//! `switchboard usage`: how often which tools were called, and how that went over time.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::api;
use super::audit::moment;
use super::out::{BOLD, DIM, Out, table};

/// Show how often which tools were called.
#[derive(Debug, Args)]
pub(super) struct Usage {
    /// Only of this server.
    #[arg(long)]
    server: Option<String>,
    /// Only of this agent.
    #[arg(long)]
    agent: Option<String>,
    /// Only of this person.
    #[arg(long)]
    user: Option<String>,
    /// The last `24h`, `30d`, ….
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = humantime::parse_duration)]
    since: Duration,
}

/// From the least to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Usage {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let period = if self.since <= Duration::from_secs(3 * 86_400) { "hour" } else { "day" };
        let query = api::query(&[
            ("server", self.server.clone()),
            ("agent", self.agent.clone()),
            ("user", self.user.clone()),
            ("since", Some(moment(self.since))),
            ("period", Some(period.to_owned())),
        ]);
        let series = api::get(&format!("/api/v1/usage{query}"))?;
        let totals = api::get(&format!("/api/v1/usage/totals{query}"))?;
        out.json(
            &json!({"period": period, "points": series["points"], "totals": totals["totals"]}),
        );
        let rows = totals["totals"].as_array().cloned().unwrap_or_default();
        if rows.is_empty() {
            out.line("Nothing was called in that time.");
            return Ok(ExitCode::SUCCESS);
        }
        let points = series["points"].as_array().cloned().unwrap_or_default();
        let calls: Vec<u64> = points.iter().map(|point| number(point, "calls")).collect();
        out.line(format!("{BOLD}Calls{BOLD:#} by the {period}  {}", bars(&calls)));
        let (all, failed) = (calls.iter().sum::<u64>(), points.iter().map(|p| number(p, "errors")));
        out.line(format!("{DIM}{all} calls, {} failed{DIM:#}\n", failed.sum::<u64>()));
        let header = ["SERVER", "TOOL", "CALLS", "FAILED", "DENIED", "MEAN", "SLOWEST"];
        out.line(table(&header, rows.iter().map(cells)));
        Ok(ExitCode::SUCCESS)
    }
}

fn number(point: &Value, name: &str) -> u64 {
    point.get(name).and_then(Value::as_u64).unwrap_or_default()
}

fn bars(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let bar =
        |count: &u64| BARS.get(usize::try_from(count * 7 / most).unwrap_or(7)).unwrap_or(&'█');
    counts.iter().map(bar).collect()
}

fn cells(row: &Value) -> Vec<String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let counts = &row["counts"];
    let calls = number(counts, "calls");
    let millis = |us: u64| format!("{:.1} ms", us as f64 / 1000.0);
    let mean = millis(number(counts, "duration_us") / calls.max(1));
    let [failed, denied] = ["errors", "denied"].map(|name| number(counts, name).to_string());
    let slowest = millis(number(counts, "slowest_us"));
    vec![text("server"), text("tool"), calls.to_string(), failed, denied, mean, slowest]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_how_much() {
        assert_eq!(bars(&[0, 1, 7, 14]), "▁▁▄█");
        assert_eq!(bars(&[]), "");
        assert_eq!(bars(&[0]), "▁");
    }
}
