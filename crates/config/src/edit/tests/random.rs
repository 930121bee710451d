//! Files of our own in every format and style, with a remark on every line, under random changes:
//! what is declared is right after each, and only lines of what was changed are touched.

mod writing;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::Config;

use self::writing::tag;
use super::*;

const NAMES: [&str; 6] = ["a", "b c", "github", "x.y", "7", "ü-null"];
const AGENTS: [&str; 3] = ["cto", "dev", "qa"];
/// Texts that a careless writer gets wrong.
const TEXTS: [&str; 12] = [
    "plain",
    "yes",
    "1.5",
    "",
    "null",
    "it's: # \"so\"",
    "back\\slash\ttab",
    "- item",
    "{a: 1}",
    "ü→\u{1F600}",
    "two\nlines ",
    "'''\"\"\"",
];

/// How one entry is written.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// On lines of its own.
    Tall,
    /// The same, lists and tables as well.
    Taller,
    /// On one line.
    Flat,
}

#[derive(Clone, Debug)]
struct Made {
    file: &'static str,
    unit: &'static str,
    newline: &'static str,
    servers: Vec<(ServerSpec, Style)>,
    agents: Vec<(&'static str, Vec<String>, Style)>,
}

fn server() -> impl Strategy<Value = ServerSpec> {
    let text = || prop::sample::select(&TEXTS[..]);
    let shape = (any::<bool>(), prop::option::of(text()), prop::option::of(text()));
    (prop::sample::select(&NAMES[..]), shape, any::<bool>(), 1..90_u64).prop_map(
        |(name, (local, description, value), enabled, seconds)| {
            let mut spec = match local {
                true => stdio(name, "npx -y ${PKG:-@x/y}"),
                false => http(name, "https://x.example/${PATH}"),
            };
            let one_line = |value: &&str| local || !value.contains('\n');
            if let Some(value) = value.filter(one_line) {
                spec = with(spec, if local { "KEY" } else { "x-key" }, value);
            }
            spec.description = description.map(str::to_owned);
            spec.enabled = enabled;
            spec.timing.connect = std::time::Duration::from_secs(seconds);
            spec
        },
    )
}

fn made() -> impl Strategy<Value = Made> {
    let style = || prop::sample::select(&[Style::Tall, Style::Taller, Style::Flat][..]);
    let names = prop::collection::btree_set(prop::sample::select(&NAMES[..]), 0..4)
        .prop_map(|names| names.into_iter().map(str::to_owned).collect());
    (
        prop::sample::select(&["f.toml", "f.yaml", "f.json"][..]),
        prop::sample::select(&["  ", "    ", "\t"][..]),
        prop::sample::select(&["\n", "\r\n"][..]),
        prop::collection::vec((server(), style()), 0..5),
        prop::collection::vec((prop::sample::select(&AGENTS[..]), names, style()), 0..3),
    )
        .prop_map(|(file, unit, newline, mut servers, mut agents)| {
            let mut seen = BTreeSet::new();
            servers.retain(|(spec, _)| seen.insert(spec.name.clone()));
            let mut seen = BTreeSet::new();
            agents.retain(|(id, ..)| seen.insert(*id));
            let unit = if file == "f.yaml" && unit == "\t" { "  " } else { unit };
            Made { file, unit, newline, servers, agents }
        })
}

#[derive(Clone, Debug)]
enum Act {
    Put(Box<ServerSpec>, Vec<&'static str>, bool),
    Remove(&'static str),
    Enable(&'static str, bool),
}

fn act() -> impl Strategy<Value = Act> {
    let name = || prop::sample::select(&NAMES[..]);
    let agents = prop::collection::vec(prop::sample::select(&AGENTS[..]), 0..2);
    prop_oneof![
        3 => (server(), agents, any::<bool>()).prop_map(|(s, a, d)| Act::Put(Box::new(s), a, d)),
        2 => name().prop_map(Act::Remove),
        1 => (name(), any::<bool>()).prop_map(|(name, on)| Act::Enable(name, on)),
    ]
}

fn facts(path: &Path, text: &str) -> guard::Facts {
    let file = File { path, format: Format::of(path), dialect: Dialect::Native };
    let state = guard::State::read(&file, text).unwrap();
    let errors: Vec<_> = state.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    state.facts
}

fn run(made: &Made, acts: &[Act]) {
    let path = Path::new(made.file);
    let mut text = made.text();
    for act in acts {
        let before = facts(path, &text);
        let there = |name: &ServerName| before.servers.keys().any(|key| key.name == *name);
        let change = match act.clone() {
            Act::Put(spec, ..) if there(&spec.name) => replace(*spec),
            Act::Put(spec, agents, to_defaults) => Change::Add {
                spec: *spec,
                agents: agents.iter().map(|id| agent(id)).collect(),
                to_defaults,
            },
            Act::Remove(server) => remove(server),
            Act::Enable(server, enabled) => enable(server, enabled),
        };
        match apply(path, &text, Dialect::Native, &change) {
            Err(EditError::Missing { name, .. }) => assert!(!there(&name)),
            Err(error) => panic!("{error}\n{change:?}\n{text}"),
            Ok(after) => {
                untouched(&text, &after, change.name());
                declares(&before, &facts(path, &after), &change);
                text = after;
            }
        }
    }
}

/// What is declared is what was, and the change.
fn declares(before: &guard::Facts, after: &guard::Facts, change: &Change) {
    let name = change.name();
    let others = |facts: &guard::Facts| -> Vec<_> {
        facts.servers.clone().into_iter().filter(|(key, _)| key.name != *name).collect()
    };
    assert_eq!(others(before), others(after));
    let found = after.servers.values().find(|spec| spec.name == *name);
    let assigned = |id: &str| after.agents[id].servers.clone().unwrap_or_default().contains(name);
    match change {
        Change::Add { spec, agents, .. } => {
            assert_eq!(found, Some(spec));
            assert!(agents.iter().all(|id| assigned(id.as_str())));
        }
        Change::AddOwn { spec, .. } | Change::Replace { spec } => assert_eq!(found, Some(spec)),
        Change::Remove { .. } => {
            assert_eq!(found, None);
            assert!(!after.agents.keys().any(|id| assigned(id.as_str())));
        }
        Change::Enable { enabled, .. } => assert_eq!(found.map(|s| s.enabled), Some(*enabled)),
    }
}

/// No line went that carries another's remark, or the file's. Commas come and go in JSON, and YAML
/// says of a table that it is empty now.
fn untouched(before: &str, after: &str, name: &ServerName) {
    let plain = |line: &str| {
        line[1..].replace("}, // ", "} // ").replace("], // ", "] // ").replace(": {} #", ": #")
    };
    let lines = diff(before, after);
    let came: Vec<String> = lines.iter().filter(|l| l.starts_with('+')).map(|l| plain(l)).collect();
    for line in lines.iter().filter(|line| line.starts_with('-')) {
        let remark = line.contains("of <") || line.contains("file");
        let fine = line.contains(&tag(name)) || came.contains(&plain(line));
        assert!(!remark || fine, "{name}: {line}\n{before}\n=====\n{after}");
    }
}

proptest! {
    #![proptest_config(Config {
        cases: switchboard_testkit::repetitions(4_000),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn prove_that_only_what_changes_is_touched(made in made(), acts in prop::collection::vec(act(), 1..8)) {
        run(&made, &acts);
    }
}
