//! Rules on single lines of source files: the opening comment, unfinished work, ignored tests, `mod.rs`.
//! Never looks at how long a file is; `length` does.

use super::Violation;
use super::tree::{Tree, extension, file_name};

// Split, so that this file does not break its own rule.
const WORDS: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const MACROS: [&str; 2] = [concat!("todo", "!("), concat!("unimplemented", "!(")];
const IGNORED: &str = concat!("#[", "ignore");

/// All violations in source files.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_source(path)) {
        if extension(path) == Some("rs") {
            violations.extend(opening(path, text));
            violations.extend(module_file(path));
        }
        for (index, line) in text.lines().enumerate() {
            violations.extend(marks(path, index + 1, line));
        }
    }
    violations
}

fn is_source(path: &str) -> bool {
    matches!(extension(path), Some("rs" | "ts" | "tsx" | "sh"))
        || file_name(path) == "Cargo.toml"
        || path.starts_with(".ci/")
}

fn opening(path: &str, text: &str) -> Option<Violation> {
    if text.starts_with("//!") || file_name(path) == "build.rs" {
        return None;
    }
    Some(Violation {
        file: path.to_owned(),
        line: 1,
        rule: "opening",
        what: "the file does not begin with `//!`".to_owned(),
        remedy: "say in the first lines what the file owns and what it never does".to_owned(),
    })
}

fn module_file(path: &str) -> Option<Violation> {
    if file_name(path) != "mod.rs" {
        return None;
    }
    Some(Violation {
        file: path.to_owned(),
        line: 1,
        rule: "mod-rs",
        what: "a `mod.rs` tells nothing in a list of open files".to_owned(),
        remedy: "move it to `foo.rs` beside `foo/`".to_owned(),
    })
}

fn marks(path: &str, line: usize, text: &str) -> Vec<Violation> {
    let unfinished = |mark: &str| Violation {
        file: path.to_owned(),
        line,
        rule: "unfinished",
        what: format!("`{mark}` marks unfinished work"),
        remedy: "finish it, or open an issue and delete the mark".to_owned(),
    };
    let ignored = || Violation {
        file: path.to_owned(),
        line,
        rule: "ignored",
        what: "an ignored test proves nothing".to_owned(),
        remedy: "make it pass, or delete it; long repetitions read SWITCHBOARD_PROVE instead"
            .to_owned(),
    };
    let words = WORDS.iter().filter(|word| has_word(text, word)).map(|word| unfinished(word));
    let macros = MACROS.iter().filter(|call| text.contains(**call)).map(|call| unfinished(call));
    let tests = text.contains(IGNORED).then(ignored);
    words.chain(macros).chain(tests).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(start, _)| {
        !text[..start].ends_with(joins) && !text[start + word.len()..].starts_with(joins)
    })
}
