//! `switchboard remove`: a server, taken out of the files with every assignment of it, or out of the store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use hyper::Method;
use serde_json::json;
use switchboard_config::edit::{self, Change, EditError, Edited};
use switchboard_config::{Loaded, Loader};
use switchboard_model::{ServerKey, ServerName, Standing, SystemClock};

use super::agent::agents;
use super::out::{GOOD, Out};
use super::{api, applied, declared, diff, people};
use crate::control::DeclaredReport;
use crate::control::protocol::PeopleAsk;

/// Remove a server and every assignment of it.
///
/// From the files that declare it, or from the store. If several have the name, it asks which is meant.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// What it is called; or its id in the store.
    name: String,
    /// Only from this file, instead of from every one that `up` would load.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["from", "scope"])]
    file: Option<PathBuf>,
    /// From where, if both have the name.
    #[arg(long, value_enum, value_name = "WHERE")]
    from: Option<From>,
    /// Whose server of the store, if several have the name: `global`, `user anna`.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Show what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// The files, whoever's it is there.
    Files,
    /// The store.
    Store,
}

impl Remove {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let stored = match (&self.file, self.from) {
            (Some(_), _) | (_, Some(From::Files)) => Vec::new(),
            (None, _) => self.stored()?,
        };
        let name = ServerName::parse(&self.name);
        let in_files = match (&name, self.from, &self.scope) {
            (Ok(name), None | Some(From::Files), None) => self.in_files(name)?,
            // The store alone has ids and scopes.
            (Ok(_), ..) => {
                let text = format!("the store has no such server `{}`; {LOOK}", self.name);
                InFiles::Missing(anyhow::anyhow!(text))
            }
            (Err(why), ..) => {
                let text = format!("`{}` cannot be a server's name: {why}", self.name);
                InFiles::Missing(anyhow::anyhow!(text))
            }
        };
        match (in_files, stored.as_slice()) {
            (InFiles::Found(edits), []) => self.cut_files(&edits, out),
            (InFiles::Missing(_), [one]) => self.cut_store(one, out),
            (InFiles::Missing(error), []) => Err(error),
            (found, several) => Err(which(&self.name, &found, several)),
        }
    }

    /// The servers of the store that may be meant.
    fn stored(&self) -> Result<Vec<DeclaredReport>> {
        let mut servers = declared::read(&[])?.servers;
        servers.retain(|server| {
            let scope = self.scope.as_ref().is_none_or(|scope| *scope == server.scope);
            let named = server.name == self.name || server.id.as_ref() == Some(&self.name);
            server.id.is_some() && named && scope
        });
        Ok(servers)
    }

    /// What would change in the files.
    fn in_files(&self, name: &ServerName) -> Result<InFiles> {
        let files: Vec<PathBuf> = self.file.iter().cloned().collect();
        let loaded = Loader::new(super::selection(&files), Arc::new(SystemClock)).load();
        external(&loaded, name)?;
        let change = [Change::Remove { name: name.clone() }];
        let (mut edits, mut missing) = (Vec::new(), None);
        for file in &loaded.files {
            match edit::preview(&file.path, &change) {
                Ok(edited) => edits.push((file.path.clone(), edited)),
                Err(error @ EditError::Missing { .. }) => missing = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(match (edits.as_slice(), missing) {
            ([_, ..], _) => InFiles::Found(edits),
            ([], Some(error)) => InFiles::Missing(error.into()),
            ([], None) => {
                let text = format!("there is no file to remove `{name}` from; {LOOK}");
                InFiles::Missing(anyhow::anyhow!(text))
            }
        })
    }

    fn cut_files(&self, edits: &[(PathBuf, Edited)], out: &Out) -> Result<ExitCode> {
        let name = ServerName::parse(&self.name)?;
        let change = [Change::Remove { name: name.clone() }];
        for (path, preview) in edits {
            let edited = match self.dry_run {
                true => preview.clone(),
                false => edit::edit_all(path, &change)?,
            };
            out.line(diff::masked(path, &edited));
            let path = path.display();
            out.line(match self.dry_run {
                true => format!("Nothing was written to {path}: this is a dry run."),
                false => format!("{GOOD}Removed{GOOD:#} `{name}` from {path}."),
            });
            edited.notes.iter().for_each(|note| out.note(format!("Note: {note}.")));
        }
        let files: Vec<&Path> = edits.iter().map(|(path, _)| path.as_path()).collect();
        let mut agents = Vec::new();
        if !self.dry_run {
            let applied = applied::apply(out, name.as_str(), "remove", &files);
            agents = unassigned(&name, out);
            applied?;
        }
        let written = !self.dry_run;
        out.json(
            &json!({ "name": name.as_str(), "files": files, "agents": agents, "written": written }),
        );
        Ok(ExitCode::SUCCESS)
    }

    fn cut_store(&self, server: &DeclaredReport, out: &Out) -> Result<ExitCode> {
        let id = server.id.as_deref().unwrap_or_default();
        let DeclaredReport { name, scope, .. } = server;
        if self.dry_run {
            let target = &server.target;
            out.line(format!("`{name}` ({scope}) of the store would go: {target}. Nothing was removed: this is a dry run."));
        } else {
            let path = format!("/api/v1/servers/{}", api::part(id));
            api::request(&Method::DELETE, &path, None)?;
            out.line(format!("{GOOD}Removed{GOOD:#} `{name}` ({scope}) from the store."));
        }
        let written = !self.dry_run;
        out.json(
            &json!({ "name": name, "scope": scope, "id": id, "files": [], "written": written }),
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// The agents of the store that named it and do so no longer. The files are written by then, and need no store.
fn unassigned(name: &ServerName, out: &Out) -> Vec<String> {
    let server = name.to_string();
    match people::ask_of(people::Of::Existing, PeopleAsk::Unassign { server }) {
        Ok(said) => {
            let agents: Vec<String> = agents(said).into_iter().map(|agent| agent.id).collect();
            if !agents.is_empty() {
                out.line(format!("Agents that no longer name it: {}.", agents.join(", ")));
            }
            agents
        }
        Err(error) => {
            out.note(format!("Note: agents of the store may still name `{name}`: {error:#}."));
            Vec::new()
        }
    }
}

const LOOK: &str = "`switchboard list` shows what is declared";

/// What the files have of a name.
enum InFiles {
    /// These would change so.
    Found(Vec<(PathBuf, Edited)>),
    /// Nothing.
    Missing(anyhow::Error),
}

/// What a manifest declares is taken out by whoever put the manifest there.
fn external(loaded: &Loaded, name: &ServerName) -> Result<()> {
    let key = ServerKey::global(name.clone());
    let found = loaded.desired.servers.get(&key).map(|spec| spec.standing);
    if let (Some(Standing::Internal | Standing::Required), Some(origin)) =
        (found, loaded.origins.get(&key))
    {
        let manifest = origin.place.source.path().display();
        bail!("`{name}` is an internal server: take its manifest out of {manifest}");
    }
    Ok(())
}

/// Everything that has the name, by what to say to mean it.
fn which(name: &str, edits: &InFiles, stored: &[DeclaredReport]) -> anyhow::Error {
    let in_files = matches!(edits, InFiles::Found(_));
    let one = |server: &DeclaredReport| match (in_files, stored) {
        (true, [_]) => "`--from store`".to_owned(),
        _ => format!("`--from store --scope \"{}\"`", server.scope),
    };
    let files = in_files.then(|| "`--from files`".to_owned());
    let ways: Vec<String> = files.into_iter().chain(stored.iter().map(one)).collect();
    let ways = ways.join(", ");
    anyhow::anyhow!("there are several servers named `{name}`; say which one: {ways}")
}
