//! Public collections of hostile texts, where they are at hand.

use std::fs;

use serde_json::Value;
use switchboard_config::syntax::Format;
use switchboard_testkit::examples::EXAMPLES;
use switchboard_testkit::{mutate, shared};

use super::{each, everywhere, read};
use crate::tree::tree;

#[test]
fn json_test_suite() {
    let Some(folder) = shared("hostile/json") else { return };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inputs = files.map(|path| (path.display().to_string(), fs::read(path).unwrap()));
    each(inputs.collect::<Vec<_>>(), |bytes| everywhere(&bytes));
}

#[test]
fn naughty_strings_in_every_text() {
    let Some(file) = shared("hostile/naughty-strings.json") else { return };
    let strings: Vec<String> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let trees: Vec<_> = EXAMPLES.iter().map(|e| (e.dialect, tree(e.text, e.format))).collect();
    let inputs = strings.into_iter().map(move |text| {
        let bent = |(dialect, tree): &(_, Value)| {
            [mutate::with_text(tree, &text), mutate::with_key(tree, &text)].map(|t| (*dialect, t))
        };
        let bent: Vec<_> = trees.iter().flat_map(bent).collect();
        (format!("{text:?}"), bent)
    });
    each(inputs, |bent| {
        for (dialect, tree) in bent {
            read(dialect, Format::Json, tree.to_string().as_bytes());
        }
    });
}
