//! `switchboard agent`: who may call.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::out::{BOLD, Out, table};
use super::people::ask;
use crate::control::Said;
use crate::control::protocol::{AgentReport, PeopleAsk};

/// Add and remove agents beside those that files declare, and list all of them.
#[derive(Debug, Args)]
pub(super) struct Agent {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add an agent.
    Add {
        /// Its id, such as `cto`.
        id: String,
        /// A server it may use (may be repeated); without any, those of `[defaults]`.
        #[arg(long = "server", value_name = "NAME")]
        servers: Vec<String>,
        /// For people.
        #[arg(long)]
        description: Option<String>,
    },
    /// List them.
    List,
    /// Remove one, with its tokens.
    Remove {
        /// Its id.
        id: String,
    },
}

impl Agent {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        match &self.command {
            Command::Add { id, servers, description } => {
                let servers = (!servers.is_empty()).then(|| servers.clone());
                let (id, description) = (id.clone(), description.clone());
                let made =
                    agents(ask(PeopleAsk::AddAgent { id: id.clone(), servers, description })?);
                out.json(&made);
                out.line(format!(
                    "{BOLD}{id}{BOLD:#} is there; make a token for it with `switchboard token create --agent {id}`."
                ));
            }
            Command::List => {
                let all = agents(ask(PeopleAsk::Agents)?);
                out.json(&all);
                if all.is_empty() {
                    out.line("There are no agents. Add one with `switchboard agent add NAME`.");
                } else {
                    out.line(table(
                        &["ID", "OWNER", "SERVERS", "DECLARED IN", "DESCRIPTION"],
                        all.iter().map(cells),
                    ));
                }
            }
            Command::Remove { id } => {
                ask(PeopleAsk::RemoveAgent { id: id.clone() })?;
                out.json(&serde_json::json!({ "removed": id }));
                out.line(format!("{BOLD}{id}{BOLD:#} and its tokens are gone."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The agents that something was said of.
pub(super) fn agents(said: Vec<Said>) -> Vec<AgentReport> {
    let agent = |said| if let Said::Agent(agent) = said { Some(agent) } else { None };
    said.into_iter().filter_map(agent).collect()
}

fn cells(agent: &AgentReport) -> Vec<String> {
    let servers = agent.servers.as_ref().map_or("(default)".to_owned(), |names| names.join(", "));
    let description = agent.description.clone().unwrap_or_default();
    let owner = agent.owner.clone().unwrap_or_default();
    let place = agent.file.clone().unwrap_or_else(|| "store".to_owned());
    let id = if agent.enabled { agent.id.clone() } else { format!("{} [disabled]", agent.id) };
    vec![id, owner, servers, place, description]
}
