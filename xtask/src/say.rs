//! What the chores print about themselves: headings, notes, times, the closing table.
//! Never prints what a child process says; children write to the terminal themselves.

use std::fmt;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();

/// Opens a part of the output that the eye should find again.
pub(crate) fn heading(text: &str) {
    anstream::println!("\n{BOLD}== {text}{BOLD:#}");
}

/// One line of plain information.
pub(crate) fn note(text: impl fmt::Display) {
    anstream::println!("{text}");
}

/// The reason why the chore failed, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    anstream::eprintln!("\n{RED}error{RED:#}: {error}");
    for cause in error.chain().skip(1) {
        anstream::eprintln!("  because {cause}");
    }
}

/// One row of the closing table.
pub(crate) struct Row {
    /// What ran.
    pub(crate) name: &'static str,
    /// How it went.
    pub(crate) outcome: Outcome,
}

/// How a step went, with the time it took if it ran at all.
#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    /// It ran and all was well.
    Passed(Duration),
    /// It ran and found something.
    Failed(Duration),
    /// An earlier step failed, so it never ran.
    NotReached,
}

/// Prints the rows with aligned times and their sum.
pub(crate) fn table(rows: &[Row]) {
    heading("summary");
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("total".len());
    for Row { name, outcome } in rows {
        let (time, style, word) = match outcome {
            Outcome::Passed(time) => (elapsed(*time), GREEN, "passed"),
            Outcome::Failed(time) => (elapsed(*time), RED, "FAILED"),
            Outcome::NotReached => ("-".to_owned(), Style::new(), "not reached"),
        };
        anstream::println!("{name:width$}  {time:>9}  {style}{word}{style:#}");
    }
    let total = rows.iter().filter_map(|row| row.outcome.time()).sum();
    anstream::println!("{:width$}  {:>9}", "total", elapsed(total));
}

impl Outcome {
    /// Whether it ran.
    pub(crate) fn is_reached(self) -> bool {
        self.time().is_some()
    }

    fn time(self) -> Option<Duration> {
        match self {
            Self::Passed(time) | Self::Failed(time) => Some(time),
            Self::NotReached => None,
        }
    }
}

/// Measures one step.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    #[expect(
        clippy::disallowed_methods,
        reason = "chores report real time; nothing here is tested against a clock"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub(crate) fn read(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A duration as people say it: `0.4 s`, `12.0 s`, `3 m 05 s`.
pub(crate) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} m {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        let cases = [
            (0, "0.0 s"),
            (449, "0.4 s"),
            (59_900, "59.9 s"),
            (60_000, "1 m 00 s"),
            (185_400, "3 m 05 s"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(elapsed(Duration::from_millis(milliseconds)), expected);
        }
    }
}
