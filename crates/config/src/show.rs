//! A problem as a person sees it at a terminal. Other surfaces render the same data their own way.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use switchboard_model::{Place, Problem, Severity};

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// None.
    Plain,
    /// For a terminal.
    Coloured,
}

/// A problem as a compiler would show it: what, where, the line itself underlined, what to do.
pub fn render(problem: &Problem, paint: Paint) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let paths: Vec<(String, &Place, Option<&str>)> = problem
        .place
        .iter()
        .map(|place| (place, None))
        .chain(problem.related.iter().map(|(place, label)| (place, Some(label.as_str()))))
        .map(|(place, label)| (place.source.path().display().to_string(), place, label))
        .collect();
    let title = level.primary_title(problem.message.as_str()).id(problem.code.as_str());
    let snippets = paths.iter().map(|(path, place, label)| {
        let (line, span) = place.excerpt();
        let annotation = match label {
            None => AnnotationKind::Primary.span(span),
            Some(label) => AnnotationKind::Context.span(span).label(*label),
        };
        let (number, _) = place.line_column();
        Snippet::source(line).path(path.as_str()).line_start(number).annotation(annotation)
    });
    let group = title.elements(snippets).element(Level::HELP.message(problem.remedy.as_str()));
    let renderer = match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Coloured => Renderer::styled(),
    };
    renderer.render(&[group])
}
