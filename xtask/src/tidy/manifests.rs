//! Rules on the manifests of the workspace's members: lints and versions come from the workspace,
//! dependencies follow the star. Never decides who may know whom; `star` does.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Violation;
use super::star::{self, Purpose};
use super::tree::Tree;

/// All violations in the manifests of the members.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let renamed = renamed(tree.text("Cargo.toml").unwrap_or_default());
    let members = tree.texts().filter(|(path, _)| is_member(path));
    members.flat_map(|(path, text)| Manifest { path, text }.check(&renamed)).collect()
}

fn is_member(path: &str) -> bool {
    matches!(
        path.split('/').collect::<Vec<_>>()[..],
        ["crates", _, "Cargo.toml"] | ["xtask", "Cargo.toml"]
    )
}

/// Workspace dependencies under another name than their crate's: the name used, then the crate.
fn renamed(root: &str) -> BTreeMap<String, String> {
    let Ok(manifest) = DeTable::parse(root) else { return BTreeMap::new() };
    let dependencies = table(manifest.get_ref(), "workspace")
        .and_then(|workspace| table(workspace, "dependencies"));
    let rows = dependencies.into_iter().flatten();
    rows.filter_map(|(name, value)| {
        let package = value.get_ref().get("package")?.get_ref().as_str()?;
        Some((name.get_ref().to_string(), package.to_owned()))
    })
    .collect()
}

struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
}

impl Manifest<'_> {
    fn check(&self, renamed: &BTreeMap<String, String>) -> Vec<Violation> {
        let parsed = match DeTable::parse(self.text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                return vec![self.violation(
                    start,
                    "manifest",
                    error.message().to_owned(),
                    "repair the TOML",
                )];
            }
        };
        let root = parsed.get_ref();
        let package = table(root, "package");
        let name =
            package.and_then(|package| package.get("name")?.get_ref().as_str()).unwrap_or_default();

        let mut violations = Vec::new();
        if !table(root, "lints").is_some_and(inherits) {
            let what = "the lints of the workspace do not apply".to_owned();
            violations.push(self.violation(
                0,
                "lints",
                what,
                "add `[lints]` with `workspace = true`",
            ));
        }
        if !star::knows(name) {
            let what = format!("`{name}` has no place in the star of crates");
            violations.push(self.violation(
                0,
                "star",
                what,
                "give it a row in xtask/src/tidy/star.rs",
            ));
        }
        for dependency in dependencies(root) {
            violations.extend(self.version(&dependency));
            let package = renamed.get(dependency.name).map_or(dependency.name, String::as_str);
            if let Some(reason) = star::objection(name, package, dependency.purpose) {
                let what = format!("`{name}` depends on `{package}`, but {reason}");
                violations.push(self.violation(
                    dependency.start,
                    "star",
                    what,
                    "see the map in ARCHITECTURE.md",
                ));
            }
        }
        violations
    }

    fn version(&self, dependency: &Dependency<'_>) -> Option<Violation> {
        let Dependency { name, start, inherited, .. } = *dependency;
        let what = format!("`{name}` does not take its version from the workspace");
        let remedy = "name it in `[workspace.dependencies]` of the root, and here write `NAME.workspace = true`";
        (!inherited).then(|| self.violation(start, "workspace-dependency", what, remedy))
    }

    fn violation(&self, start: usize, rule: &'static str, what: String, remedy: &str) -> Violation {
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Violation { file: self.path.to_owned(), line, rule, what, remedy: remedy.to_owned() }
    }
}

struct Dependency<'a> {
    name: &'a str,
    start: usize,
    purpose: Purpose,
    inherited: bool,
}

fn dependencies<'a>(root: &'a DeTable<'_>) -> Vec<Dependency<'a>> {
    let targets = table(root, "target").into_iter().flatten();
    let platforms = targets.filter_map(|(_, platform)| platform.get_ref().as_table());
    std::iter::once(root).chain(platforms).flat_map(sections).collect()
}

fn sections<'a>(scope: &'a DeTable<'_>) -> impl Iterator<Item = Dependency<'a>> {
    let kinds = [
        ("dependencies", Purpose::Code),
        ("build-dependencies", Purpose::Code),
        ("dev-dependencies", Purpose::Tests),
    ];
    kinds.into_iter().flat_map(move |(section, purpose)| {
        let rows = table(scope, section).into_iter().flatten();
        rows.map(move |(name, value)| Dependency {
            name: name.get_ref(),
            start: name.span().start,
            purpose,
            inherited: value.get_ref().as_table().is_some_and(inherits),
        })
    })
}

fn table<'a, 'i>(parent: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
    parent.get(key).map(Spanned::get_ref).and_then(DeValue::as_table)
}

fn inherits(table: &DeTable<'_>) -> bool {
    table.get("workspace").is_some_and(|value| value.get_ref().as_bool() == Some(true))
}
