//! What was measured, and how it is shown. Never measures calls itself.

use std::time::Duration;

/// Calls made one after another or side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    per_second: f64,
    median: f64,
    worst: f64,
}

impl Sample {
    /// From the time that each call took, and all together.
    pub(crate) fn of(mut each: Vec<Duration>, whole: Duration) -> Self {
        each.sort_unstable();
        let at = |share: f64| {
            let index = (each.len() as f64 * share) as usize;
            each.get(index.min(each.len().saturating_sub(1))).map_or(0.0, Duration::as_secs_f64)
        };
        Self {
            per_second: each.len() as f64 / whole.as_secs_f64(),
            median: at(0.5),
            worst: at(0.99),
        }
    }

    pub(crate) fn better(self, other: Self) -> Self {
        if other.per_second > self.per_second { other } else { self }
    }

    /// One row; the ratio is how many times as long a call takes as by `bare`.
    pub(crate) fn print(&self, what: &str, bare: &Self) {
        let ratio = bare.per_second / self.per_second;
        let (median, worst) = (self.median * 1e6, self.worst * 1e6);
        println!("{what:<46}{:>10.0}{median:>10.0}{worst:>10.0}{ratio:>8.2}", self.per_second);
    }
}

/// Bytes of this process that are in memory.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or_default() * 1024
}
