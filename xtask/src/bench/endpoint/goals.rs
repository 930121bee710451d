//! What was aimed at, and whether it was reached: one line each, printed at the end. Only what is on the good side of its
//! limit is met; what noise hides of a figure is told beside it, and never makes a goal easier.

use anstyle::{AnsiColor, Style};

use super::load::median;
use crate::say;

const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();

/// However noisy a machine is, a figure that far on the wrong side of its limit is there.
const MOST: f64 = 0.05;

/// The goals so far.
#[derive(Default)]
pub(super) struct Goals(Vec<Goal>);

struct Goal {
    what: String,
    figure: Figure,
    /// None where nothing was aimed at.
    limit: Option<Limit>,
    unit: &'static str,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    /// Not a number if it was not measured.
    pub(super) size: f64,
    /// How far it may be from what very many rounds would tell, where that is known.
    pub(super) doubt: f64,
}

/// On which side of a figure it is good to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// What can be said of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Met,
    /// On the wrong side, but not by more than noise may have put it there.
    NotToldApart,
    Missed,
    NotMeasured,
}

impl From<f64> for Figure {
    fn from(size: f64) -> Self {
        Self { size, doubt: 0.0 }
    }
}

impl Figure {
    /// The middle of some rounds, and what noise hides of it.
    pub(super) fn of(rounds: &[f64]) -> Self {
        Self { size: median(rounds.to_vec()), doubt: doubt(rounds) }
    }
}

/// How far the middle of some rounds may be from what very many would tell: two standard errors of a median, by how far
/// the rounds are from their middle.
fn doubt(rounds: &[f64]) -> f64 {
    let middle = median(rounds.to_vec());
    let apart = median(rounds.iter().map(|one| (one - middle).abs()).collect());
    // The factors of a normal distribution: from that distance to a deviation, and from a mean to a median.
    let error = 1.4826 * 1.2533 * apart / (rounds.len() as f64).sqrt();
    (2.0 * error).min(MOST)
}

impl Limit {
    fn verdict(self, Figure { size, doubt }: Figure) -> Verdict {
        let beyond = match self {
            Self::AtMost(limit) => size - limit,
            Self::AtLeast(limit) => limit - size,
        };
        match beyond {
            _ if beyond.is_nan() => Verdict::NotMeasured,
            ..=0.0 => Verdict::Met,
            _ if beyond <= doubt => Verdict::NotToldApart,
            _ => Verdict::Missed,
        }
    }

    fn words(self) -> (&'static str, f64) {
        match self {
            Self::AtMost(limit) => ("at most", limit),
            Self::AtLeast(limit) => ("at least", limit),
        }
    }
}

impl Verdict {
    fn words(self) -> (Style, &'static str) {
        match self {
            Self::Met => (GREEN, "met"),
            Self::NotToldApart => (YELLOW, "NOT TOLD APART"),
            Self::Missed => (RED, "MISSED"),
            Self::NotMeasured => (RED, "NOT MEASURED"),
        }
    }
}

impl Goals {
    pub(super) fn add(
        &mut self,
        what: impl Into<String>,
        figure: impl Into<Figure>,
        limit: Limit,
        unit: &'static str,
    ) {
        self.0.push(Goal { what: what.into(), figure: figure.into(), limit: Some(limit), unit });
    }

    /// A goal of which nothing can be told here.
    pub(super) fn miss(&mut self, what: impl Into<String>, limit: Limit, unit: &'static str) {
        self.add(what, f64::NAN, limit, unit);
    }

    /// What stands beside a goal so that it is not mistaken: nothing was aimed at.
    pub(super) fn tell(&mut self, what: impl Into<String>, figure: f64, unit: &'static str) {
        self.0.push(Goal { what: what.into(), figure: figure.into(), limit: None, unit });
    }

    pub(super) fn print(&self) {
        say::heading("goals");
        let width = self.0.iter().map(|goal| goal.what.chars().count()).max().unwrap_or_default();
        for Goal { what, figure, limit, unit } in &self.0 {
            let doubt = match figure.doubt {
                0.0 => String::new(),
                doubt => format!("± {doubt:.3}"),
            };
            let pad = width - what.chars().count();
            let told = format!("{what}{:pad$}  {:>9} {doubt:<7} {unit:<9}", "", exact(figure.size));
            let Some(limit) = limit else {
                anstream::println!("{told} no goal, for comparison");
                continue;
            };
            let (word, bound) = limit.words();
            let (style, verdict) = limit.verdict(*figure).words();
            let bound = exact(bound);
            anstream::println!("{told} {word:<8} {bound:<8} {style}{verdict}{style:#}");
        }
    }
}

/// One digit more than where figures are only looked at: 1.004 is not 1.
fn exact(figure: f64) -> String {
    match figure.abs() {
        20.0.. => number(figure),
        _ => format!("{figure:.3}"),
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
    fn only_the_good_side_is_met() {
        let (most, least) = (Limit::AtMost(1.5), Limit::AtLeast(0.75));
        for (limit, size, doubt, verdict) in [
            (most, 1.5, 0.0, Verdict::Met),
            (most, 1.51, 0.0, Verdict::Missed),
            (most, 1.51, 0.02, Verdict::NotToldApart),
            (most, 1.53, 0.02, Verdict::Missed),
            (most, 1.49, 0.02, Verdict::Met),
            (least, 0.75, 0.0, Verdict::Met),
            (least, 0.74, 0.0, Verdict::Missed),
            (least, 0.74, 0.02, Verdict::NotToldApart),
            (least, 0.72, 0.02, Verdict::Missed),
            (least, 0.76, 0.02, Verdict::Met),
            (least, f64::NAN, 0.02, Verdict::NotMeasured),
            (most, f64::NAN, 0.0, Verdict::NotMeasured),
        ] {
            let figure = Figure { size, doubt };
            assert_eq!(limit.verdict(figure), verdict, "{limit:?} {figure:?}");
        }
    }

    #[test]
    fn more_rounds_leave_less_doubt_and_none_leaves_too_much() {
        let few = doubt(&[0.98, 1.0, 1.02]);
        let many = doubt(&[0.98, 1.0, 1.02].repeat(100));
        assert!(many < few / 5.0 && many > 0.0, "{few} {many}");
        assert!((doubt(&[0.1, 1.0, 5.0]) - MOST).abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_beyond_a_limit_does_not_look_like_it() {
        assert_eq!([exact(1.004), exact(1.0)], ["1.004", "1.000"]);
        assert_eq!([exact(22.04), exact(1234.5)], ["22.0", "1234"]);
    }
}
