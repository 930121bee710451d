//! The command line. Parsed once, into a script and a place to serve it.

use std::fs;

use crate::script::document::{Answers, Script, Speaks};
use crate::script::rule::Rule;

pub(super) const HELP: &str = "\
scripted-mcp stdio|http|sse [OPTIONS]

  --script JSON|FILE     the script; the options below change it
  --only REVISION        the one revision it speaks
  --speaks WHAT          dual (as it is), dual_locked, session, stateless, or a revision
  --fault NAME[:K=V,…]   one more fault; also as JSON; repeatable
  --tools N              more tools
  --page N               entries per page of a list
  --name NAME            what it calls itself
  --answers json|sse     how it answers over HTTP
  --no-session-ids       HTTP sessions without an id
  --keep-alive MS        comments on event streams
  --retry MS             the hint on event streams
  --until-start K        the faults end after K starts …
  --counter FILE         … counted here
  --while-file FILE      the faults end when FILE is removed
  --record FILE          append everything received
  --port N               http, sse: the port on loopback; 0, as it is, takes a free one
  --while-stdin          http, sse: exit when stdin ends";

#[derive(Clone, Copy)]
pub(super) enum Transport {
    Stdio,
    Http,
    Sse,
}

/// Where HTTP is served, and until when.
pub(super) struct Place {
    pub(super) port: u16,
    pub(super) while_stdin: bool,
}

pub(super) struct Arguments {
    pub(super) transport: Transport,
    pub(super) script: Script,
    pub(super) place: Place,
}

impl Arguments {
    pub(super) fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut rest = arguments.into_iter();
        let transport = match rest.next().as_deref() {
            Some("stdio") => Transport::Stdio,
            Some("http") => Transport::Http,
            Some("sse") => Transport::Sse,
            other => return Err(format!("{} is no transport", other.unwrap_or("nothing"))),
        };
        let mut parsed =
            Self { transport, script: Script::new(), place: Place { port: 0, while_stdin: false } };
        while let Some(option) = rest.next() {
            parsed.option(&option, &mut rest)?;
        }
        if parsed.script.until_start.is_some() && parsed.script.counter.is_none() {
            return Err("--until-start needs --counter".to_owned());
        }
        Ok(parsed)
    }

    fn option(
        &mut self,
        option: &str,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), String> {
        let Self { script, place, .. } = self;
        match option {
            "--no-session-ids" => script.session_ids = false,
            "--while-stdin" => place.while_stdin = true,
            _ => {
                let value = rest.next().ok_or_else(|| format!("{option} needs a value"))?;
                with_value(script, place, option, &value)?;
            }
        }
        Ok(())
    }
}

fn with_value(
    script: &mut Script,
    place: &mut Place,
    option: &str,
    value: &str,
) -> Result<(), String> {
    match option {
        "--script" => *script = read(value)?,
        "--only" | "--speaks" => {
            script.speaks = Speaks::parse(value).ok_or_else(|| wrong(option, value))?;
        }
        "--fault" => script.faults.push(Rule::parse(value)?),
        "--tools" => script.tools = number(option, value)?,
        "--page" => script.page = Some(number(option, value)?),
        "--name" => script.name = value.to_owned(),
        "--answers" => {
            script.answers = match value {
                "json" => Answers::Json,
                "sse" => Answers::Sse,
                _ => return Err(wrong(option, value)),
            }
        }
        "--keep-alive" => script.keep_alive_ms = Some(number(option, value)?),
        "--retry" => script.retry_ms = Some(number(option, value)?),
        "--until-start" => script.until_start = Some(number(option, value)?),
        "--counter" => script.counter = Some(value.into()),
        "--while-file" => script.while_file = Some(value.into()),
        "--record" => script.record = Some(value.into()),
        "--port" => place.port = number(option, value)?,
        _ => return Err(format!("{option} is no option")),
    }
    Ok(())
}

fn read(value: &str) -> Result<Script, String> {
    let text = if value.trim_start().starts_with('{') {
        value.to_owned()
    } else {
        fs::read_to_string(value).map_err(|error| format!("{value}: {error}"))?
    };
    serde_json::from_str(&text).map_err(|error| format!("the script is not valid: {error}"))
}

fn number<N: std::str::FromStr>(option: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| wrong(option, value))
}

fn wrong(option: &str, value: &str) -> String {
    format!("{option} does not take `{value}`")
}
