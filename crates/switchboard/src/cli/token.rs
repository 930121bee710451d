//! `switchboard token`: what agents prove themselves with.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use hyper::Method;
use serde_json::{Value, json};

use super::api;
use super::out::{BOLD, DIM, Out, table};
use super::people::{ago, ask};
use crate::control::Said;
use crate::control::protocol::{PeopleAsk, TokenReport};

/// Make, list and revoke the tokens that agents prove themselves with.
#[derive(Debug, Args)]
pub(super) struct Token {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a token for an agent, or for a person who uses the API; it is shown once.
    Create {
        /// The agent.
        #[arg(long, required_unless_present = "user", conflicts_with = "user")]
        agent: Option<String>,
        /// The person.
        #[arg(long, value_name = "ID")]
        user: Option<String>,
        /// What you call it, to tell it from others.
        #[arg(long, default_value = "command line")]
        name: String,
        /// How long it is good: `30d`, `12h`; without it, until it is revoked.
        #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
        expires: Option<Duration>,
    },
    /// List the tokens; never the tokens themselves.
    List,
    /// Make a token worthless.
    Revoke {
        /// Its id, as `list` shows it.
        id: String,
    },
}

impl Token {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        match &self.command {
            Command::Create { user: Some(user), name, expires, .. } => {
                for_user(user, name, *expires, out)?;
            }
            Command::Create { agent, name, expires, .. } => {
                let lasting = expires.map(|expires| expires.as_secs());
                let (agent, name) = (agent.clone().unwrap_or_default(), name.clone());
                let made = tokens(ask(PeopleAsk::CreateToken { agent, name, lasting })?);
                for token in &made {
                    out.json(token);
                    out.line(token.token.as_deref().unwrap_or_default());
                    out.note(format!(
                        "{DIM}A token of {}; it is shown this once. Revoke it with `switchboard token revoke {}`.{DIM:#}",
                        token.of, token.id
                    ));
                }
            }
            Command::List => {
                let all = tokens(ask(PeopleAsk::Tokens)?);
                out.json(&all);
                if all.is_empty() {
                    out.line("There are no tokens. Make one with `switchboard token create --agent NAME`.");
                } else {
                    let header = ["ID", "OF", "NAME", "BEGINS", "STATE", "LAST USED"];
                    out.line(table(&header, all.iter().map(cells)));
                }
            }
            Command::Revoke { id } => {
                let all = tokens(ask(PeopleAsk::RevokeToken { id: id.clone() })?);
                out.json(&all);
                out.line(format!("{BOLD}{id}{BOLD:#} is worth nothing any more."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn for_user(user: &str, name: &str, expires: Option<Duration>, out: &Out) -> Result<()> {
    let mut body = json!({"user": user, "name": name});
    if let Some(expires) = expires {
        body["expires_in"] = json!(expires.as_secs());
    }
    let made = api::request(&Method::POST, "/api/v1/tokens", Some(&body))?;
    out.json(&made);
    out.line(made.get("secret").and_then(Value::as_str).unwrap_or_default());
    out.note(format!("{DIM}A token of user {user}; it is shown this once.{DIM:#}"));
    Ok(())
}

fn tokens(said: Vec<Said>) -> Vec<TokenReport> {
    let token = |said| if let Said::Token(token) = said { Some(token) } else { None };
    said.into_iter().filter_map(token).collect()
}

fn cells(token: &TokenReport) -> Vec<String> {
    let used = token.last_used.map(ago).unwrap_or_else(|| "never".to_owned());
    let hint = format!("{}…", token.hint);
    vec![token.id.clone(), token.of.clone(), token.name.clone(), hint, token.state.clone(), used]
}
