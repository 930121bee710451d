//! `cargo xtask tidy`: runs every rule of the house over the files of the repository and reports all violations.
//! Never repairs anything; the rules are pure functions of the tree, one file each in `tidy/`.

mod decisions;
mod length;
mod links;
mod manifests;
mod sources;
mod star;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;

use anyhow::{Result, bail};

use crate::{environment, say};
use tree::Tree;

/// Checks the repository; the error counts what was printed before.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::load(environment::root())?;
    let violations = check(&tree);
    for violation in &violations {
        say::note(violation);
    }
    match violations.len() {
        0 => {
            say::note(format_args!("{} files obey the rules of the house", tree.len()));
            Ok(())
        }
        1 => bail!("1 violation of the rules of the house"),
        many => bail!("{many} violations of the rules of the house"),
    }
}

/// One breach of one rule, with what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    file: String,
    line: usize,
    rule: &'static str,
    what: String,
    remedy: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, rule, what, remedy } = self;
        write!(f, "{file}:{line}: {what} [{rule}]\n    {remedy}")
    }
}

fn check(tree: &Tree) -> Vec<Violation> {
    let rules = [sources::check, length::check, manifests::check, decisions::check, links::check];
    let mut violations: Vec<_> = rules.iter().flat_map(|rule| rule(tree)).collect();
    violations.sort();
    violations
}
