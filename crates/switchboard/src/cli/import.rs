//! `switchboard import`: another program's servers, written into our file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use switchboard_config::edit::{self, Change};
use switchboard_config::merge::{self, Input};
use switchboard_config::parse::{self, Context};
use switchboard_config::{Client, Loader, clients, environment, shape};
use switchboard_model::{AgentId, HubSpec, Problem, Scope, ServerKey, ServerSpec, SystemClock};

use super::out::{DIM, GOOD, Out, count};
use super::{add, diff, report};

/// Bring in the servers of another program.
///
/// CLIENT is one of claude-code, claude-desktop, cline, codex, continue, copilot, cursor, gemini, goose,
/// lmstudio, opencode, vscode, windsurf, zed; or the path of any file with servers in it. What is written
/// is shown; look at the commands before you start the hub.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The program, or a file.
    #[arg(value_name = "CLIENT|FILE")]
    from: String,
    /// Only these servers; may be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Replace servers of the same name that differ.
    #[arg(long)]
    replace: bool,
    /// The file to write to, instead of the one that `up` would load first.
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// A server that was found.
struct Found {
    key: ServerKey,
    spec: ServerSpec,
    /// Who names it.
    agents: Vec<AgentId>,
}

/// What becomes of each server that was found.
#[derive(Default)]
struct Plan {
    changes: Vec<Change>,
    added: Vec<String>,
    replaced: Vec<String>,
    same: Vec<String>,
    differing: Vec<String>,
    literal_secrets: Vec<String>,
}

impl Plan {
    fn found_any(&self) -> bool {
        [&self.added, &self.replaced, &self.same, &self.differing].iter().any(|l| !l.is_empty())
    }
}

impl Import {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let sources = self.sources()?;
        let (found, problems) = read(&sources);
        report::print(&problems, out);
        let target = self.file.clone().unwrap_or_else(|| super::selection(&[]).file_to_edit());
        let plan = self.plan(found, &target)?;
        let edited = match plan.changes.is_empty() {
            true => None,
            false if self.dry_run => Some(edit::preview(&target, &plan.changes)?),
            false => Some(edit::edit_all(&target, &plan.changes)?),
        };
        let diff = edited.map(|edited| diff::masked(&target, &edited)).unwrap_or_default();
        if !diff.is_empty() {
            out.line(&diff);
        }
        self.tell(&plan, &target, out);
        out.json(&json!({
            "from": sources.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            "file": target,
            "written": !self.dry_run && !plan.changes.is_empty(),
            "added": plan.added,
            "replaced": plan.replaced,
            "unchanged": plan.same,
            "differing": plan.differing,
            "diff": diff,
            "problems": report::ProblemJson::all(&problems),
        }));
        // One bad entry does not spoil the good ones, but nothing at all is a failure.
        let failed = !plan.found_any() && problems.iter().any(Problem::is_error);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    /// The files to read, and how.
    fn sources(&self) -> Result<Vec<(PathBuf, Option<&'static Client>)>> {
        if let Some(client) = Client::find(&self.from) {
            let variable =
                |name: &str| environment::variable(name).map(|value| PathBuf::from(value.expose()));
            let candidates = client.files(&super::places(), &variable);
            let there: Vec<_> = candidates.iter().filter(|path| path.is_file()).collect();
            if there.is_empty() {
                let looked: Vec<String> =
                    candidates.iter().map(|p| format!("  {}", p.display())).collect();
                bail!(
                    "{} has no configuration here. Looked for:\n{}",
                    client.name,
                    looked.join("\n")
                );
            }
            return Ok(there.into_iter().map(|path| (path.clone(), Some(client))).collect());
        }
        if clients::is_path(&self.from) {
            return Ok(vec![(PathBuf::from(&self.from), None)]);
        }
        let known: Vec<&str> = clients::CLIENTS.iter().map(|client| client.id).collect();
        bail!(
            "`{}` is no file and no client that is known. Known clients: {}",
            self.from,
            known.join(", ")
        )
    }

    fn plan(&self, found: Vec<Found>, target: &Path) -> Result<Plan> {
        let present = present(target);
        let mut plan = Plan::default();
        let is = |found: &Found, name: &str| found.key.name.as_str() == name;
        if let Some(name) = self.only.iter().find(|name| !found.iter().any(|f| is(f, name))) {
            let names: Vec<&str> = found.iter().map(|found| found.key.name.as_str()).collect();
            bail!("no server `{name}` was found there; there are: {}", names.join(", "));
        }
        let wanted = |f: &Found| self.only.is_empty() || self.only.iter().any(|name| is(f, name));
        for Found { key, spec, agents } in found.into_iter().filter(wanted) {
            let name = key.to_string();
            let differs = present.get(&key).map(|there| *there != spec);
            if differs != Some(false) && add::has_literal_secret(&spec) {
                plan.literal_secrets.push(name.clone());
            }
            match (differs, key.scope) {
                (Some(false), _) => plan.same.push(name),
                (Some(true), _) if !self.replace => plan.differing.push(name),
                (Some(true), _) => {
                    plan.replaced.push(name);
                    plan.changes.push(Change::Replace { spec });
                }
                (None, Scope::Agent(agent)) => {
                    plan.added.push(name);
                    plan.changes.push(Change::AddOwn { spec, agent });
                }
                (None, Scope::Global | Scope::User(_)) => {
                    plan.added.push(name);
                    plan.changes.push(Change::Add { spec, agents, to_defaults: false });
                }
            }
        }
        Ok(plan)
    }

    fn tell(&self, plan: &Plan, target: &Path, out: &Out) {
        let list = |what: &str, names: &[String]| {
            if !names.is_empty() {
                out.line(format!("{what}: {}", names.join(", ")));
            }
        };
        list(&format!("{DIM}Already there{DIM:#}"), &plan.same);
        list("There, but different; `--replace` takes the imported one", &plan.differing);
        list("With a secret in clear; better written as '${NAME}'", &plan.literal_secrets);
        let n = plan.added.len() + plan.replaced.len();
        match (n, self.dry_run) {
            (0, _) => out.line("Nothing to write."),
            (n, true) => out.line(format!(
                "Nothing was written: this is a dry run. Without `--dry-run`, {} would be written to {}.",
                count(n, "server"),
                target.display()
            )),
            (n, false) => out.line(format!(
                "{GOOD}Imported{GOOD:#} {} into {}.",
                count(n, "server"),
                target.display()
            )),
        }
    }
}

/// The servers of the file that is written to, as far as it can be read.
fn present(target: &Path) -> BTreeMap<ServerKey, ServerSpec> {
    let declared = parse::path(target, &Context::default()).declared.unwrap_or_default();
    let pair = |server: switchboard_config::declared::DeclaredServer| {
        (server.key, server.spec.as_ref().clone())
    };
    declared.servers.into_iter().map(pair).collect()
}

/// Reads the servers of all files, the first that names one having it.
fn read(sources: &[(PathBuf, Option<&'static Client>)]) -> (Vec<Found>, Vec<Problem>) {
    let own = [HubSpec::default().listen];
    let project = environment::places().cwd;
    // What a file may not declare is not written into one either.
    let reserved = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load().reserved;
    let (mut found, mut problems): (Vec<Found>, Vec<Problem>) = (Vec::new(), Vec::new());
    for (path, client) in sources {
        let context = Context {
            dialect: client.map(|client| client.dialect),
            own: &own,
            project: Some(&project),
            ..Context::default()
        };
        let parsed = parse::path(path, &context);
        problems.extend(parsed.problems);
        let (Some(dialect), Some(declared)) = (parsed.dialect, parsed.declared) else { continue };
        let merged = merge::merge(&[Input { dialect, declared: &declared }], &reserved);
        problems.extend(merged.problems);
        for (key, spec) in &merged.desired.servers {
            let named = |agent: &switchboard_model::AgentSpec| {
                agent.servers.as_ref().is_some_and(|servers| servers.contains(&key.name))
            };
            let agents = merged.desired.agents.iter().filter(|(_, agent)| named(agent));
            // Read back from our own notation, which has no word for AICIB's rule.
            let entry = serde_json::Value::Object(shape::server_entry(spec));
            if let Ok(spec) = add::parsed(&key.name, &entry)
                && !found.iter().any(|known| known.key == *key)
            {
                let agents = agents.map(|(id, _)| id.clone()).collect();
                found.push(Found { key: key.clone(), spec, agents });
            }
        }
    }
    (found, problems)
}
