//! Public collections of hostile texts, where they are at hand. Never fewer than they have.

use std::fs;

use super::Input;
use crate::data::shared;

/// Files of the suite of JSON that parsers get wrong.
const VALUES: usize = 318;
/// Texts of the list of strings that programs get wrong.
const STRINGS: usize = 515;

/// JSON that parsers get wrong, and some that they get right; `None`, with a note, where the suite is not at hand.
pub fn public_values() -> Option<Vec<Input>> {
    let entries = fs::read_dir(shared("hostile/json")?).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let values: Vec<Input> = files
        .map(|path| {
            let bytes = fs::read(&path).expect("a file of the suite");
            Input::new(path.display().to_string(), bytes)
        })
        .collect();
    assert!(values.len() >= VALUES, "only {} of {VALUES} files of the suite", values.len());
    Some(values)
}

/// Strings that programs get wrong; `None`, with a note, where the list is not at hand.
pub fn public_strings() -> Option<Vec<String>> {
    let bytes = fs::read(shared("hostile/naughty-strings.json")?).expect("the list");
    let strings: Vec<String> = serde_json::from_slice(&bytes).expect("a list of strings");
    assert!(strings.len() >= STRINGS, "only {} of {STRINGS} strings", strings.len());
    Some(strings)
}
