//! Valid files, cut, bent and filled with wrong values.

use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_testkit::examples::{EXAMPLES, Example};
use switchboard_testkit::{hostile, mutate};

use super::{each, read};
use crate::support::render_all;
use crate::tree::tree;

/// Every text that is made of an example is read in the example's own way.
fn all(make: impl Fn(&Example) -> Vec<(Format, Vec<u8>)> + Send + 'static) {
    let items = EXAMPLES.iter().flat_map(move |example| {
        let name = move |at| {
            format!("{} {}, number {at}", example.dialect.as_str(), example.format.as_str())
        };
        make(example)
            .into_iter()
            .enumerate()
            .map(move |(at, item)| (name(at), (example.dialect, item)))
    });
    each(items, |(dialect, (format, bytes)): (Dialect, (Format, Vec<u8>))| {
        read(dialect, format, &bytes);
    });
}

#[test]
fn the_examples_are_good() {
    for example in EXAMPLES {
        let parsed = read(example.dialect, example.format, example.text.as_bytes());
        let errors: Vec<_> = parsed.problems.into_iter().filter(|p| p.is_error()).collect();
        assert_eq!(errors, [], "{:?}\n{}", example.dialect, render_all(&errors));
        assert!(!parsed.declared.unwrap().servers.is_empty(), "{:?}", example.dialect);
    }
}

#[test]
fn cut_at_every_byte() {
    all(|example| mutate::truncated(example.text).map(|bytes| (example.format, bytes)).collect());
}

#[test]
fn every_byte_changed() {
    all(|example| mutate::flipped(example.text).map(|bytes| (example.format, bytes)).collect());
}

#[test]
fn a_wrong_value_at_every_place() {
    all(|example| {
        let trees = mutate::replaced(&tree(example.text, example.format));
        trees.iter().map(|tree| (Format::Json, tree.to_string().into_bytes())).collect()
    });
}

#[test]
fn a_strange_name_at_every_place() {
    all(|example| {
        let tree = tree(example.text, example.format);
        let trees = hostile::KEYS
            .iter()
            .flat_map(|key| [mutate::with_key(&tree, key), mutate::with_text(&tree, key)]);
        trees.map(|tree| (Format::Json, tree.to_string().into_bytes())).collect()
    });
}
