//! A server behind a pipe with nothing in between: calls in a closed loop, as the load generator makes them, which speaks
//! HTTP alone. One thread writes, reads and checks, and so does the server: with one call under way a round trip is all
//! that there is, with many it is what these two threads can do, and of them often this one that is the limit. What it
//! tells of the server itself is the processor time.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::load::{Amount, Era, Figures};
use crate::say::Stopwatch;

/// As long as the load generator takes.
const WARM: Duration = Duration::from_millis(300);
/// What is under way at most: its answers have to fit into a pipe of 64 KB. So the server never waits to write, and this
/// side never for a server that does not read.
const MOST: usize = 256;
/// What the system counts processor time in.
const TICK_US: f64 = 10_000.0;

/// A server that is started for each measurement.
pub(super) struct Pipe(pub(super) PathBuf);

impl Pipe {
    pub(super) const NAME: &str = "direct, stdio";

    /// Calls for a while.
    pub(super) fn calls(&self, amount: Amount) -> Result<Figures> {
        let measured = Server::start(&self.0, amount.era).and_then(|server| server.measure(amount));
        measured.with_context(|| format!("{} was not measured", Self::NAME))
    }
}

/// A server that runs; it ends with this.
struct Server {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read and is no whole line yet.
    begun: Vec<u8>,
}

impl Server {
    fn start(program: &Path, era: Era) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().context("it does not start")?;
        let input = process.stdin.take().context("it has no input")?;
        let output = process.stdout.take().context("it has no output")?;
        let mut server = Self { process, input, output, begun: Vec::new() };
        if era == Era::Session {
            let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"xtask","version":"0"}}"#;
            server.write(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n"
            ))?;
            let mut answer = String::new();
            server.read(|line| line.clone_into(&mut answer))?;
            ensure!(answer.contains("\"protocolVersion\":\"2025-11-25\""), "it says {answer}");
            server.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        }
        Ok(server)
    }

    fn measure(mut self, Amount { connections, seconds, era }: Amount) -> Result<Figures> {
        ensure!(connections <= MOST, "the answers to {connections} calls do not fit into a pipe");
        let length = Duration::from_secs_f64(seconds);
        let (clock, mut flight) = (Stopwatch::start(), Flight::new(connections));
        let mut times = Vec::new();
        // When it was warm, and what it had taken by then.
        let mut begun: Option<(Duration, f64)> = None;
        let mut calls: Vec<u64> = (0..connections as u64).collect();
        loop {
            let requests: String = calls.iter().map(|id| request(era, *id)).collect();
            flight.take_off(&calls, clock.read());
            self.write(&requests)?;
            calls.clear();
            let mut landed = Ok(());
            self.read(|line| match answered(line).and_then(|id| Ok((id, flight.land(id)?))) {
                Ok((id, sent)) => {
                    times.push(clock.read().saturating_sub(sent));
                    calls.push(id + connections as u64);
                }
                Err(error) => landed = Err(error),
            })?;
            landed?;
            let now = clock.read();
            match begun {
                None if now >= WARM => {
                    begun = Some((now, taken(&self.process)?));
                    times.clear();
                }
                Some((start, before)) if now - start >= length => {
                    let taken = taken(&self.process)? - before;
                    return figures(times, now - start, taken);
                }
                _ => {}
            }
        }
    }

    fn write(&mut self, lines: &str) -> Result<()> {
        self.input.write_all(lines.as_bytes()).context("it has ended")
    }

    /// Reads what there is, and at least one line.
    fn read(&mut self, mut take: impl FnMut(&str)) -> Result<()> {
        let (mut part, mut any) = ([0; 1 << 16], false);
        while !any {
            let count = self.output.read(&mut part).context("it cannot be read")?;
            ensure!(count > 0, "it has ended");
            self.begun.extend(&part[..count]);
            let whole = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            for line in self.begun[..whole].split_inclusive(|byte| *byte == b'\n') {
                take(std::str::from_utf8(line).context("it does not speak UTF-8")?);
                any = true;
            }
            self.begun.drain(..whole);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is under way: one call in each place, and the next in the place of the one that was answered.
struct Flight(Vec<Option<(u64, Duration)>>);

impl Flight {
    fn new(places: usize) -> Self {
        Self(vec![None; places])
    }

    fn place(&mut self, id: u64) -> &mut Option<(u64, Duration)> {
        let at = id as usize % self.0.len();
        &mut self.0[at]
    }

    fn take_off(&mut self, ids: &[u64], now: Duration) {
        for id in ids {
            *self.place(*id) = Some((*id, now));
        }
    }

    /// When it was sent.
    fn land(&mut self, id: u64) -> Result<Duration> {
        let (_, sent) = self
            .place(id)
            .take_if(|(awaited, _)| *awaited == id)
            .with_context(|| format!("an answer to {id}, which is not under way"))?;
        Ok(sent)
    }
}

/// As long as the load generator's, and another for each call.
fn text(id: u64) -> String {
    format!("{:x<32}", format!("pipe-{id}-"))
}

fn request(era: Era, id: u64) -> String {
    let meta = match era {
        Era::Session => "",
        Era::Stateless => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"xtask","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}},"#
        }
    };
    let text = text(id);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{{meta}\"name\":\"echo\",\"arguments\":{{\"text\":\"{text}\"}}}}}}\n"
    )
}

/// Which call it answers, with the text of that call.
fn answered(line: &str) -> Result<u64> {
    let wrong = || format!("a wrong answer: {line}");
    let (_, rest) = line.split_once("\"id\":").with_context(wrong)?;
    let end = rest.find(|one: char| !one.is_ascii_digit()).with_context(wrong)?;
    let id = rest[..end].parse().with_context(wrong)?;
    let is_good = line.contains(&format!("\"text\":\"{}\"", text(id)))
        && !line.contains("\"isError\":true")
        && line.ends_with("}\n");
    ensure!(is_good, wrong());
    Ok(id)
}

/// What the process has taken of the processors so far, in microseconds.
fn taken(process: &Child) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id()));
    ticks(&stat.context("it has ended")?).map(|ticks| ticks * TICK_US)
}

/// The user's and the system's. What comes before is the name, in which anything may be.
fn ticks(stat: &str) -> Result<f64> {
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' '));
    let mut both = fields.context("the system tells no time")?.skip(11).map(str::parse::<f64>);
    match (both.next(), both.next()) {
        (Some(Ok(user)), Some(Ok(system))) => Ok(user + system),
        _ => Err(anyhow::anyhow!("the system tells no time")),
    }
}

fn figures(mut times: Vec<Duration>, length: Duration, taken: f64) -> Result<Figures> {
    ensure!(!times.is_empty(), "nothing was answered");
    times.sort_unstable();
    let calls = times.len() as f64;
    let last = times.len() - 1;
    let at = |part: f64| times[(part * last as f64).round() as usize].as_secs_f64() * 1e6;
    Ok(Figures {
        rate: calls / length.as_secs_f64(),
        p50: at(0.5),
        p99: at(0.99),
        cpu: taken / calls,
        calls,
    })
}

#[cfg(test)]
mod tests;
