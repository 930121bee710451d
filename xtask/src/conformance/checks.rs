//! The checks of one scenario, as the suite leaves them in a file: whether they went well, and which were
//! not made at all. Never decides whether a check may be skipped.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// What became of the checks of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checks {
    /// Whether all that were made went well; a warning is no success.
    pub(super) good: bool,
    /// The ids of those that were not made.
    pub(super) skipped: BTreeSet<String>,
}

impl Checks {
    /// Those of a file. Without any, nothing was examined.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", file.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let rows: Vec<Value> = serde_json::from_str(text).context("these are no checks")?;
        ensure!(!rows.is_empty(), "no check was made");
        let mut checks = Self { good: true, skipped: BTreeSet::new() };
        for row in &rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            match text("status") {
                "SUCCESS" | "INFO" => {}
                "SKIPPED" => drop(checks.skipped.insert(text("id").to_owned())),
                _ => checks.good = false,
            }
        }
        Ok(checks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_no_success_and_what_was_skipped_was_not_made() {
        let checks = |statuses: &[&str]| {
            let rows = statuses.iter().zip('a'..);
            let rows: Vec<Value> = rows
                .map(|(status, id)| serde_json::json!({"id": id.to_string(), "status": status}))
                .collect();
            let read = Checks::parse(&Value::from(rows).to_string()).ok()?;
            Some((read.good, read.skipped.into_iter().collect::<String>()))
        };
        let check = |statuses: &[&str], good, skipped: &str| {
            assert_eq!(checks(statuses), Some((good, skipped.to_owned())), "{statuses:?}");
        };
        check(&["SUCCESS", "INFO"], true, "");
        check(&["SUCCESS", "SKIPPED", "INFO", "SKIPPED"], true, "bd");
        check(&["SUCCESS", "WARNING"], false, "");
        check(&["FAILURE", "SKIPPED"], false, "b");
        check(&["SOMETHING NEW"], false, "");
        assert_eq!(checks(&[]), None);
    }
}
