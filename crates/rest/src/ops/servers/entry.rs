//! What somebody declares about a server, read by the same readers as the files, so that every fault
//! is found and told. Never writes anything.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Map, Value, json};
use switchboard_config::syntax::Format;
use switchboard_config::{Dialect, parse};
use switchboard_model::steering::steers;
use switchboard_model::{
    Auth, Code, Problem as Found, Scope, SecretTemplate, ServerName, ServerSpec, Standing,
    StdioSpec, Template, Transport,
};

use super::edited;
use super::here::Here;
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
    edited::unmasked(entry)?;
    let text = json!({"servers": {name.as_str(): entry}}).to_string();
    let context = parse::Context {
        dialect: Some(Dialect::Native),
        format: Some(Format::Json),
        ..parse::Context::default()
    };
    let mut specs = declared(parse::text(Path::new("entry.json"), &text, &context))?;
    specs.pop().ok_or_else(|| Problem::invalid("the entry declares no server"))
}

/// What a client's configuration declares.
pub(crate) struct Pasted {
    /// The servers.
    pub(crate) specs: Vec<ServerSpec>,
    /// The names under which the hub itself stands in it, which is no server of its own.
    pub(crate) own: Vec<String>,
}

/// The servers of a client's configuration, in whichever dialect and format it is; `own` are the hub's
/// addresses.
pub(crate) fn pasted(text: &str, own: &[SocketAddr]) -> Result<Pasted> {
    let formats: &[Format] = match text.trim_start().starts_with(['{', '/']) {
        true => &[Format::Json],
        false => &[Format::Toml, Format::Yaml],
    };
    let mut last = None;
    for format in formats {
        let context = parse::Context { format: Some(*format), own, ..parse::Context::default() };
        let parsed = parse::text(Path::new("pasted"), text, &context);
        let hub = |problem: &&Found| problem.code == Code::OwnEndpoint;
        let named = |problem: &Found| problem.server.as_ref().map(ServerName::to_string);
        let mut hubs: Vec<String> = parsed.problems.iter().filter(hub).filter_map(named).collect();
        let some = parsed.declared.as_ref().is_some_and(|declared| !declared.servers.is_empty());
        let read = declared(parsed);
        if !some && hubs.is_empty() {
            last = Some(read);
            continue;
        }
        // Not every dialect looks for the hub itself.
        let (hub, specs): (Vec<_>, Vec<_>) =
            read?.into_iter().partition(|spec| switchboard_config::is_own(spec, own));
        hubs.extend(hub.iter().map(|spec| spec.name.to_string()));
        return Ok(Pasted { specs, own: hubs });
    }
    match last {
        Some(Err(problem)) => Err(problem),
        Some(Ok(_)) | None => Err(Problem::invalid("the text declares no server")),
    }
}

/// Whether somebody may declare this. What a member writes must not read the hub's environment.
pub(crate) fn check(caller: &Caller, here: &Here, spec: &ServerSpec) -> Result<()> {
    name(spec.name.as_str())?;
    here.refuse(spec)?;
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

/// Whether what is secret in one declaration goes to the same place by the other: the same address, or
/// the same command line in the same directory, with the same in every variable that decides which code runs.
pub(crate) fn same_target(one: &ServerSpec, other: &ServerSpec) -> bool {
    match (&one.transport, &other.transport) {
        (Transport::Stdio(one), Transport::Stdio(other)) => {
            let steering = |stdio: &StdioSpec| -> Vec<(String, SecretTemplate)> {
                let env = stdio.env.clone().into_iter();
                env.filter(|(name, _)| steers(name)).collect()
            };
            (&one.command, &one.args, &one.cwd) == (&other.command, &other.args, &other.cwd)
                && steering(one) == steering(other)
        }
        (Transport::Http(one), Transport::Http(other)) => one.url == other.url,
        (Transport::Stdio(_) | Transport::Http(_), _) => false,
    }
}

/// A secret was to be kept that would now go elsewhere.
pub(crate) fn moved(what: &str) -> Problem {
    let text =
        format!("`{what}` was given for another address or command, and is not kept for this one");
    Problem::invalid(text).remedy("Write the value itself again.")
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
