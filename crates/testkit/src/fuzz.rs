//! What every fuzz target and every hostile input goes through: read, merge, check, show, write back.
//! The same body serves `fuzz/` and the tests that replay its corpora.

pub mod wire;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};
use switchboard_config::declared::Declared;
use switchboard_config::merge::{self, Input};
use switchboard_config::parse::{self, Context, Parsed};
use switchboard_config::syntax::Format;
use switchboard_config::{Dialect, check, shape};
use switchboard_model::{
    Auth, IfMissing, Part, Problem, Secret, SecretTemplate, ServerKey, ServerName, ServerSpec,
    Template, Transport,
};

/// The fuzz targets by name, one for each dialect.
pub const TARGETS: [(&str, Dialect); 11] = [
    ("native", Dialect::Native),
    ("annabelle", Dialect::Annabelle),
    ("spacebot", Dialect::Spacebot),
    ("mcp_servers", Dialect::McpServers),
    ("aicib", Dialect::Aicib),
    ("vscode", Dialect::VsCode),
    ("zed", Dialect::Zed),
    ("codex", Dialect::Codex),
    ("goose", Dialect::Goose),
    ("continue", Dialect::Continue),
    ("opencode", Dialect::OpenCode),
];

/// The body of a fuzz target. Where a dialect has several formats, the first byte chooses.
pub fn run(dialect: Dialect, data: &[u8]) {
    let (format, text) = match dialect {
        Dialect::Native => match data.split_first() {
            Some((byte, rest)) => (FORMATS[usize::from(*byte) % FORMATS.len()], rest),
            None => (Format::Toml, data),
        },
        Dialect::Spacebot | Dialect::Codex => (Format::Toml, data),
        Dialect::Aicib | Dialect::Goose | Dialect::Continue => (Format::Yaml, data),
        Dialect::Annabelle
        | Dialect::McpServers
        | Dialect::VsCode
        | Dialect::Zed
        | Dialect::OpenCode => (Format::Json, data),
    };
    survey(Some(dialect), format, text);
}

/// Every format.
pub const FORMATS: [Format; 3] = [Format::Toml, Format::Yaml, Format::Json];

/// Reads bytes and does with what they declare all that the program would do.
pub fn survey(dialect: Option<Dialect>, format: Format, bytes: &[u8]) -> Parsed {
    let own = [([127, 0, 0, 1], 8010).into()];
    let project = Some(Path::new("/home/me/project"));
    let context = Context { dialect, format: Some(format), own: &own, project };
    let parsed = parse::bytes(Path::new("fuzzed"), bytes.to_vec(), &context);
    show(&parsed.problems);
    if let (Some(dialect), Some(declared)) = (parsed.dialect, &parsed.declared) {
        merged(dialect, declared);
    } else {
        assert!(!parsed.problems.is_empty(), "nothing was read, and nobody is told why");
    }
    parsed
}

fn merged(dialect: Dialect, declared: &Declared) {
    let merged = merge::merge(&[Input { dialect, declared }], &BTreeSet::new());
    show(&merged.problems);
    show(&check::variables(&merged.desired, &merged.origins, &|_| None));
    // Many are like few, only slower.
    for spec in merged.desired.servers.values().take(100) {
        assert!(!spec.target().is_empty() && !format!("{spec:?}").is_empty());
        let _ = spec.resolve(&|name| Some(Secret::new(name)));
        reads_back(spec);
    }
    let _ = format!("{:?}", merged.desired.agents);
}

/// A problem can be shown: it has words, and its place is in the file.
fn show(problems: &[Problem]) {
    for problem in problems {
        assert!(!problem.message.is_empty() && !problem.remedy.is_empty(), "{problem:?}");
        for place in problem.place.iter().chain(problem.related.iter().map(|(place, _)| place)) {
            let (line, column) = place.line_column();
            let text = place.source.line(line);
            assert!(column <= text.chars().count() + 2, "{problem}: beyond the end of `{text}`");
            assert!(place.source.text().get(place.span.clone()).is_some(), "{problem:?}");
        }
        let _ = problem.to_string();
    }
}

/// What was read can be written into a file of ours and is then the same.
fn reads_back(spec: &ServerSpec) {
    let entry = Value::Object(shape::server_entry(spec));
    let servers = Map::from_iter([(spec.name.to_string(), entry)]);
    let text = Value::Object(Map::from_iter([("servers".into(), Value::Object(servers))]));
    let text = text.to_string();
    let context = Context { dialect: Some(Dialect::Native), ..Context::default() };
    let parsed = parse::text(Path::new("switchboard.json"), &text, &context);
    let server = parsed.declared.as_ref().and_then(|declared| declared.servers.first());
    let read = server.map(|server| (&server.key, &*server.spec));
    let expected = (&ServerKey::global(spec.name.clone()), &without_skip(spec));
    assert_eq!(read, Some(expected), "{:?}\n{text}", parsed.problems);
}

/// The server as our own file can say it: a missing variable is waited for.
pub fn without_skip(spec: &ServerSpec) -> ServerSpec {
    let plain = |template: &Template| {
        Template::from_parts(template.parts().iter().cloned().map(|part| match part {
            Part::Variable { name, if_missing: IfMissing::Skip } => Part::variable(name),
            part => part,
        }))
    };
    map_templates(spec, &plain)
}

/// The server with every template changed.
pub fn map_templates(spec: &ServerSpec, with: &dyn Fn(&Template) -> Template) -> ServerSpec {
    let mut spec = spec.clone();
    let change = |template: &mut Template| *template = with(template);
    let hidden = |template: &mut SecretTemplate| {
        *template = SecretTemplate::new(with(template.expose()));
    };
    match &mut spec.transport {
        Transport::Stdio(stdio) => {
            change(&mut stdio.command);
            stdio.args.iter_mut().for_each(change);
            stdio.cwd.iter_mut().for_each(change);
            stdio.env.values_mut().for_each(hidden);
        }
        Transport::Http(http) => {
            change(&mut http.url);
            http.headers.values_mut().for_each(hidden);
        }
    }
    match &mut spec.auth {
        Auth::None => {}
        Auth::Bearer { token: secret }
        | Auth::ApiKey { key: secret, .. }
        | Auth::OAuth { client_secret: secret, .. } => secret.iter_mut().for_each(hidden),
    }
    spec
}

/// A name that is known to be good.
pub fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}
