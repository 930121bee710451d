//! An agent on a pipe, at a hub that runs already. Passes lines on as they are; when the hub stops, the
//! agent's calls fail, and its session goes on at the next hub.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use switchboard_mcp::rejoin::{Memory, Pass};
use switchboard_model::{Clock as _, SystemClock};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, Stdin, Stdout,
};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::super::out::Out;
use crate::app::{Hello, Welcome};

/// Between two attempts to find it.
const PAUSE: Duration = Duration::from_millis(250);
/// As good as never; whatever changes that rings.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the next hub may take to know the session.
const ANSWER: Duration = Duration::from_secs(30);

/// Where the hub is found, and as whom.
pub(super) struct Place {
    pub(super) socket: PathBuf,
    pub(super) agent: String,
    /// How long the hub may be away.
    pub(super) away: Duration,
}

/// Serves the agent until it, or the hub for good, is gone.
pub(super) async fn serve(stream: UnixStream, place: &Place, out: &Out) -> Result<ExitCode> {
    let mut hub = Link::enter(stream, &place.agent).await?;
    let mut pipe = Pipe::new();
    let memory = Remembered::default();
    while relay(&mut hub, &mut pipe, &memory).await? == Gone::Hub {
        out.note("The hub is gone; its calls under way have failed. Waiting for it to come back.");
        let Some(next) = rejoin(place, &mut pipe, &memory).await? else { break };
        hub = next;
        out.note("The hub is back, and the session goes on.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the next hub that stays long enough to take the session; none if the agent goes before.
async fn rejoin(place: &Place, pipe: &mut Pipe, memory: &Remembered) -> Result<Option<Link>> {
    loop {
        let told = memory.lock().lost();
        say(&mut pipe.output, &told).await.context("the agent's pipe broke")?;
        let Some(mut hub) = wait(place, pipe).await? else { return Ok(None) };
        let taken = timeout(ANSWER, resume(&mut hub, pipe, memory))
            .await
            .context("the hub that came back does not answer")??;
        if taken {
            return Ok(Some(hub));
        }
        sleep(PAUSE).await;
    }
}

/// Waits for the hub to come back; no longer than it may be away, or than the agent is there.
async fn wait(place: &Place, pipe: &mut Pipe) -> Result<Option<Link>> {
    let mut refused = None;
    let found = tokio::select! {
        found = timeout(place.away, find(&place.socket, &place.agent, &mut refused)) => found,
        () = pipe.closed() => return Ok(None),
    };
    match (found, refused) {
        (Ok(hub), _) => Ok(Some(hub)),
        (Err(_), Some(error)) => bail!("the hub does not take this agent any more: {error}"),
        (Err(_), None) => bail!(
            "the hub stopped and did not come back within {} s; start it with `switchboard \
             up`, and this agent again",
            place.away.as_secs()
        ),
    }
}

/// A connection to the hub.
struct Link {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
    /// What was read of a line.
    line: Vec<u8>,
}

/// The agent's pipe.
struct Pipe {
    input: BufReader<Stdin>,
    output: Stdout,
    /// What was read of a line, also when the hub went away in the middle of it.
    line: Vec<u8>,
    /// A line that no hub has got.
    unsent: Option<Bytes>,
}

/// What is remembered of the agent's session.
#[derive(Default)]
struct Remembered {
    memory: Mutex<Memory>,
    /// Rings when the hub may have to be asked again for something.
    refused: Notify,
}

/// Who is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    Agent,
    Hub,
}

impl Link {
    /// Says who it is.
    async fn enter(stream: UnixStream, agent: &str) -> Result<Self> {
        let (read, mut write) = stream.into_split();
        let mut read = BufReader::new(read);
        let mut hello = serde_json::to_vec(&Hello { agent: agent.to_owned() })?;
        hello.push(b'\n');
        write.write_all(&hello).await.context("the hub went away")?;
        let mut line = String::new();
        read.read_line(&mut line).await.context("the hub went away")?;
        let welcome: Welcome = serde_json::from_str(&line)
            .context("the running hub's answer cannot be read; restart it with this version")?;
        if let Some(error) = welcome.error {
            bail!("{error}");
        }
        Ok(Self { read, write, line: Vec::new() })
    }
}

impl Remembered {
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the hub is to be asked again, once it is time for that.
    async fn due(&self) -> Vec<Bytes> {
        loop {
            let now = SystemClock.monotonic();
            let due = self.lock().due(now);
            if !due.is_empty() {
                return due;
            }
            let next = self.lock().next();
            tokio::select! {
                () = self.refused.notified() => {}
                () = sleep(next.map_or(FOREVER, |next| next.saturating_duration_since(now))) => {}
            }
        }
    }
}

impl Pipe {
    fn new() -> Self {
        let input = BufReader::new(tokio::io::stdin());
        Self { input, output: tokio::io::stdout(), line: Vec::new(), unsent: None }
    }

    /// Ready when the agent has gone; what it says meanwhile waits.
    async fn closed(&mut self) {
        match self.input.fill_buf().await {
            Ok(some) if !some.is_empty() => std::future::pending().await,
            _ => {}
        }
    }
}

/// Waits for a hub that takes this agent; what the last one said that did not.
async fn find(socket: &Path, agent: &str, refused: &mut Option<String>) -> Link {
    loop {
        match UnixStream::connect(socket).await {
            Ok(stream) => match Link::enter(stream, agent).await {
                Ok(link) => return link,
                // One that stops again, or has not read its files yet, or where the agent is disabled.
                Err(error) => *refused = Some(error.to_string()),
            },
            Err(_) => *refused = None,
        }
        sleep(PAUSE).await;
    }
}

/// The hub that came back learns of the session before anything else is said; `false` if it went away again.
async fn resume(hub: &mut Link, pipe: &mut Pipe, memory: &Remembered) -> Result<bool> {
    let again = memory.lock().again();
    if say(&mut hub.write, &again).await.is_err() {
        return Ok(false);
    }
    while memory.lock().is_waiting() {
        let Some(line) = hear(&mut hub.read, &mut hub.line).await else { return Ok(false) };
        pass(line, &mut pipe.output, memory).await?;
    }
    let news = memory.lock().news();
    say(&mut pipe.output, &news).await.context("the agent's pipe broke")?;
    Ok(true)
}

/// What the hub said goes to the agent, if it is the agent's.
async fn pass(line: Bytes, output: &mut Stdout, memory: &Remembered) -> Result<()> {
    let pass = memory.lock().from_hub(&line, SystemClock.monotonic());
    memory.refused.notify_one();
    let told = match pass {
        Pass::On => line,
        Pass::Instead(told) => told.into(),
        Pass::Over => return Ok(()),
        Pass::Refused => bail!("the hub that came back does not take the session"),
    };
    say(output, &[told]).await.context("the agent's pipe broke")
}

/// Passes lines on, both ways, until somebody is gone.
async fn relay(hub: &mut Link, pipe: &mut Pipe, memory: &Remembered) -> Result<Gone> {
    let Link { read, write, line: heard } = hub;
    let Pipe { input, output, line: said, unsent } = pipe;
    let outward = async {
        loop {
            if unsent.is_none() {
                tokio::select! {
                    line = next(input, said) => *unsent = line.context("the agent's pipe broke")?,
                    again = memory.due() => match say(write, &again).await {
                        Ok(()) => continue,
                        Err(_) => return Ok(Gone::Hub),
                    },
                }
            }
            let Some(line) = unsent else {
                // The agent said all it had to say; what is under way is still answered.
                let _ = write.shutdown().await;
                return anyhow::Ok(Gone::Agent);
            };
            // A hub that did not get all of a line has done nothing for it.
            if say(write, &[&*line]).await.is_err() {
                return Ok(Gone::Hub);
            }
            memory.lock().from_agent(line);
            *unsent = None;
        }
    };
    let inward = async {
        while let Some(line) = hear(read, heard).await {
            pass(line, output, memory).await?;
        }
        anyhow::Ok(())
    };
    let (mut outward, mut inward) = (std::pin::pin!(outward), std::pin::pin!(inward));
    tokio::select! {
        done = &mut inward => done.map(|()| Gone::Hub),
        gone = &mut outward => {
            // What the hub still had to say, whoever is gone.
            inward.await?;
            gone
        }
    }
}

/// The hub's next line, if all of it came: a hub that is killed may leave half of one, which is no message.
async fn hear(read: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> Option<Bytes> {
    next(read, line).await.ok().flatten().filter(|line| line.ends_with(b"\n"))
}

/// The next line; a read that is given up leaves what it has in `line`.
async fn next(
    read: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Option<Bytes>> {
    read.read_until(b'\n', line).await?;
    let whole = Bytes::from(std::mem::take(line));
    Ok((!whole.is_empty()).then_some(whole))
}

/// Says lines, each of which ends where it should.
async fn say(
    write: &mut (impl AsyncWrite + Unpin),
    lines: &[impl AsRef<[u8]>],
) -> std::io::Result<()> {
    for line in lines {
        let line = line.as_ref();
        write.write_all(line).await?;
        if !line.ends_with(b"\n") {
            write.write_all(b"\n").await?;
        }
    }
    write.flush().await
}
