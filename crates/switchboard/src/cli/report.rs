//! Problems as people and scripts read them.

use serde::Serialize;
use switchboard_config::show::{self, Paint};
use switchboard_model::{Place, Problem};

use super::out::{Out, count};

/// Prints every problem, errors last, where they are still on the screen.
pub(super) fn print(problems: &[Problem], out: &Out) {
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| problem.severity);
    for problem in sorted {
        out.note(show::render(problem, Paint::Coloured));
        out.note("");
    }
}

/// `2 errors and 1 warning`.
pub(super) fn summary(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    counted(errors, problems.len() - errors)
}

/// The same of counts.
pub(super) fn counted(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no problems".to_owned(),
        (0, n) => count(n, "warning"),
        (n, 0) => count(n, "error"),
        (e, w) => format!("{} and {}", count(e, "error"), count(w, "warning")),
    }
}

/// A problem for scripts, the API and the page.
#[derive(Debug, Serialize)]
pub(super) struct ProblemJson<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    remedy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<PlaceJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    related: Option<PlaceJson>,
}

/// A place for scripts.
#[derive(Debug, Serialize)]
struct PlaceJson {
    file: String,
    line: usize,
    column: usize,
    /// The line, secrets masked.
    text: String,
    /// Which characters of the line are meant.
    underline: [usize; 2],
}

impl<'a> ProblemJson<'a> {
    pub(super) fn all(problems: &'a [Problem]) -> Vec<Self> {
        problems.iter().map(Self::new).collect()
    }

    fn new(problem: &'a Problem) -> Self {
        Self {
            code: problem.code.as_str(),
            severity: problem.severity.as_str(),
            message: &problem.message,
            remedy: &problem.remedy,
            server: problem.server.as_ref().map(|name| name.as_str()),
            place: problem.place.as_ref().map(PlaceJson::new),
            related: problem.related.as_ref().map(|(place, _)| PlaceJson::new(place)),
        }
    }
}

impl PlaceJson {
    fn new(place: &Place) -> Self {
        let (line, column) = place.line_column();
        let (text, span) = place.excerpt();
        let characters = |at: usize| text[..at].chars().count();
        Self {
            file: place.source.path().display().to_string(),
            line,
            column,
            text: text.to_owned(),
            underline: [characters(span.start), characters(span.end)],
        }
    }
}
