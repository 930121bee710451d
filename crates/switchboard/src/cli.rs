//! The command line: one file a command. Parses words into values, calls, prints; decides nothing.

mod add;
mod agent;
mod api;
mod applied;
mod approve;
mod audit;
mod call;
mod check;
mod complete;
mod declared;
mod diff;
mod guardian;
mod import;
mod link;
mod list;
mod logs;
mod mcp;
mod out;
mod people;
mod power;
mod progress;
mod reconnect;
mod remove;
mod report;
mod status;
mod target;
mod test;
mod token;
mod tools;
mod up;
mod usage;
mod user;
mod vault;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use switchboard_config::{Places, Selection, environment};

use self::out::Out;

/// Connects any AI agent to any external MCP server.
///
/// Servers are declared once, in a file; every agent then has exactly the tools it may use.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
struct Global {
    /// Print JSON, for scripts.
    #[arg(long, global = true)]
    json: bool,
    /// When to use colours; NO_COLOR is heeded too.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(up::Up),
    Status(status::Status),
    Check(check::Check),
    List(list::List),
    Add(Box<add::Add>),
    Remove(remove::Remove),
    Enable(power::Enable),
    Disable(power::Disable),
    Approve(approve::Approve),
    Import(import::Import),
    Test(test::Test),
    Tools(tools::Tools),
    Call(call::Call),
    Logs(logs::Logs),
    Reconnect(reconnect::Reconnect),
    Mcp(mcp::Mcp),
    Agent(agent::Agent),
    Token(token::Token),
    User(user::User),
    Audit(audit::Audit),
    Usage(usage::Usage),
    Vault(vault::Vault),
    Schema(complete::Schema),
    Completions(complete::Completions),
    Man(complete::Man),
    #[command(hide = true)]
    Guardian(guardian::Guardian),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let out = Out::new(cli.global.json, cli.global.color);
    match run(cli.command, &out) {
        Ok(code) => code,
        Err(error) => {
            out.failure(&error);
            ExitCode::FAILURE
        }
    }
}

/// The whole command line, for completions and man pages.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(command: Command, out: &Out) -> Result<ExitCode> {
    match command {
        Command::Up(up) => up.run(out),
        Command::Check(check) => check.run(out),
        Command::List(list) => list.run(out),
        Command::Add(add) => add.run(out),
        Command::Remove(remove) => remove.run(out),
        Command::Enable(enable) => enable.run(out),
        Command::Disable(disable) => disable.run(out),
        Command::Approve(approve) => approve.run(out),
        Command::Import(import) => import.run(out),
        Command::Status(status) => status.run(out),
        Command::Test(test) => test.run(out),
        Command::Tools(tools) => tools.run(out),
        Command::Call(call) => call.run(out),
        Command::Logs(logs) => logs.run(out),
        Command::Reconnect(reconnect) => reconnect.run(out),
        Command::Mcp(mcp) => mcp.run(out),
        Command::Agent(agent) => agent.run(out),
        Command::Token(token) => token.run(out),
        Command::User(user) => user.run(out),
        Command::Audit(audit) => audit.run(out),
        Command::Usage(usage) => usage.run(out),
        Command::Vault(vault) => vault.run(out),
        Command::Guardian(guardian) => Ok(guardian.run()),
        Command::Schema(schema) => schema.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(out),
    }
}

/// The named files, or whatever is found.
fn selection(files: &[PathBuf]) -> Selection {
    match files {
        [] => Selection::Search(places()),
        files => Selection::Named(files.to_vec()),
    }
}

/// Where files are looked for. Paths are shown as short as they can be: below the working directory
/// they are relative to it.
fn places() -> Places {
    Places { cwd: PathBuf::new(), ..environment::places() }
}
