//! Finds the variables that servers need and the environment does not have.

use std::collections::{BTreeMap, HashSet};

use switchboard_model::template::Env;
use switchboard_model::{
    Code, Desired, IfMissing, Place, Problem, ServerKey, ServerName, ServerSpec, Severity, Template,
};

use crate::decode::MAX_PROBLEMS;
use crate::dialect::Dialect;
use crate::merge::Origin;

/// A warning for each variable of each enabled server that is not set.
pub fn variables(
    desired: &Desired,
    origins: &BTreeMap<ServerKey, Origin>,
    env: Env<'_>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, spec) in desired.servers.iter().filter(|(_, spec)| spec.enabled) {
        let origin = origins.get(key);
        let dialect = origin.map(|origin| origin.dialect);
        for (name, if_missing) in missing(spec, dialect, env) {
            let then = match if_missing {
                IfMissing::NeedsSetup => "it waits until it is",
                IfMissing::Skip => "it is left out",
                IfMissing::Use(_) => "it gets an empty text",
            };
            if problems.len() >= MAX_PROBLEMS {
                return problems;
            }
            let place = origin.map(|origin| pointed_at(&origin.place, &name));
            problems.push(problem(&key.name, &name, then, place));
        }
    }
    problems
}

fn problem(server: &ServerName, name: &str, then: &str, place: Option<Place>) -> Problem {
    Problem {
        code: Code::MissingVariable,
        severity: Severity::Warning,
        message: format!("server `{server}` needs the variable `{name}`, which is not set: {then}"),
        place,
        related: None,
        remedy: format!("Set it where Switchboard is started: `export {name}=…`."),
        server: Some(server.clone()),
    }
}

/// Each variable once. A default is no loss, but the empty one that Annabelle's rule puts in is.
fn missing(spec: &ServerSpec, dialect: Option<Dialect>, env: Env<'_>) -> Vec<(String, IfMissing)> {
    let mut found: Vec<(String, IfMissing)> = Vec::new();
    let mut asked: HashSet<&str> = HashSet::new();
    for (name, if_missing) in spec.templates().into_iter().flat_map(Template::variables) {
        let counts = match if_missing {
            IfMissing::NeedsSetup | IfMissing::Skip => true,
            IfMissing::Use(text) => text.is_empty() && dialect == Some(Dialect::Annabelle),
        };
        let set = || env(name).is_some_and(|value| !value.is_empty());
        if counts && !set() && asked.insert(name) {
            found.push((name.to_owned(), if_missing.clone()));
        }
    }
    found
}

/// Where the variable stands: the first mention of it after the server's name, as a variable if
/// there is one and as a plain word (Codex's and goose's way) if not.
fn pointed_at(entry: &Place, name: &str) -> Place {
    let text = entry.source.text();
    let start = entry.span.start;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mentions: Vec<usize> = text[start..]
        .match_indices(name)
        .map(|(i, _)| start + i)
        .filter(|at| !text.as_bytes().get(at + name.len()).is_some_and(|b| is_name(*b)))
        .take(100)
        .collect();
    let before = |at: usize| at.checked_sub(1).map(|i| text.as_bytes()[i]);
    let stands = |marks: &[u8]| {
        mentions.iter().copied().find(|at| before(*at).is_some_and(|b| marks.contains(&b)))
    };
    match stands(b"{$:").or_else(|| stands(b"\"'. ")) {
        Some(at) => Place { source: entry.source.clone(), span: at..at + name.len() },
        None => entry.clone(),
    }
}
