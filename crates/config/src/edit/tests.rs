//! Edits as data: a text, a change, and the lines that differ afterwards.

mod clients;
mod dialects;
mod files;
mod hostile;
mod native;
mod nested;
mod random;
mod refused;

use std::collections::BTreeMap;

use switchboard_model::{HttpKind, HttpSpec, SecretTemplate, StdioSpec, Template, Transport};

use super::*;

/// Applies a change and compares which lines went (`-`) and came (`+`). A carriage return is shown
/// as `\r`, a missing last line end as `¬`.
fn check(path: &str, before: &str, change: Change, expected: &str) -> Edited {
    let dialect = whose(Path::new(path), before).unwrap();
    let edited = applied(Path::new(path), before, dialect, &change)
        .unwrap_or_else(|error| panic!("{error}\n{before}"));
    let found = diff(before, &edited.after);
    let expected: Vec<&str> = expected.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(found.join("\n"), expected.join("\n"), "{path}\n{}", edited.after);
    edited
}

/// The lines that differ, in order.
fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    // How long the common rest is, from each pair of lines on.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = match old[i] == new[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let shown = |sign: char, line: &str| {
        let end = if line.ends_with('\n') { "" } else { "¬" };
        format!("{sign}{}{end}", line.trim_end_matches('\n').replace('\r', "\\r"))
    };
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || common[i + 1][j] >= common[i][j + 1]) {
            found.push(shown('-', old[i]));
            i += 1;
        } else {
            found.push(shown('+', new[j]));
            j += 1;
        }
    }
    found
}

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn agent(text: &str) -> AgentId {
    AgentId::parse(text).unwrap()
}

/// A command, from its words.
fn stdio(server: &str, words: &str) -> ServerSpec {
    let mut words = words.split(' ').map(|word| Template::parse(word).unwrap());
    let command = words.next().unwrap();
    let stdio = StdioSpec { command, args: words.collect(), env: BTreeMap::new(), cwd: None };
    ServerSpec::new(name(server), Transport::Stdio(stdio))
}

fn http(server: &str, url: &str) -> ServerSpec {
    let (url, headers) = (Template::parse(url).unwrap(), BTreeMap::new());
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers };
    ServerSpec::new(name(server), Transport::Http(http))
}

/// The same server with a variable or a header more.
fn with(mut spec: ServerSpec, key: &str, value: &str) -> ServerSpec {
    let value = SecretTemplate::new(Template::parse(value).unwrap());
    match &mut spec.transport {
        Transport::Stdio(stdio) => stdio.env.insert(key.to_owned(), value),
        Transport::Http(http) => http.headers.insert(key.to_owned(), value),
    };
    spec
}

fn add(spec: ServerSpec) -> Change {
    Change::Add { spec, agents: Vec::new(), to_defaults: false }
}

fn add_for(spec: ServerSpec, agents: &[&str]) -> Change {
    let agents = agents.iter().map(|id| agent(id)).collect();
    Change::Add { spec, agents, to_defaults: false }
}

fn add_own(spec: ServerSpec, id: &str) -> Change {
    Change::AddOwn { spec, agent: agent(id) }
}

fn add_to_defaults(spec: ServerSpec) -> Change {
    Change::Add { spec, agents: Vec::new(), to_defaults: true }
}

fn replace(spec: ServerSpec) -> Change {
    Change::Replace { spec }
}

fn remove(server: &str) -> Change {
    Change::Remove { name: name(server) }
}

fn enable(server: &str, enabled: bool) -> Change {
    Change::Enable { name: name(server), enabled }
}
