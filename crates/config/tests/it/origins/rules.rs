//! Where the origins disagree, each file keeps its own rule.

use switchboard_model::{IfMissing, Unresolved};

use crate::support::{environment, read};

/// The same server with one variable, in every origin's file.
const FILES: [(&str, &str); 6] = [
    ("external-mcps.json", r#"{"a": {"command": "x", "env": {"T": "${TOKEN}"}}}"#),
    (
        "config.toml",
        "[[defaults.mcp]]\nname='a'\ntransport='stdio'\ncommand='x'\nenv={T='${TOKEN}'}",
    ),
    ("mcp-servers.json", r#"{"mcpServers": {"a": {"command": "x", "env": {"T": "${TOKEN}"}}}}"#),
    (
        "aicib.config.yaml",
        "integrations: {servers: {a: {command: x, args: [], env: {T: '${TOKEN}'}}}, default_servers: [a]}",
    ),
    ("switchboard.toml", "[servers.a]\ncommand='x'\nenv={T='${TOKEN}'}"),
    ("switchboard.yaml", "servers: {a: {command: x, env: {T: '${TOKEN}'}}}"),
];

/// What becomes of a server whose variable is not set.
#[derive(Debug, PartialEq)]
enum Missing {
    Empty,
    Skipped,
    NeedsSetup,
}

#[test]
fn a_missing_variable() {
    use Missing::{Empty, NeedsSetup, Skipped};
    let expected = [Empty, NeedsSetup, NeedsSetup, Skipped, NeedsSetup, NeedsSetup];
    for (file, expected) in FILES.iter().zip(expected) {
        let read = read(&[*file]);
        assert_eq!(read.codes(), [""; 0], "{file:?}");
        let spec = read.server("a");
        for env in [&[][..], &[("TOKEN", "")]] {
            let found = match spec.resolve(&environment(env)) {
                Ok(_) => Empty,
                Err(Unresolved { variables, skip }) => {
                    assert_eq!(variables, ["TOKEN"]);
                    if skip { Skipped } else { NeedsSetup }
                }
            };
            assert_eq!(found, expected, "{file:?} with {env:?}");
        }
        assert!(spec.resolve(&environment(&[("TOKEN", "t")])).is_ok());
        let then = match expected {
            Empty => "it gets an empty text",
            Skipped => "it is left out",
            NeedsSetup => "it waits until it is",
        };
        let told = format!("server `a` needs the variable `TOKEN`, which is not set: {then}");
        assert_eq!(read.missing(), [told], "once, in {file:?}");
    }
}

#[test]
fn a_default_works_everywhere_but_in_annabelles_file() {
    for (file, text) in FILES {
        let read = read(&[(file, &text.replace("${TOKEN}", "${TOKEN:-none}"))]);
        let spec = read.server("a");
        let templates = spec.templates();
        let variables: Vec<_> = templates.iter().flat_map(|t| t.variables()).collect();
        let expected = ("TOKEN", &IfMissing::Use("none".to_owned()));
        match file {
            "external-mcps.json" => assert_eq!(variables, []),
            _ => assert_eq!(variables, [expected], "{file}"),
        }
        assert_eq!(read.missing(), [""; 0], "{file}");
    }
}

/// An unknown key is an error in our own file, a warning in an entry of another, and nothing
/// elsewhere in that.
#[test]
fn unknown_keys() {
    for (file, text) in FILES {
        let ours = file.starts_with("switchboard");
        let inside = match file {
            "config.toml" | "switchboard.toml" => text.replace("command=", "comand='y'\ncommand="),
            "aicib.config.yaml" | "switchboard.yaml" => {
                text.replace("command:", "comand: y, command:")
            }
            _ => text.replace("\"command\":", "\"comand\": \"y\", \"command\":"),
        };
        let read = read(&[(file, &inside)]);
        let severity = if ours { "error" } else { "warning" };
        assert_eq!(read.codes(), [format!("{severity} unknown-key")], "{file}");
        assert_eq!(read.problems[0].remedy, "Did you mean `command`?", "{file}");
        assert_eq!(read.servers().len(), usize::from(!ours), "{file}");
    }
    let foreign = [
        ("config.toml", "[llm]\nmodel='x'\n"),
        ("aicib.config.yaml", "company: {name: x}\n"),
        ("mcp-servers.json", r#"{"theme": "dark", "mcpServers": {}}"#),
    ];
    for (file, text) in foreign {
        let context = switchboard_config::parse::Context {
            dialect: Some(match file {
                "config.toml" => switchboard_config::Dialect::Spacebot,
                "aicib.config.yaml" => switchboard_config::Dialect::Aicib,
                _ => switchboard_config::Dialect::McpServers,
            }),
            ..Default::default()
        };
        assert_eq!(crate::support::read_as(&[(file, text)], &context).codes(), [""; 0], "{file}");
    }
}

/// A name that nobody knows is an error that names the nearest one.
#[test]
fn unknown_names() {
    let aicib = |part: &str| {
        format!("integrations:\n  servers: {{my-tool: {{command: x, args: []}}}}\n{part}")
    };
    let cases = [
        ("aicib.config.yaml", aicib("  default_servers: [githb]\n"), "Did you mean `github`?"),
        ("aicib.config.yaml", aicib("  per_agent: {cto: [my-tol]}\n"), "Did you mean `my-tool`?"),
        (
            "aicib.config.yaml",
            aicib("agents: {cto: {mcp_servers: [playwrite]}}\n"),
            "Did you mean `playwright`?",
        ),
        (
            "aicib.config.yaml",
            aicib("agents: {cto: {workers: [{dev: {mcp_servers: [zzz]}}]}}\n"),
            "Declare it under `servers`, or remove the name here.",
        ),
        ("switchboard.toml", "[agents.cto]\nservers = ['linaer']".into(), "Did you mean `linear`?"),
        ("switchboard.toml", "[defaults]\nservers = ['stirpe']".into(), "Did you mean `stripe`?"),
    ];
    for (file, text, remedy) in cases {
        let read = read(&[(file, &text)]);
        let found = read.problems.iter().find(|p| p.code.as_str() == "unknown-server");
        let found = found.unwrap_or_else(|| panic!("{text}: {:?}", read.problems));
        assert!(found.is_error());
        assert_eq!(found.remedy, remedy, "{text}");
    }
}
