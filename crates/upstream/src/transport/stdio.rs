//! A server as a child process that speaks on its standard input and output. Owns the process from
//! its start to its end; never leaves one behind.

mod command;
mod environment;
mod group;
mod pump;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_model::Secret;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::channel::Channel;
use crate::connect::Attempt;
use crate::context::Context;
use crate::error::ConnectError;
use crate::files;
use crate::transport::Link;

/// Messages that wait to be written; beyond that, senders wait.
const QUEUE: usize = 256;
/// How long a server has to end by itself when its input closes.
const FAREWELL: Duration = Duration::from_millis(400);
/// How long output may still come after the process has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Every start of a process has a number, in its environment, by which what it left is found.
static LAUNCHES: AtomicU64 = AtomicU64::new(1);

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) command: &'a Secret,
    pub(crate) args: &'a [Secret],
    pub(crate) env: &'a [(String, Secret)],
    pub(crate) cwd: Option<&'a Secret>,
    pub(crate) grace: Duration,
}

/// A running server. Dropped without [`Process::stop`], it is stopped all the same.
pub(crate) struct Process {
    pub(crate) pid: u32,
    stop: CancellationToken,
    gone: watch::Receiver<bool>,
    life: Arc<Life>,
}

/// When the process last said anything, and how long it has to end.
pub(crate) struct Life {
    start: Instant,
    last: AtomicU64,
    grace: AtomicU64,
}

impl Life {
    fn note(&self) {
        self.last.store(millis(self.start.elapsed()), Ordering::Relaxed);
    }
}

impl Process {
    /// How long nothing has come from it.
    pub(crate) fn quiet(&self) -> Duration {
        let last = Duration::from_millis(self.life.last.load(Ordering::Relaxed));
        self.life.start.elapsed().saturating_sub(last)
    }

    /// Ends it and everything it started; returns when nothing of it runs.
    pub(crate) async fn stop(&self, grace: Duration) {
        self.life.grace.store(millis(grace), Ordering::Relaxed);
        self.stop.cancel();
        let mut gone = self.gone.clone();
        // The keeper is gone too if the channel is closed.
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts the process and the tasks that serve its pipes.
pub(crate) fn open(
    attempt: &Attempt<'_>,
    launch: &Launch<'_>,
) -> Result<(Arc<Channel>, Process), ConnectError> {
    let (context, tasks) = (attempt.context, attempt.tasks);
    let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    let mut child = start(context, launch, number)?;
    let pid = child.id().unwrap_or_default();
    context.started(pid);
    let (queue, messages) = mpsc::channel(QUEUE);
    let end = attempt.scope.child_token();
    let channel = Channel::new(Link::Pipe(queue), end, tasks.clone(), attempt.journal.clone());
    let life = Arc::new(Life {
        start: Instant::now(),
        last: AtomicU64::new(0),
        grace: AtomicU64::new(millis(launch.grace)),
    });
    let stop = CancellationToken::new();
    let (heard, unheard) = (CancellationToken::new(), CancellationToken::new());
    if let Some(stdin) = child.stdin.take() {
        tasks.spawn(pump::write(stdin, messages, channel.clone(), unheard.clone()));
    }
    if let Some(stdout) = child.stdout.take() {
        tasks.spawn(pump::read(stdout, channel.clone(), life.clone(), heard.clone()));
    }
    if let Some(stderr) = child.stderr.take() {
        tasks.spawn(pump::errors(stderr, channel.clone(), life.clone()));
    }
    let (told, gone) = watch::channel(false);
    let keeper = Keeper {
        child,
        pid,
        channel: channel.clone(),
        stop: stop.clone(),
        heard,
        unheard,
        launch: number,
        life: life.clone(),
        context: context.clone(),
    };
    tasks.spawn(async move {
        keeper.keep().await;
        told.send_replace(true);
    });
    Ok((channel, Process { pid, stop, gone, life }))
}

fn start(context: &Context, launch: &Launch<'_>, number: u64) -> Result<Child, ConnectError> {
    let declared = launch.command.expose();
    let environment = environment::of(context, launch.env, number);
    let path = environment::path(&environment);
    let program = command::find(declared, path, launch.cwd.map(Secret::expose))?;
    let mut command = Command::new(program);
    command
        .args(launch.args.iter().map(Secret::expose))
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value.expose())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = launch.cwd {
        if !std::path::Path::new(cwd.expose()).is_dir() {
            return Err(ConnectError::NoDirectory(cwd.expose().to_owned()));
        }
        command.current_dir(cwd.expose());
    }
    group::separate(&mut command);
    let child = command
        .spawn()
        .map_err(|source| ConnectError::Spawn { command: declared.to_owned(), source })?;
    files::give_back(child.id());
    Ok(child)
}

/// Waits for the process to end, or ends it.
struct Keeper {
    child: Child,
    pid: u32,
    channel: Arc<Channel>,
    stop: CancellationToken,
    heard: CancellationToken,
    unheard: CancellationToken,
    launch: u64,
    life: Arc<Life>,
    context: Context,
}

impl Keeper {
    async fn keep(mut self) {
        match self.ended().await {
            Some(status) => {
                // What it said last may hold an answer, or the reason.
                let _ = timeout(LAST_WORDS, self.heard.cancelled()).await;
                let how =
                    status.map_or_else(|error| error.to_string(), |status| status.to_string());
                self.channel.close(self.epitaph(&how));
            }
            None => {
                // Whoever told why it ends was first.
                self.channel.close("it was stopped");
                if timeout(FAREWELL, self.child.wait()).await.is_err() {
                    group::terminate(self.pid);
                    if timeout(self.grace(), self.child.wait()).await.is_err() {
                        group::kill(self.pid);
                        // It cannot refuse; only a process in the kernel's hands is not gone at once.
                        let _ = timeout(Duration::from_secs(5), self.child.wait()).await;
                    }
                }
            }
        }
        group::clear(self.pid, self.grace()).await;
        group::clear_launch(&self.context.instance, self.launch, self.grace()).await;
        self.context.stopped(self.pid);
    }

    /// Returns with its status when it has ended by itself, without one when it has to go.
    async fn ended(&mut self) -> Option<io::Result<ExitStatus>> {
        let closed = tokio::select! {
            status = self.child.wait() => return Some(status),
            () = self.stop.cancelled() => return None,
            () = self.heard.cancelled() => "output",
            () = self.unheard.cancelled() => "input",
        };
        // Most that close a pipe are about to end, and how they end says more.
        if let Ok(status) = timeout(FAREWELL, self.child.wait()).await {
            return Some(status);
        }
        self.channel.close(format!("the server closed its {closed} and runs on"));
        None
    }

    fn grace(&self) -> Duration {
        Duration::from_millis(self.life.grace.load(Ordering::Relaxed))
    }

    fn epitaph(&self, how: &str) -> String {
        match self.channel.journal.last_words() {
            Some(words) => format!("the server ended ({how}); it last said: {words}"),
            None => format!("the server ended ({how}) without a word"),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
