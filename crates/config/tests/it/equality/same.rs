//! One set of servers, written in every way that can say it, is one desired state.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use switchboard_config::Dialect;
use switchboard_config::parse::Context;
use switchboard_config::syntax::Format;
use switchboard_model::{DefaultServers, ServerSpec};
use switchboard_testkit::fuzz::without_skip;
use switchboard_testkit::repetitions;

use super::generate::servers;
use super::print::print;
use super::{Writer, native, writers};
use crate::support::{Read, read_as};

/// Our own file, in each format.
fn natively(servers: &[ServerSpec]) -> Vec<(String, Read)> {
    let tree = native::file_of(servers);
    let formats = [(Format::Toml, "toml"), (Format::Yaml, "yaml"), (Format::Json, "json")];
    formats
        .map(|(format, end)| {
            let text = print(&tree, format);
            let read = read_as(&[(&format!("switchboard.{end}"), &text)], &Context::default());
            (text, read)
        })
        .into()
}

fn same(writer: &Writer, servers: &[ServerSpec]) -> Result<(), TestCaseError> {
    let servers: Vec<ServerSpec> = servers.iter().cloned().map(writer.fit).collect();
    let text = print(&(writer.file_of)(&servers), writer.format);
    let context = Context { dialect: Some(writer.dialect), ..Context::default() };
    let theirs = read_as(&[(writer.file, &text)], &context);
    let found: Vec<ServerSpec> = theirs.servers().iter().map(without_skip).collect();
    prop_assert_eq!(&found, &servers, "{:?}\n{}\n{:?}", writer.dialect, text, theirs.problems);
    let errors: Vec<_> = theirs.problems.iter().filter(|problem| problem.is_error()).collect();
    prop_assert!(errors.is_empty(), "{:?}", errors);
    for (text, ours) in natively(&servers) {
        prop_assert_eq!(ours.servers(), servers.clone(), "{}\n{:?}", text, ours.problems);
        prop_assert!(ours.problems.is_empty(), "{}\n{:?}", text, ours.problems);
        prop_assert_eq!(&ours.desired().defaults, &DefaultServers::Everything);
        // AICIB's file starts nothing that nobody has, so what is off is nobody's there.
        if writer.dialect != Dialect::Aicib {
            prop_assert_eq!(&ours.desired().defaults, &theirs.desired().defaults);
            prop_assert_eq!(ours.desired(), theirs.desired(), "{:?}", writer.dialect);
        }
    }
    Ok(())
}

/// Everything our own file can say, in its three formats.
fn same_natively(servers: &[ServerSpec]) -> Result<(), TestCaseError> {
    for (text, ours) in natively(servers) {
        prop_assert_eq!(&ours.servers(), servers, "{}\n{:?}", text, ours.problems);
        prop_assert!(ours.problems.is_empty(), "{}\n{:?}", text, ours.problems);
    }
    Ok(())
}

fn prove(full: u32, test: impl Fn(&[ServerSpec]) -> Result<(), TestCaseError>) {
    let cases = repetitions(full);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    proptest!(config, |(servers in servers())| test(&servers)?);
}

#[test]
fn prove_the_native_formats_are_the_same() {
    prove(2_000, same_natively);
}

#[test]
fn prove_every_dialect_is_the_same() {
    let writers = writers();
    let written: Vec<Dialect> = writers.iter().map(|writer| writer.dialect).collect();
    let missing = Dialect::ALL.iter().filter(|d| **d != Dialect::Native && !written.contains(d));
    assert_eq!(missing.count(), 0, "each dialect has a writer");
    prove(1_000, |servers| writers.iter().try_for_each(|writer| same(writer, servers)));
}
