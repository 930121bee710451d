//! The problems of one file, as they are found.

use std::ops::Range;
use std::sync::Arc;

use switchboard_model::{Code, Place, Problem, ServerName, Severity, Source};

use crate::syntax::{Field, Node};

/// Collects the problems of one file.
pub(crate) struct Report {
    source: Arc<Source>,
    problems: Vec<Problem>,
    errors: usize,
    /// The server that is being read, to which problems belong.
    server: Option<ServerName>,
    left_out: usize,
}

/// More than anybody reads; beyond it they are only counted, so that a file with nothing but
/// problems costs no more than one with many.
pub(crate) const MAX_PROBLEMS: usize = 1000;

impl Report {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        Self { source, problems: Vec::new(), errors: 0, server: None, left_out: 0 }
    }

    /// From here on, problems belong to this server.
    pub(crate) fn about(&mut self, server: Option<&ServerName>) {
        self.server = server.cloned();
    }

    pub(crate) fn place(&self, span: &Range<usize>) -> Place {
        Place { source: self.source.clone(), span: self.source.clamp(span) }
    }

    pub(crate) fn error(
        &mut self,
        code: Code,
        span: &Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.push(code, Severity::Error, span, message.into(), remedy.into());
    }

    pub(crate) fn warning(
        &mut self,
        code: Code,
        span: &Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.push(code, Severity::Warning, span, message.into(), remedy.into());
    }

    pub(crate) fn wrong_type(&mut self, node: &Node, what: &str, wanted: &str) {
        let message = format!("{what} must be {wanted}, and here is {}", node.kind());
        self.error(Code::WrongType, &node.span, message, format!("Write {wanted} instead."));
    }

    pub(crate) fn duplicate(&mut self, second: &Field, first: &Field) {
        let message = format!("`{}` stands here for the second time", second.key);
        let remedy = "Remove or rename one of them; the first one counts.";
        self.error(Code::DuplicateName, &second.key_span, message, remedy);
        let place = self.place(&first.key_span);
        self.relate(place, "first written here");
    }

    /// A server whose name another one of the file has.
    pub(crate) fn second(&mut self, span: &Range<usize>, first: Place) {
        let message = "a server of this name stands in the file already";
        let remedy = "Remove or rename one of them; the first one counts.";
        self.error(Code::DuplicateName, span, message, remedy);
        self.relate(first, "first written here");
    }

    /// Adds another place to the problem told last.
    pub(crate) fn relate(&mut self, place: Place, label: &str) {
        if let Some(last) = self.problems.last_mut().filter(|_| self.left_out == 0) {
            last.related = Some((place, label.to_owned()));
        }
    }

    /// How many errors there are by now: whoever compares two counts knows whether a part was good.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether the server that is being read has errors already.
    pub(crate) fn has_errors(&self) -> bool {
        let mut here = self.problems.iter().rev().take_while(|p| p.server == self.server);
        self.server.is_some() && here.any(Problem::is_error)
    }

    /// The problems, in the order of the file.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.span.start));
        if self.left_out > 0 {
            let left_out = std::mem::take(&mut self.left_out);
            let last = self.problems.pop().map(|last| last.place.map_or(0..0, |place| place.span));
            let message = format!("there are {} more problems in this file", left_out + 1);
            let remedy = "Mend the ones that are shown, and check again.";
            self.error(Code::TooManyProblems, &last.unwrap_or(0..0), message, remedy);
        }
        self.problems
    }

    fn push(
        &mut self,
        code: Code,
        severity: Severity,
        span: &Range<usize>,
        message: String,
        remedy: String,
    ) {
        self.errors += usize::from(severity == Severity::Error);
        if self.problems.len() >= MAX_PROBLEMS {
            self.left_out += 1;
            return;
        }
        let place = Some(self.place(span));
        let server = self.server.clone();
        self.problems.push(Problem {
            code,
            severity,
            message,
            place,
            related: None,
            remedy,
            server,
        });
    }
}

/// The known word that was probably meant, if one is near enough.
pub(crate) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    // Comparing is quadratic in the length, and nobody misspells a novel.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 64)
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
