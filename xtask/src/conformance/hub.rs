//! The suite against a real hub, in front of a server of each era, by HTTP and by pipes:
//!
//! ```text
//!  suite ──► mcp-relay (adds the token) ──► switchboard up ──► mcp-fixture
//! ```
//!
//! Each server is reached through its own door, where it has its own names, and one alone behind a hub without
//! prefixes through the door that all agents use. A warning counts as a failure, and so does a check that is skipped
//! and not listed.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::checks::Checks;
use super::{Side, Suite, Verdict, compare, each, expected, report};
use crate::process;

/// The revisions with the number of scenarios that each requires of a server.
const REVISIONS: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];
/// Where the expected failures are.
pub(super) const EXPECTED: &str = "crates/mcp/conformance";
/// What the server behind the hub speaks.
const ERAS: [&str; 3] = ["both", "session", "stateless"];
/// How the hub reaches it.
const TRANSPORTS: [&str; 2] = ["http", "stdio"];
const AGENT: &str = "suite";

/// What is not as the lists say.
pub(super) fn run(suite: &Suite) -> Result<Vec<String>> {
    let many = Stage::set(suite, "hub", "", servers())?;
    let alone = Stage::set(suite, "bare", "[hub]\nmcp_names = \"bare\"\n", [("both", "http")])?;
    // Never two runs on one server: they change its lists.
    let doors = servers().map(|(era, transport)| {
        let server = name(era, transport);
        Door { stage: &many, path: format!("/mcp/servers/{server}"), server }
    });
    let bare = Door { stage: &alone, path: "/mcp".to_owned(), server: "bare".to_owned() };
    let doors: Vec<Door<'_>> = doors.chain([bare]).collect();
    let wrong = each(&doors, |door| -> Result<Vec<String>> {
        let wrong = REVISIONS.map(|revision| door.examine(suite, revision));
        Ok(wrong.into_iter().collect::<Result<Vec<_>>>()?.concat())
    })?;
    Ok(wrong.concat())
}

fn servers() -> impl Iterator<Item = (&'static str, &'static str)> {
    ERAS.into_iter().flat_map(|era| TRANSPORTS.map(|transport| (era, transport)))
}

fn name(era: &str, transport: &str) -> String {
    format!("{era}-{transport}")
}

/// A hub with its servers behind it and the relay in front, ended when it drops.
struct Stage {
    relay: Program,
    _hub: Program,
    _servers: Vec<Program>,
    _scratch: TempDir,
}

/// A door that the suite comes to, and what it calls what is behind it.
struct Door<'s> {
    stage: &'s Stage,
    path: String,
    server: String,
}

impl Stage {
    /// A hub of that name, whose file begins with `settings`, before these servers.
    fn set(
        suite: &Suite,
        hub: &str,
        settings: &str,
        servers: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Result<Self> {
        let scratch = tempfile::tempdir().context("no scratch directory can be made")?;
        let fixture = suite.program("mcp-fixture")?;
        let (mut file, mut started) = (settings.to_owned(), Vec::new());
        let mut all = Vec::new();
        for (era, transport) in servers {
            all.push(name(era, transport));
            writeln!(file, "[servers.{}]", name(era, transport))?;
            if transport == "http" {
                let mut command = Command::new(&fixture);
                let server = Program::start(command.args(["--era", era, "--port", "0"]))?;
                writeln!(file, "url = {:?}", server.url)?;
                started.push(server);
            } else {
                writeln!(file, "command = {fixture:?}\nargs = [\"--era\", {era:?}]")?;
            }
        }
        writeln!(file, "[agents.{AGENT}]\nservers = {all:?}")?;
        write(&scratch.path().join("switchboard.toml"), &file)?;
        let program = suite.program("switchboard")?;
        let switchboard = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(scratch.path()).env("HOME", scratch.path());
            for variable in ["SWITCHBOARD_STATE_DIR", "SWITCHBOARD_DATA_DIR", "XDG_CONFIG_HOME"] {
                command.env(variable, scratch.path().join("own"));
            }
            command
        };
        let token = process::output(switchboard(&["token", "create", "--agent", AGENT]))?;
        let token = token.split_whitespace().find(|word| word.starts_with("swb_"));
        let token_file = scratch.path().join("token");
        write(&token_file, token.context("`switchboard token create` printed no token")?)?;
        let mut up = switchboard(&["up", "--listen", "127.0.0.1:0", "--json"]);
        let hub = Program::start(up.stderr(suite.log(hub)?))?;
        process::output(switchboard(&["test", "--all"])).context("a server is not connected")?;
        let mut relay = Command::new(suite.program("mcp-relay")?);
        relay.args(["--to", &hub.url, "--port", "0", "--token-file"]).arg(&token_file);
        let relay = Program::start(&mut relay)?;
        Ok(Self { relay, _hub: hub, _servers: started, _scratch: scratch })
    }
}

impl Door<'_> {
    fn examine(&self, suite: &Suite, (revision, count): (&str, usize)) -> Result<Vec<String>> {
        let Self { stage, path, server } = self;
        let scenarios = suite.required(Side::Server, revision, count)?;
        let place = suite.results.join("hub").join(server).join(revision);
        fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
        let mut command = suite.command();
        let url = format!("{}{path}", stage.relay.url);
        command.args(["server", "--url", &url, "--requirements", revision]);
        command.arg("--output-dir").arg(&place).stdin(Stdio::null());
        let output = command.output().context("Node did not start")?;
        write(&place.join("said.txt"), [output.stdout, output.stderr].concat())?;
        let verdicts = scenarios
            .iter()
            .map(|scenario| {
                let Checks { good: passed, skipped } = checks(&place, scenario)?;
                Ok(Verdict { scenario: scenario.clone(), passed, skipped })
            })
            .collect::<Result<Vec<Verdict>>>()?;
        // A suite that is broken must not look like a hub that passes.
        let good = verdicts.iter().all(|verdict| verdict.passed);
        match output.status.code() {
            Some(0) => {}
            Some(1) if !good => {}
            code => bail!("the suite came to no verdict ({code:?}): see {}", place.display()),
        }
        let outcome = compare(&verdicts, &expected(EXPECTED, revision)?);
        Ok(report(&format!("the hub before {server} at {revision}"), count, outcome))
    }
}

/// What became of a scenario's checks, by the file that the suite leaves for it.
fn checks(place: &Path, scenario: &str) -> Result<Checks> {
    let prefix = format!("server-{scenario}-");
    let entries =
        fs::read_dir(place).with_context(|| format!("cannot read {}", place.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", place.display()))?;
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        // What follows the name is the time.
        if rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
            files.push(entry.path().join("checks.json"));
        }
    }
    let [file] = &files[..] else { bail!("{} files tell of {scenario}", files.len()) };
    Checks::read(file)
}

fn write(place: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    fs::write(place, text).with_context(|| format!("cannot write {}", place.display()))
}

/// A program that printed where it is, ended when it drops.
struct Program {
    child: Child,
    url: String,
}

impl Program {
    fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{name} did not start"))?;
        let output = child.stdout.take().with_context(|| format!("{name} has no output"))?;
        let mut program = Self { child, url: String::new() };
        for line in BufReader::new(output).lines() {
            let line = line.with_context(|| format!("cannot read what {name} says"))?;
            if let Some(url) = url(&line) {
                program.url = url.to_owned();
                return Ok(program);
            }
        }
        bail!("{name} did not say where it is")
    }
}

/// The URL in a line, whether it stands alone or in JSON.
fn url(line: &str) -> Option<&str> {
    let url = &line[line.find("http://127.0.0.1:")?..];
    Some(url.split(['"', ' ']).next().unwrap_or(url))
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself. What a hub started is ended by its guardian.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_what_programs_say() {
        assert_eq!(url("http://127.0.0.1:1/mcp"), Some("http://127.0.0.1:1/mcp"));
        assert_eq!(url(r#"  "url": "http://127.0.0.1:2","#), Some("http://127.0.0.1:2"));
        assert_eq!(url("{"), None);
    }
}
