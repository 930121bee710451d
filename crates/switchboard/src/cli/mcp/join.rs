//! An agent on a pipe, at a hub that runs already. Passes lines on as they are; when the hub stops, the
//! agent's calls fail, and its session goes on at the next hub.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use switchboard_mcp::rejoin::{Memory, Pass};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, Stdin, Stdout,
};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{sleep, timeout};

use super::super::out::Out;
use crate::app::{Hello, Welcome};

/// Between two attempts to find it.
const PAUSE: Duration = Duration::from_millis(250);
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
    let Place { socket, agent, away } = place;
    let mut hub = Link::enter(stream, agent).await?;
    let mut pipe = Pipe::new();
    let memory = Mutex::new(Memory::default());
    loop {
        if relay(&mut hub, &mut pipe, &memory).await? == Gone::Agent {
            return Ok(ExitCode::SUCCESS);
        }
        out.note("The hub is gone; its calls under way have failed. Waiting for it to come back.");
        let told = lock(&memory).lost();
        say(&mut pipe.output, &told).await.context("the agent's pipe broke")?;
        let mut refused = None;
        let found = tokio::select! {
            found = timeout(*away, find(socket, agent, &mut refused)) => found,
            () = pipe.closed() => return Ok(ExitCode::SUCCESS),
        };
        let Ok(found) = found else {
            if let Some(error) = refused {
                bail!("the hub does not take this agent any more: {error}");
            }
            bail!(
                "the hub stopped and did not come back within {} s; start it with `switchboard \
                 up`, and this agent again",
                away.as_secs()
            );
        };
        hub = found;
        timeout(ANSWER, resume(&mut hub, &mut pipe, &memory))
            .await
            .context("the hub that came back does not answer")??;
        out.note("The hub is back, and the session goes on.");
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

/// The hub that came back learns of the session before anything else is said.
async fn resume(hub: &mut Link, pipe: &mut Pipe, memory: &Mutex<Memory>) -> Result<()> {
    let again = lock(memory).again();
    say(&mut hub.write, &again).await.context("the hub went away")?;
    while lock(memory).is_waiting() {
        let Some(line) = next(&mut hub.read, &mut hub.line).await.context("the hub went away")?
        else {
            bail!("the hub stopped again");
        };
        let pass = lock(memory).from_hub(&line);
        match pass {
            Pass::On => say(&mut pipe.output, &[line]).await.context("the agent's pipe broke")?,
            Pass::Over => {}
            Pass::Refused => bail!("the hub that came back does not take the session"),
        }
    }
    let news = lock(memory).news();
    say(&mut pipe.output, &news).await.context("the agent's pipe broke")
}

/// Passes lines on, both ways, until somebody is gone.
async fn relay(hub: &mut Link, pipe: &mut Pipe, memory: &Mutex<Memory>) -> Result<Gone> {
    let Link { read, write, line: heard } = hub;
    let Pipe { input, output, line: said, unsent } = pipe;
    let outward = async {
        loop {
            if unsent.is_none() {
                *unsent = next(input, said).await.context("the agent's pipe broke")?;
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
            lock(memory).from_agent(line);
            *unsent = None;
        }
    };
    let inward = async {
        while let Ok(Some(line)) = next(read, heard).await {
            lock(memory).from_hub(&line);
            say(output, &[line]).await.context("the agent's pipe broke")?;
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

fn lock(memory: &Mutex<Memory>) -> std::sync::MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
