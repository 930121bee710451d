//! What somebody declares about a server, read by the same readers as the files, so that every fault
//! is found and told. Never writes anything.

use std::path::Path;

use serde_json::{Map, Value, json};
use switchboard_config::syntax::Format;
use switchboard_config::{Dialect, catalog, parse};
use switchboard_model::{
    Auth, Part, Problem as Found, Scope, SecretTemplate, ServerName, ServerSpec, Standing,
    StdioSpec, Template, Transport,
};

use crate::error::{Fault, Problem, Result};
use crate::who::Caller;

/// The hub's own server, whose name nobody takes.
const OWN: &str = "switchboard";

/// A name that a server may have.
pub(crate) fn name(text: &str) -> Result<ServerName> {
    if text.eq_ignore_ascii_case(OWN) {
        let text = format!("`{OWN}` is the hub's own server");
        return Err(Problem::invalid(text).remedy("Choose another name."));
    }
    ServerName::parse(text).map_err(|error| Problem::invalid(format!("`name`: {error}")))
}

/// The server of an entry as our own file has it.
pub(crate) fn native(name: &ServerName, entry: &Map<String, Value>) -> Result<ServerSpec> {
    let text = json!({"servers": {name.as_str(): entry}}).to_string();
    let context = parse::Context {
        dialect: Some(Dialect::Native),
        format: Some(Format::Json),
        ..parse::Context::default()
    };
    let mut specs = declared(parse::text(Path::new("entry.json"), &text, &context))?;
    specs.pop().ok_or_else(|| Problem::invalid("the entry declares no server"))
}

/// The servers of a client's configuration, in whichever dialect and format it is.
pub(crate) fn pasted(text: &str) -> Result<Vec<ServerSpec>> {
    let formats: &[Format] = match text.trim_start().starts_with(['{', '/']) {
        true => &[Format::Json],
        false => &[Format::Toml, Format::Yaml],
    };
    let mut last = None;
    for format in formats {
        let context = parse::Context { format: Some(*format), ..parse::Context::default() };
        let parsed = parse::text(Path::new("pasted"), text, &context);
        let some = parsed.declared.as_ref().is_some_and(|declared| !declared.servers.is_empty());
        let read = declared(parsed);
        if some {
            return read;
        }
        last = Some(read);
    }
    match last {
        Some(Err(problem)) => Err(problem),
        Some(Ok(_)) | None => Err(Problem::invalid("the text declares no server")),
    }
}

/// A server of the catalog, with this key where its entry has a variable.
pub(crate) fn known(word: &str, name: Option<&str>, key: Option<&str>) -> Result<ServerSpec> {
    let spec = ServerName::parse(word).ok().and_then(|word| catalog::find(&word));
    let mut spec = spec.ok_or_else(|| {
        let text = format!("the catalog has no `{word}`");
        Problem::invalid(text).remedy("`GET /api/v1/catalog` says what it has.")
    })?;
    spec.name = self::name(name.unwrap_or(word))?;
    if let Some(key) = key {
        let mut filled = 0;
        secrets(&mut spec).for_each(|secret| filled += fill(secret, key));
        if filled == 0 {
            return Err(Problem::invalid(format!("`{word}` takes no key")));
        }
    }
    Ok(spec)
}

/// Whether somebody may declare this. What a member writes must not read the hub's environment.
pub(crate) fn check(caller: &Caller, spec: &ServerSpec) -> Result<()> {
    name(spec.name.as_str())?;
    if caller.is_administrator() {
        return Ok(());
    }
    let Some(variable) = variables(spec).into_iter().next() else { return Ok(()) };
    let text = format!(
        "`{}` asks for the variable {variable} of the hub's environment, which only \
         administrators may use",
        spec.name
    );
    Err(Problem::invalid(text)
        .remedy("Write the value itself (it is kept encrypted and never shown again)."))
}

/// What of the old declaration stays: values that are given as `null`, since nobody can read them
/// to send them again.
pub(crate) fn keep(spec: &mut ServerSpec, entry: &Map<String, Value>, old: &ServerSpec) {
    let is_null = |table: &str, name: &str| {
        let given = entry.get(table).and_then(Value::as_object);
        given.is_some_and(|given| {
            given.iter().any(|(key, value)| key.eq_ignore_ascii_case(name) && value.is_null())
        })
    };
    let (table, new, old) = match (&mut spec.transport, &old.transport) {
        (Transport::Stdio(new), Transport::Stdio(old)) => ("env", &mut new.env, &old.env),
        (Transport::Http(new), Transport::Http(old)) => ("headers", &mut new.headers, &old.headers),
        (Transport::Stdio(_) | Transport::Http(_), _) => return,
    };
    for (name, kept) in old {
        if is_null(table, name) {
            new.insert(name.clone(), kept.clone());
        }
    }
}

/// Every variable that a declaration asks for.
pub(crate) fn variables(spec: &ServerSpec) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut note = |template: &Template| {
        names.extend(template.variables().map(|(name, _)| name.to_owned()));
    };
    match &spec.transport {
        Transport::Stdio(StdioSpec { command, args, env, cwd }) => {
            note(command);
            args.iter().chain(cwd).for_each(&mut note);
            env.values().map(SecretTemplate::expose).for_each(&mut note);
        }
        Transport::Http(http) => {
            note(&http.url);
            http.headers.values().map(SecretTemplate::expose).for_each(&mut note);
        }
    }
    let secret = match &spec.auth {
        Auth::None => None,
        Auth::Bearer { token } => token.as_ref(),
        Auth::ApiKey { key, .. } => key.as_ref(),
        Auth::OAuth { client_secret, .. } => client_secret.as_ref(),
    };
    secret.map(SecretTemplate::expose).into_iter().for_each(&mut note);
    names.sort();
    names.dedup();
    names
}

fn declared(parsed: parse::Parsed) -> Result<Vec<ServerSpec>> {
    let faults: Vec<Fault> =
        parsed.problems.iter().filter(|problem| problem.is_error()).map(fault).collect();
    if let Some(first) = faults.first() {
        let text = match faults.len() {
            1 => first.message.clone(),
            many => format!("{many} things are wrong with it, the first: {}", first.message),
        };
        return Err(Problem::invalid(text).faults(faults));
    }
    let servers = parsed.declared.map(|declared| declared.servers).unwrap_or_default();
    let own = servers.into_iter().filter(|server| server.key.scope == Scope::Global);
    // A part of the hub's own system is found beside it, never declared from outside.
    let plain = |spec: ServerSpec| ServerSpec { standing: Standing::External, ..spec };
    Ok(own.map(|server| plain((*server.spec).clone())).collect())
}

fn fault(problem: &Found) -> Fault {
    Fault {
        code: problem.code.as_str().to_owned(),
        message: problem.message.clone(),
        remedy: Some(problem.remedy.clone()).filter(|remedy| !remedy.is_empty()),
    }
}

fn secrets(spec: &mut ServerSpec) -> impl Iterator<Item = &mut SecretTemplate> {
    match &mut spec.transport {
        Transport::Stdio(stdio) => stdio.env.values_mut(),
        Transport::Http(http) => http.headers.values_mut(),
    }
}

/// Puts a key in the place of every variable; how many there were.
fn fill(secret: &mut SecretTemplate, key: &str) -> usize {
    let mut filled = 0;
    let parts = secret.expose().parts().iter().map(|part| match part {
        Part::Literal(_) => part.clone(),
        Part::Variable { .. } => {
            filled += 1;
            Part::Literal(key.to_owned())
        }
    });
    let parts: Vec<Part> = parts.collect();
    *secret = SecretTemplate::new(Template::from_parts(parts));
    filled
}
