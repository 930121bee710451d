//! `switchboard add`: a server, written into the file.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use hyper::Method;
use serde_json::{Map, Value, json};
use switchboard_config::edit::{self, Change};
use switchboard_config::parse::{self, Context};
use switchboard_config::syntax::Format;
use switchboard_config::{Dialect, Loader, catalog};
use switchboard_model::{
    AgentId, Auth, SecretTemplate, ServerKey, ServerName, ServerSpec, SystemClock, Transport,
};

use super::out::{GOOD, Out};
use super::{api, applied, diff};

/// Add a server to the configuration file.
///
/// Either a command (switchboard add files npx -y @modelcontextprotocol/server-filesystem .), or a URL
/// (switchboard add sentry --url https://mcp.sentry.dev/mcp), or a name from the catalog alone
/// (switchboard add github). Comments and order of the file are kept.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// What to call it.
    name: String,
    /// The command and its arguments; one text is split as a shell would split it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
    /// The endpoint of a server that is elsewhere.
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// The transport, where it is not to be inferred: `sse` for the older HTTP+SSE.
    #[arg(long, value_parser = ["stdio", "http", "sse"])]
    transport: Option<String>,
    /// A variable for the command: NAME=VALUE; write '${VAR}' to take it from the environment.
    #[arg(long, short, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header for the URL: 'Name: value'.
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// The directory that the command runs in.
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Give it to this agent; may be repeated.
    #[arg(long, short, value_name = "ID")]
    agent: Vec<String>,
    /// What it is for.
    #[arg(long)]
    description: Option<String>,
    /// What kind of server it is.
    #[arg(long)]
    category: Option<String>,
    /// Until a connection is reported as late, such as 30s.
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// Scan inputs before they leave.
    #[arg(long)]
    sensitive: bool,
    /// Start it with the first call, not with the hub.
    #[arg(long)]
    lazy: bool,
    /// Write it down, but switched off.
    #[arg(long)]
    disabled: bool,
    /// Replace a server of this name.
    #[arg(long, conflicts_with = "agent")]
    replace: bool,
    /// Keep it in the store, for this person alone, instead of in a file.
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "file", "replace", "dry_run"])]
    user: Option<String>,
    /// The file to write to, instead of the one that `up` would load first.
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Add {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let spec = self.spec()?;
        if let Some(user) = &self.user {
            return to_store(&spec, user, out);
        }
        let agents: Vec<AgentId> = self
            .agent
            .iter()
            .map(|id| AgentId::parse(id).map_err(|why| anyhow::anyhow!("agent `{id}`: {why}")))
            .collect::<Result<_>>()?;
        free(&spec.name)?;
        let path = self.file.clone().unwrap_or_else(|| super::selection(&[]).file_to_edit());
        let to_defaults = agents.is_empty();
        let literal = has_literal_secret(&spec);
        let name = spec.name.clone();
        let change = match self.replace {
            true => Change::Replace { spec },
            false => Change::Add { spec, agents, to_defaults },
        };
        let edited = match self.dry_run {
            true => edit::preview(&path, std::slice::from_ref(&change))?,
            false => edit::edit(&path, &change)?,
        };
        let diff = diff::masked(&path, &edited);
        out.line(&diff);
        let path_shown = path.display();
        out.line(match (self.dry_run, self.replace) {
            (true, _) => format!("Nothing was written to {path_shown}: this is a dry run."),
            (false, true) => format!("{GOOD}Replaced{GOOD:#} `{name}` in {path_shown}."),
            (false, false) => format!("{GOOD}Added{GOOD:#} `{name}` to {path_shown}."),
        });
        if literal {
            out.note(
                "A value was written into the file as it is. If it is a secret, write '${NAME}' \
                 instead and set NAME where the hub is started.",
            );
        }
        let report = match self.dry_run {
            true => None,
            false => applied::apply(out, name.as_str(), "add", &[&path])?,
        };
        out.json(&json!({
            "name": name.as_str(),
            "file": path,
            "written": !self.dry_run,
            "diff": diff,
            "state": report.map(|report| report.state),
        }));
        Ok(ExitCode::SUCCESS)
    }

    /// The server, checked by the same rules as if it stood in the file.
    fn spec(&self) -> Result<ServerSpec> {
        let name = ServerName::parse(&self.name)
            .map_err(|why| anyhow::anyhow!("`{}` cannot be a server's name: {why}", self.name))?;
        let entry = self.entry()?;
        let mut spec = match self.command.is_empty() && self.url.is_none() {
            false => parsed(&name, &Value::Object(entry))?,
            true => self.catalogued(&name, entry)?,
        };
        spec.enabled = !self.disabled;
        Ok(spec)
    }

    fn catalogued(&self, name: &ServerName, entry: Map<String, Value>) -> Result<ServerSpec> {
        let Some(spec) = catalog::find(name) else {
            let known: Vec<&str> = catalog::names().collect();
            bail!(
                "how is `{name}` reached? Give a command (`switchboard add {name} npx -y PACKAGE`) or a URL \
                 (`--url https://…`); by name alone only these are known: {}",
                known.join(", ")
            );
        };
        let mut whole = switchboard_config::shape::server_entry(&spec);
        for (key, value) in entry {
            match (whole.get_mut(&key), value) {
                (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
                (_, value) => {
                    whole.insert(key, value);
                }
            }
        }
        parsed(name, &Value::Object(whole))
    }

    /// The entry as it would stand in our own file.
    fn entry(&self) -> Result<Map<String, Value>> {
        let mut entry = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                entry.insert(key.to_owned(), value);
            }
        };
        if let Some((command, args)) = self.command.split_first() {
            set("command", Some(json!(command)));
            set("args", (!args.is_empty()).then(|| json!(args)));
        }
        set("url", self.url.as_ref().map(|url| json!(url)));
        set("transport", self.transport.as_ref().map(|transport| json!(transport)));
        set("env", pairs(&self.env, '=', "--env", "NAME=VALUE")?);
        set("headers", pairs(&self.header, ':', "--header", "'Name: value'")?);
        set("cwd", self.cwd.as_ref().map(|cwd| json!(cwd)));
        set("description", self.description.as_ref().map(|text| json!(text)));
        set("category", self.category.as_ref().map(|text| json!(text)));
        set("timeout", self.timeout.as_ref().map(|text| json!(text)));
        set("sensitive", self.sensitive.then(|| json!(true)));
        set("start", self.lazy.then(|| json!("lazy")));
        Ok(entry)
    }
}

/// An internal server's name is not to be had: the entry would be skipped.
fn free(name: &ServerName) -> Result<()> {
    let loaded = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load();
    if !loaded.reserved.contains(name) {
        return Ok(());
    }
    let origin = loaded.origins.get(&ServerKey::global(name.clone()));
    let place = origin.map(|origin| format!(" ({})", origin.place.source.path().display()));
    let place = place.unwrap_or_default();
    bail!("`{name}` is the name of an internal server{place}; give it another name")
}

/// Somebody's own server. Whoever writes its command line here may start it anyway.
fn to_store(spec: &ServerSpec, user: &str, out: &Out) -> Result<ExitCode> {
    let body = json!({
        "name": spec.name.as_str(),
        "scope": "user",
        "owner": user,
        "entry": switchboard_config::shape::server_entry(spec),
        "approve": true,
    });
    let server = api::request(&Method::POST, "/api/v1/servers", Some(&body))?;
    out.json(&server);
    let message = server.pointer("/state/message").and_then(Value::as_str).unwrap_or_default();
    out.line(format!("{GOOD}Added{GOOD:#} `{}` for {user}. {message}", spec.name));
    Ok(ExitCode::SUCCESS)
}

fn pairs(given: &[String], mark: char, option: &str, form: &str) -> Result<Option<Value>> {
    let mut map = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once(mark) else {
            bail!("`{option} {pair}` has no `{mark}`; write {option} {form}");
        };
        map.insert(name.trim().to_owned(), json!(value.trim()));
    }
    Ok((!map.is_empty()).then_some(Value::Object(map)))
}

/// Reads an entry as our own file's reader would.
pub(super) fn parsed(name: &ServerName, entry: &Value) -> Result<ServerSpec> {
    let mut servers = Map::new();
    servers.insert(name.to_string(), entry.clone());
    let text = json!({ "servers": servers }).to_string();
    let context = Context {
        dialect: Some(Dialect::Native),
        format: Some(Format::Json),
        ..Context::default()
    };
    let parsed = parse::text("command line".as_ref(), &text, &context);
    if let Some(problem) = parsed.problems.iter().find(|problem| problem.is_error()) {
        bail!("{}. {}", problem.message, problem.remedy);
    }
    let server = parsed.declared.and_then(|mut declared| declared.servers.pop());
    match server {
        Some(server) => Ok(server.spec.as_ref().clone()),
        None => bail!("`{name}` could not be read"),
    }
}

/// Whether a value that may be a secret would stand in the file.
pub(super) fn has_literal_secret(spec: &ServerSpec) -> bool {
    let pairs = match &spec.transport {
        Transport::Stdio(stdio) => &stdio.env,
        Transport::Http(http) => &http.headers,
    };
    let secret = |(name, value): (&String, &SecretTemplate)| {
        let looks = |text: &str| switchboard_model::mask::looks_secret(text);
        let named = switchboard_model::mask::is_secret_key(name);
        value.has_literal_secret()
            && (named || value.expose().as_literal().is_some_and(|text| text.split(' ').any(looks)))
    };
    let in_auth = match &spec.auth {
        Auth::None => false,
        Auth::Bearer { token: value }
        | Auth::ApiKey { key: value, .. }
        | Auth::OAuth { client_secret: value, .. } => {
            value.as_ref().is_some_and(SecretTemplate::has_literal_secret)
        }
    };
    in_auth || pairs.iter().any(secret)
}
