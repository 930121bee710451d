//! Broken and strange texts: an edit may refuse them, but it neither panics nor hangs.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

/// Pieces that mean something to one format or another.
const PIECES: [&str; 44] = [
    "servers",
    "agents",
    "defaults",
    "mcp",
    "mcpServers",
    "integrations",
    "a",
    "b",
    "command",
    ": ",
    ":",
    " = ",
    ".",
    ",",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    " # c",
    "//",
    "/* c */",
    "/*",
    "\n",
    "\r\n",
    "\n\n",
    "  ",
    "\t",
    "- ",
    "&x ",
    "*x",
    "<<: *x",
    "|\n  t",
    "? ",
    "!!str ",
    "\\",
    "ü",
    "\u{1F600}",
];

const TEXTS: [&str; 5] = [
    "servers:\n  # c\n  a: &x {command: x}  # c\n  b: *x\n  'c': !t\n    url: |\n      http://x\n\n\
     defaults: {servers: [a, 'b' , c]}\nagents:\n  cto:\n    servers:\n    - a # c\n    - \"b\"\n",
    "[servers]\na = { command = 'x', env = { A = \"1\" } } # c\nb.url = \"\"\"http://x\"\"\"\n\
     # c\n[servers.\"c\"]\ncommand = \"x\"\nargs = [\n 'y', # c\n]\n[agents.cto]\nservers = ['a']\n",
    "{ // c\n  \"servers\": {\n    \"a\": {\"command\": \"x\"}, /* c */ \"b\": {},\n\n    /* c\n */\n    \
     \"c\": { \"url\": \"http://x\" } // c\n  },\n  \"agents\": {\"cto\": {\"servers\": [\"a\"]}}\n}",
    "integrations:\n  servers:\n    a:\n      command: x\n      args: [y]\n  per_agent: {cto: [a]}\n\
     agents:\n  dev:\n    workers:\n    - w: {mcp_servers: [a]}\n",
    "[[defaults.mcp]]\nname = \"a\"\ncommand = \"x\"\n\n[[agents]]\nid = \"cto\"\n[[agents.mcp]]\n\
     name = \"a\"\nurl = \"http://x\"\n[agents.mcp.headers]\nA = '1'\n",
];

fn text() -> impl Strategy<Value = String> {
    let cut = (any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(&PIECES[..]));
    let edited = (prop::sample::select(&TEXTS[..]), prop::collection::vec(cut, 0..4)).prop_map(
        |(text, cuts)| {
            cuts.iter().fold(text.to_owned(), |text, (at, length, piece)| {
                let chars: Vec<char> = text.chars().collect();
                let at = at.index(chars.len() + 1);
                let rest = chars.iter().skip(at + length / 2);
                chars[..at].iter().copied().chain(piece.chars()).chain(rest.copied()).collect()
            })
        },
    );
    let mixed = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..30);
    prop_oneof![4 => edited, 1 => mixed.prop_map(|pieces| pieces.concat())]
}

fn change() -> impl Strategy<Value = Change> {
    let server = || prop::sample::select(&["a", "b", "c", "ü # \"x\""][..]);
    prop_oneof![
        server().prop_map(remove),
        (server(), any::<bool>()).prop_map(|(name, on)| enable(name, on)),
        server().prop_map(|name| replace(with(stdio(name, "npx -y p"), "K", "v"))),
        server().prop_map(|name| add_for(http(name, "https://x"), &["cto", "dev"])),
        server().prop_map(|name| add_own(stdio(name, "npx"), "cto")),
        server().prop_map(|name| add_to_defaults(with(stdio(name, "npx"), "K", "${V}"))),
    ]
}

fn check_calm(text: &str, change: &Change, file: &str, dialect: Dialect) {
    let path = Path::new(file);
    let Ok(after) = apply(path, text, dialect, change) else { return };
    // What was done once and for all is not done again.
    match (change, apply(path, &after, dialect, change)) {
        (Change::Add { .. } | Change::AddOwn { .. } | Change::Remove { .. }, again) => {
            assert!(again.is_err(), "{change:?}\n{text}\n=====\n{after}");
        }
        (Change::Replace { .. } | Change::Enable { .. }, again) => {
            assert_eq!(again.ok().as_deref(), Some(after.as_str()), "{change:?}\n{text}");
        }
    }
}

const FILES: [&str; 3] = ["f.toml", "f.yaml", "f.json"];

proptest! {
    #![proptest_config(Config {
        cases: switchboard_testkit::repetitions(100_000),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn prove_that_nothing_panics(
        text in text(),
        change in change(),
        file in prop::sample::select(&FILES[..]),
        dialect in prop::sample::select(&Dialect::ALL[..5]),
    ) {
        check_calm(&text, &change, file, dialect);
    }
}

#[test]
fn the_hostile_set() {
    let changes = [
        remove("a"),
        enable("a", false),
        replace(stdio("a", "x y")),
        add_for(with(http("new", "https://x"), "k", "v"), &["cto"]),
    ];
    for input in switchboard_testkit::hostile::small() {
        let text = String::from_utf8_lossy(&input.bytes);
        for (change, file) in changes.iter().flat_map(|c| FILES.map(|file| (c, file))) {
            Dialect::ALL.iter().for_each(|dialect| check_calm(&text, change, file, *dialect));
        }
    }
}
