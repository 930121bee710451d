//! `switchboard user`: the people of a shared installation.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use hyper::Method;
use serde_json::{Value, json};

use super::api;
use super::out::{BOLD, DIM, GOOD, Out, table};
use crate::state_dir::StateDir;

/// Add, list and remove people.
#[derive(Debug, Args)]
pub(super) struct User {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the people.
    List,
    /// Add somebody.
    Add {
        /// Who: letters, digits, `_`, `-` and `.`.
        id: String,
        /// What they are called.
        #[arg(long)]
        name: Option<String>,
        /// What they may do.
        #[arg(long, value_parser = ["member", "administrator"], default_value = "member")]
        role: String,
    },
    /// Remove somebody with all that is theirs: servers, credentials, agents, tokens.
    Remove {
        /// Who.
        id: String,
    },
    /// Say what somebody may do.
    Role {
        /// Who.
        id: String,
        /// What they may do.
        #[arg(value_parser = ["member", "administrator"])]
        role: String,
    },
    /// Set somebody's password, read from standard input.
    Password {
        /// Who.
        id: String,
    },
    /// Make a link that signs somebody in on the page, once.
    Link {
        /// Who.
        id: String,
    },
}

impl User {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        match &self.command {
            Command::List => list(out)?,
            Command::Add { id, name, role } => {
                let body = json!({"id": id, "name": name, "role": role});
                let user = api::request(&Method::POST, "/api/v1/users", Some(&body))?;
                out.json(&user);
                out.line(format!("{GOOD}Added{GOOD:#} {id}, {role}."));
                out.note(format!("{DIM}Give them a way in: `switchboard user link {id}`.{DIM:#}"));
            }
            Command::Remove { id } => {
                api::request(&Method::DELETE, &path(id), None)?;
                out.json(&json!({"id": id}));
                out.line(format!("{GOOD}Removed{GOOD:#} {id} and all that was theirs."));
            }
            Command::Role { id, role } => {
                let body = json!({"role": role});
                let user = api::request(&Method::PUT, &path(id), Some(&body))?;
                out.json(&user);
                out.line(format!("{BOLD}{id}{BOLD:#} is {role} now."));
            }
            Command::Password { id } => {
                let body = json!({"password": password(out)?});
                let path = format!("{}/password", path(id));
                api::request(&Method::PUT, &path, Some(&body))?;
                out.json(&json!({"id": id}));
                out.line(format!("{BOLD}{id}{BOLD:#} has a new password; old sessions ended."));
            }
            Command::Link { id } => {
                let path = format!("{}/sign-in-link", path(id));
                let link = api::request(&Method::POST, &path, None)?;
                tell_link(link, out);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A whole link where a hub runs, which has an address; else the part behind it.
fn tell_link(mut link: Value, out: &Out) {
    let path = link.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
    let address = StateDir::open(super::places().state).ok().and_then(|state| state.address());
    let url = address.map(|address| format!("{address}{path}"));
    if let Some(link) = link.as_object_mut() {
        link.insert("url".to_owned(), json!(url));
    }
    out.json(&link);
    out.line(url.as_deref().unwrap_or(&path));
    out.note(match url {
        Some(_) => format!("{DIM}It works once.{DIM:#}"),
        None => format!("{DIM}Open it at the hub's address; it works once.{DIM:#}"),
    });
}

fn list(out: &Out) -> Result<()> {
    let page = api::get("/api/v1/users?limit=1000")?;
    let users = page.get("items").cloned().unwrap_or_default();
    out.json(&users);
    let rows = users.as_array().into_iter().flatten().map(|user| {
        let text = |name: &str| user.get(name).and_then(Value::as_str).unwrap_or_default();
        let has = user.get("has_password").and_then(Value::as_bool).unwrap_or_default();
        let way = if has { "password" } else { "link" };
        let day = text("created_at").split('T').next().unwrap_or_default().to_owned();
        [text("id"), text("name"), text("role"), way]
            .map(str::to_owned)
            .into_iter()
            .chain([day])
            .collect()
    });
    out.line(table(&["ID", "NAME", "ROLE", "SIGNS IN BY", "SINCE"], rows));
    Ok(())
}

fn path(id: &str) -> String {
    format!("/api/v1/users/{}", api::part(id))
}

/// Never an argument: those are seen by everybody on the machine.
fn password(out: &Out) -> Result<String> {
    if std::io::stdin().is_terminal() {
        out.note("Write the password and press Enter; it is shown as you write.");
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("there is no password to read")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
