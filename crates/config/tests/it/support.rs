//! What the tests here share: reading fixtures, writing expected servers down, showing problems.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use switchboard_config::merge::{self, Input, Merged};
use switchboard_config::parse::{self, Context, Parsed};
use switchboard_config::show::{self, Paint};
use switchboard_config::{Dialect, check};
use switchboard_model::{
    Desired, HttpKind, HttpSpec, IfMissing, Problem, Secret, SecretTemplate, ServerKey, ServerName,
    ServerSpec, StdioSpec, Template, Transport,
};
use switchboard_testkit::fuzz::{map_templates, name};

/// A file below `tests/fixtures`.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)
}

/// A fixture's text.
pub(crate) fn fixture_text(path: &str) -> String {
    fs::read_to_string(fixture(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What files give together.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) dialects: Vec<Option<Dialect>>,
    pub(crate) merged: Merged,
    pub(crate) problems: Vec<Problem>,
}

impl Read {
    pub(crate) fn desired(&self) -> &Desired {
        &self.merged.desired
    }

    /// The global servers, in the order of their names.
    pub(crate) fn servers(&self) -> Vec<ServerSpec> {
        let servers = &self.merged.desired.servers;
        let global = |key: &&ServerKey| **key == ServerKey::global(key.name.clone());
        servers.keys().filter(global).map(|key| (*servers[key]).clone()).collect()
    }

    /// The server of this name, which must be there.
    pub(crate) fn server(&self, text: &str) -> &ServerSpec {
        let key = ServerKey::global(name(text));
        self.merged.desired.servers.get(&key).unwrap_or_else(|| panic!("no {text}: {self:?}"))
    }

    /// The codes of all problems, with what each concerns.
    pub(crate) fn codes(&self) -> Vec<String> {
        self.problems.iter().map(|p| format!("{} {}", p.severity.as_str(), p.code)).collect()
    }

    /// The missing variables when none is set, as a person is told.
    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = check::variables(self.desired(), &self.merged.origins, &|_| None);
        missing.into_iter().map(|problem| problem.message).collect()
    }
}

/// Reads files, given by name and text, as `check` would.
pub(crate) fn read(files: &[(&str, &str)]) -> Read {
    let own = [([127, 0, 0, 1], 8010).into()];
    let context = Context { own: &own, ..Context::default() };
    read_as(files, &context)
}

/// Reads files with what a caller knows.
pub(crate) fn read_as(files: &[(&str, &str)], context: &Context<'_>) -> Read {
    let parsed: Vec<Parsed> =
        files.iter().map(|(path, text)| parse::text(Path::new(path), text, context)).collect();
    let inputs: Vec<Input<'_>> = parsed
        .iter()
        .filter_map(|p| Some(Input { dialect: p.dialect?, declared: p.declared.as_ref()? }))
        .collect();
    let internal = BTreeSet::from([name("switchboard")]);
    let merged = merge::merge(&inputs, &internal);
    let dialects = parsed.iter().map(|p| p.dialect).collect();
    let mut problems: Vec<Problem> = parsed.into_iter().flat_map(|p| p.problems).collect();
    problems.extend(merged.problems.iter().cloned());
    Read { dialects, merged, problems }
}

/// Reads one fixture.
pub(crate) fn read_fixture(path: &str) -> Read {
    read(&[(path, &fixture_text(path))])
}

/// A command.
pub(crate) fn stdio(name: &str, command: &str, args: &[&str]) -> ServerSpec {
    let transport = Transport::Stdio(StdioSpec {
        command: template(command),
        args: args.iter().map(|arg| template(arg)).collect(),
        env: Default::default(),
        cwd: None,
    });
    ServerSpec::new(self::name(name), transport)
}

/// A URL.
pub(crate) fn http(name: &str, kind: HttpKind, url: &str) -> ServerSpec {
    let transport =
        Transport::Http(HttpSpec { kind, url: template(url), headers: Default::default() });
    ServerSpec::new(self::name(name), transport)
}

/// The same with environment values or headers, in our own notation.
pub(crate) fn with(mut spec: ServerSpec, pairs: &[(&str, &str)]) -> ServerSpec {
    let pairs = pairs.iter().map(|(k, v)| ((*k).to_owned(), SecretTemplate::new(template(v))));
    match &mut spec.transport {
        Transport::Stdio(stdio) => stdio.env.extend(pairs),
        Transport::Http(http) => http.headers.extend(pairs),
    }
    spec
}

/// The same, left out when a variable is missing (AICIB's rule).
pub(crate) fn skipping(spec: &ServerSpec) -> ServerSpec {
    map_templates(spec, &|template| template.clone().with_missing(&IfMissing::Skip))
}

pub(crate) fn template(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn names(texts: &[&str]) -> BTreeSet<ServerName> {
    texts.iter().map(|text| name(text)).collect()
}

/// An environment with these variables.
pub(crate) fn environment<'a>(
    pairs: &'a [(&'a str, &'a str)],
) -> impl Fn(&str) -> Option<Secret> + 'a {
    |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| Secret::new(*value))
}

/// What a person sees of a problem, without colours.
pub(crate) fn render(problem: &Problem) -> String {
    show::render(problem, Paint::Plain) + "\n"
}

/// What a person sees of several.
pub(crate) fn render_all(problems: &[Problem]) -> String {
    problems.iter().map(render).collect::<Vec<_>>().join("\n")
}
