//! What was aimed at, and whether it was reached: one line each, printed at the end.

use anstyle::{AnsiColor, Style};

use crate::say;

const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();

/// The goals so far.
#[derive(Default)]
pub(super) struct Goals(Vec<Goal>);

struct Goal {
    what: String,
    /// Not a number if it was not measured.
    figure: f64,
    limit: Limit,
    unit: &'static str,
}

/// On which side of a figure it is good to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }

    fn words(self) -> (&'static str, f64) {
        match self {
            Self::AtMost(limit) => ("at most", limit),
            Self::AtLeast(limit) => ("at least", limit),
        }
    }
}

impl Goals {
    pub(super) fn add(
        &mut self,
        what: impl Into<String>,
        figure: f64,
        limit: Limit,
        unit: &'static str,
    ) {
        self.0.push(Goal { what: what.into(), figure, limit, unit });
    }

    /// A goal of which nothing can be told here.
    pub(super) fn miss(&mut self, what: impl Into<String>, limit: Limit, unit: &'static str) {
        self.add(what, f64::NAN, limit, unit);
    }

    pub(super) fn print(&self) {
        say::heading("goals");
        let width = self.0.iter().map(|goal| goal.what.chars().count()).max().unwrap_or_default();
        for Goal { what, figure, limit, unit } in &self.0 {
            let (word, bound) = limit.words();
            let (style, verdict) = match limit.is_met(*figure) {
                true => (GREEN, "met"),
                false if figure.is_nan() => (RED, "NOT MEASURED"),
                false => (RED, "MISSED"),
            };
            let pad = width - what.chars().count();
            anstream::println!(
                "{what}{:pad$}  {:>9} {unit:<9} {word:<8} {:<8} {style}{verdict}{style:#}",
                "",
                number(*figure),
                number(bound),
            );
        }
    }
}

/// As many digits as say something.
pub(super) fn number(figure: f64) -> String {
    match figure.abs() {
        size if size >= 1000.0 => format!("{figure:.0}"),
        size if size >= 20.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_at_themselves() {
        for (limit, figure, met) in [
            (Limit::AtMost(1.5), 1.5, true),
            (Limit::AtMost(1.5), 1.51, false),
            (Limit::AtLeast(0.75), 0.75, true),
            (Limit::AtLeast(0.75), 0.74, false),
            (Limit::AtLeast(0.75), f64::NAN, false),
            (Limit::AtMost(0.75), f64::NAN, false),
        ] {
            assert_eq!(limit.is_met(figure), met, "{limit:?} {figure}");
        }
    }
}
