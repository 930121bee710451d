//! The rule that a Rust file is short, with a list of exceptions that may only shrink.
//! Never reads what the lines say.

use std::collections::BTreeMap;

use super::Violation;
use super::tree::{Tree, extension};

/// The most lines a Rust file may have.
const LIMIT: usize = 400;
/// Rows of a path and its ceiling; `#` begins a comment.
const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";

/// All files that are too long, and all exceptions that are no longer what they should be.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let (exceptions, mut violations) = exceptions(tree.text(EXCEPTIONS).unwrap_or_default());
    for (path, text) in tree.texts().filter(|(path, _)| extension(path) == Some("rs")) {
        let lines = text.lines().count();
        if lines > LIMIT && !exceptions.contains_key(path) {
            violations.push(Violation {
                file: path.to_owned(),
                line: LIMIT + 1,
                rule: "length",
                what: format!("{lines} lines, {LIMIT} are allowed"),
                remedy: format!("split it by what it owns; a table of data may get the row `{path} {lines}` in {EXCEPTIONS}"),
            });
        }
    }
    for (path, exception) in &exceptions {
        let lines = tree.text(path).map(|text| text.lines().count());
        violations.extend(judge(path, exception, lines));
    }
    violations
}

struct Exception {
    line: usize,
    ceiling: usize,
}

fn judge(path: &str, exception: &Exception, lines: Option<usize>) -> Option<Violation> {
    let ceiling = exception.ceiling;
    let (what, remedy) = match lines {
        None => (format!("`{path}` does not exist"), "delete the row".to_owned()),
        Some(lines) if lines <= LIMIT => {
            (format!("`{path}` is short now ({lines} lines)"), "delete the row".to_owned())
        }
        Some(lines) if lines < ceiling => (
            format!("`{path}` has only {lines} lines"),
            format!("lower its ceiling from {ceiling} to {lines}"),
        ),
        Some(lines) if lines > ceiling => (
            format!("`{path}` has {lines} lines, its ceiling is {ceiling}"),
            "make it shorter; ceilings may only sink".to_owned(),
        ),
        Some(_) => return None,
    };
    Some(at(exception.line, what, remedy))
}

fn exceptions(text: &str) -> (BTreeMap<&str, Exception>, Vec<Violation>) {
    let (mut exceptions, mut violations) = (BTreeMap::new(), Vec::new());
    for (index, row) in text.lines().enumerate() {
        let line = index + 1;
        let row = row.split('#').next().unwrap_or_default().trim();
        if row.is_empty() {
            continue;
        }
        let parsed =
            row.rsplit_once(' ').and_then(|(path, lines)| Some((path.trim(), lines.parse().ok()?)));
        let Some((path, ceiling)) = parsed else {
            violations.push(at(
                line,
                format!("`{row}` is not a path and a number"),
                "write `PATH LINES`".to_owned(),
            ));
            continue;
        };
        if exceptions.insert(path, Exception { line, ceiling }).is_some() {
            violations.push(at(
                line,
                format!("`{path}` is listed twice"),
                "delete one of the rows".to_owned(),
            ));
        }
    }
    (exceptions, violations)
}

fn at(line: usize, what: String, remedy: String) -> Violation {
    Violation { file: EXCEPTIONS.to_owned(), line, rule: "length-exception", what, remedy }
}
