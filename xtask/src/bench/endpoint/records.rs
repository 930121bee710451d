//! What was measured is the hub with its records: every call has to be among them. Looked at when a part was
//! measured, never while it is.

use anyhow::{Context, Result};

use super::goals::{Goals, Limit};
use super::load::{Era, Target};
use super::programs::Programs;
use super::stage::{Hub, wait};
use crate::say;

/// Made once more, to be counted to the last one: of what was measured, those that were made to warm up are not known.
const COUNTED: usize = 20_000;
const AT_ONCE: usize = 64;

/// What became of the records of a hub.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Records {
    written: f64,
    lost: f64,
    queued: f64,
}

/// Judges whether all calls are there, of which so many were measured at least.
pub(super) fn judge(
    programs: &Programs,
    goals: &mut Goals,
    (hub, target, measured): (&Hub, &Target, f64),
    when: &str,
) -> Result<()> {
    let before = settled(hub)?;
    target.count(programs, (COUNTED, AT_ONCE), Era::Session)?;
    let after = settled(hub)?;
    let Records { written, lost, .. } = after;
    say::note(format_args!(
        "  {written} calls were recorded, of {measured} that were measured and those before them"
    ));
    let added = written - before.written;
    goals.add(format!("records lost, {when}"), lost, Limit::AtMost(0.0), "");
    let what = format!("records, {when}");
    goals.add(what, before.written / measured, Limit::AtLeast(1.0), "× measured");
    let what = format!("records of {COUNTED} calls more, {when}");
    goals.add(what, added / COUNTED as f64, Limit::AtLeast(1.0), "× made");
    Ok(())
}

/// As soon as none waits any more.
fn settled(hub: &Hub) -> Result<Records> {
    let mut told = None;
    wait("all records are written", || match hub.metrics().and_then(|said| read(&said)) {
        Ok(Records { queued, .. }) if queued > 0.0 => false,
        read => {
            told = Some(read);
            true
        }
    })?;
    told.context("the hub tells nothing of its records")?
}

fn read(metrics: &str) -> Result<Records> {
    let count = |name: &str| -> Result<f64> {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|line| line.parse().ok()).with_context(|| format!("no {name} is told"))
    };
    Ok(Records {
        written: count("switchboard_records_written_total")?,
        lost: count("switchboard_records_dropped_total")?,
        queued: count("switchboard_records_queued")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_not_taken_for_none() {
        let all = "# TYPE switchboard_records_written_total counter\n\
            switchboard_records_written_total 12\n\
            switchboard_records_dropped_total 0\n\
            switchboard_records_queued 3\n";
        let records = Records { written: 12.0, lost: 0.0, queued: 3.0 };
        assert_eq!(read(all).unwrap(), records);
        let less = all.replace("switchboard_records_dropped_total 0\n", "");
        let complaint = read(&less).unwrap_err().to_string();
        assert_eq!(complaint, "no switchboard_records_dropped_total is told");
    }
}
