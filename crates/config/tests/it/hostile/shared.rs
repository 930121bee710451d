//! Public collections of hostile texts, where they are at hand.

use serde_json::Value;
use switchboard_config::syntax::Format;
use switchboard_testkit::examples::EXAMPLES;
use switchboard_testkit::{hostile, mutate};

use super::{each, everywhere, read};
use crate::tree::tree;

#[test]
fn json_test_suite() {
    let Some(values) = hostile::public_values() else { return };
    let inputs = values.into_iter().map(|value| (value.name, value.bytes));
    each(inputs.collect::<Vec<_>>(), |bytes| everywhere(&bytes));
}

#[test]
fn naughty_strings_in_every_text() {
    let Some(strings) = hostile::public_strings() else { return };
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
