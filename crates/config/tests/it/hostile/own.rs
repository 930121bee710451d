//! The hostile set of our own.

use switchboard_config::Dialect;
use switchboard_config::syntax::Format;
use switchboard_testkit::fuzz::{FORMATS, survey};
use switchboard_testkit::hostile;

use super::{each, everywhere};

#[test]
fn small_texts_in_every_dialect_and_format() {
    let inputs = hostile::small().into_iter().map(|input| (input.name, input.bytes));
    each(inputs.collect::<Vec<_>>(), |bytes| everywhere(&bytes));
}

#[test]
fn large_texts_in_every_format() {
    let inputs = hostile::large().into_iter().flat_map(|input| {
        FORMATS.into_iter().flat_map(move |format| {
            let input = input.clone();
            [None, Some(Dialect::Native)].map(move |dialect| {
                let name = format!("{} as {} {dialect:?}", input.name, format.as_str());
                (name, (dialect, format, input.bytes.clone()))
            })
        })
    });
    each(inputs, |(dialect, format, bytes)| {
        survey(dialect, format, &bytes);
    });
}

#[test]
fn very_many_entries() {
    let inputs = hostile::many().into_iter().flat_map(|input| {
        FORMATS.map(|format| {
            (format!("{} as {}", input.name, format.as_str()), (format, input.bytes.clone()))
        })
    });
    each(inputs, |(format, bytes)| {
        survey(None, format, &bytes);
    });
}

/// JSON is YAML too, so that every dialect but those in TOML sees these.
#[test]
fn texts_that_are_read_again_from_every_place() {
    let inputs = hostile::quadratic().into_iter().flat_map(|input| {
        Dialect::ALL
            .map(|dialect| (format!("{} {dialect:?}", input.name), (dialect, input.bytes.clone())))
    });
    each(inputs, |(dialect, bytes)| {
        survey(Some(dialect), Format::Json, &bytes);
    });
}
