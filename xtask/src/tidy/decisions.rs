//! The rule that decision records are named `NNNN-title.md` and numbered from 0001 without gaps.
//! Never reads what was decided.

use super::Violation;
use super::tree::Tree;

const HOME: &str = "docs/decisions/";

/// All records with a wrong name or number.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut expected = 1;
    let records = tree.paths().filter_map(|path| Some((path, path.strip_prefix(HOME)?)));
    for (path, name) in records.filter(|(_, name)| *name != "README.md") {
        let Some(number) = number(name) else {
            let what = format!("`{name}` is not the name of a decision record");
            violations.push(violation(
                path,
                what,
                "call it `NNNN-title.md`: four digits, lower case, hyphens".to_owned(),
            ));
            continue;
        };
        if number != expected {
            let what = format!("decision {number:04} stands where {expected:04} should");
            violations.push(violation(
                path,
                what,
                "number the records without gaps or repetitions".to_owned(),
            ));
        }
        expected = number + 1;
    }
    violations
}

fn number(name: &str) -> Option<u32> {
    let (digits, title) = name.strip_suffix(".md")?.split_once('-')?;
    let numbered = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let words = title.split('-');
    let titled = words.clone().all(|word| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    (numbered && titled).then(|| digits.parse().ok()).flatten()
}

fn violation(path: &str, what: String, remedy: String) -> Violation {
    Violation { file: path.to_owned(), line: 1, rule: "decisions", what, remedy }
}
