//! One task per server: connects, serves, waits, tries again, for ever, until told otherwise. The
//! one writer of the server's state.

mod live;
pub(crate) mod poll;
mod refresh;
mod refusal;
mod streams;
mod subscribe;
pub(crate) mod unheard;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{EventKind, Resolved, ServerSpec, Start, Trouble, Until, state::Input};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff;
use crate::context::Context;
use crate::error::ConnectError;
use crate::server::{Command, Server};

/// Keeps one server connected.
pub(crate) struct Supervisor {
    server: Arc<Server>,
    context: Context,
    commands: mpsc::Receiver<Command>,
    spec: Arc<ServerSpec>,
    /// Whoever waits for the change to be taken over.
    waiting: Vec<oneshot::Sender<()>>,
    /// Whoever waits for the end.
    ending: Option<oneshot::Sender<()>>,
    /// A server that starts late was called for.
    called: bool,
    /// What is listed is of what is declared now.
    listed: bool,
}

/// What comes after a try.
enum Then {
    /// The next one, at once.
    Again,
    /// The next one, then.
    At(Instant),
    /// Nothing, until something changes.
    Park,
    /// The end.
    End,
}

/// Why a try, or the connection it made, is over.
enum Over {
    /// No connection came to be.
    Failed(ConnectError),
    /// It broke.
    Broken(String),
    /// The server no longer knows the session, of which so many calls were served.
    Forgotten { served: u64 },
    /// The server wants to know who calls.
    Challenged { detail: String, challenge: Option<String> },
    /// Nobody used it.
    Idle,
    /// Somebody said so.
    Told(Then),
    /// It is settled already what comes next.
    Settled(Then),
}

impl Supervisor {
    pub(crate) fn new(
        server: Arc<Server>,
        context: Context,
        commands: mpsc::Receiver<Command>,
        begun: oneshot::Sender<()>,
    ) -> Self {
        let spec = server.spec.load_full();
        let (waiting, ending) = (vec![begun], None);
        Self { server, context, commands, spec, waiting, ending, called: false, listed: false }
    }

    /// The whole life of a declared server.
    pub(crate) async fn run(mut self) {
        loop {
            let next = match self.attempt().await {
                // A change counts as taken over when the state says so, not before.
                then @ (Then::Again | Then::End) => then,
                Then::At(at) => {
                    self.acknowledge();
                    self.rest(Some(at)).await
                }
                Then::Park => {
                    self.acknowledge();
                    self.rest(None).await
                }
            };
            if matches!(next, Then::End) {
                break;
            }
        }
        self.server.input(Input::Rest { until: Until::Told });
        self.server.bus.send(&self.server.key, EventKind::Removed);
        self.acknowledge();
        if let Some(ending) = self.ending.take() {
            let _ = ending.send(());
        }
    }

    /// One try: from the declaration to the end of the connection that it made.
    async fn attempt(&mut self) -> Then {
        let Some(resolved) = self.ready() else { return Then::Park };
        self.server.input(Input::Begin { now: self.context.clock.now() });
        self.acknowledge();
        let (tasks, scope) = (TaskTracker::new(), CancellationToken::new());
        let over = self.live(&resolved, &tasks, &scope).await;
        drop(resolved);
        // Nothing of this try is left when the next one begins.
        scope.cancel();
        tasks.close();
        tasks.wait().await;
        self.conclude(over)
    }

    /// The values to connect with, or the state that says why there are none.
    fn ready(&mut self) -> Option<Resolved> {
        let (server, spec) = (&self.server, &self.spec);
        let input = if !spec.enabled {
            Input::Disable
        } else if !self.context.gate.is_approved(&server.key, spec) {
            Input::AwaitApproval
        } else if spec.start == Start::Lazy && !std::mem::take(&mut self.called) {
            Input::Rest { until: Until::NextCall }
        } else {
            match spec.resolve(&*self.context.env) {
                Ok(resolved) => {
                    server.journal.conceal(resolved.concealed());
                    return Some(resolved);
                }
                Err(unresolved) => Input::Lack { variables: unresolved.variables },
            }
        };
        server.input(input);
        None
    }

    fn conclude(&mut self, over: Over) -> Then {
        match over {
            Over::Settled(then) => then,
            Over::Told(then) => {
                self.server.input(Input::Renew);
                then
            }
            Over::Idle => {
                self.server.input(Input::Rest { until: Until::NextCall });
                Then::Park
            }
            Over::Challenged { detail, challenge }
            | Over::Failed(ConnectError::Unauthorized { detail, challenge }) => {
                let url = self.context.gate.sign_in(&self.server.key, challenge.as_deref());
                let detail = self.server.journal.hide(&detail);
                self.server.input(Input::Challenge { url, detail });
                Then::Park
            }
            Over::Failed(error) => self.fail(error.trouble_at(&self.spec.transport)),
            // Sessions expire; that is no failure of one that was good for something.
            Over::Forgotten { served: 1.. } => {
                self.server.input(Input::Begin { now: self.context.clock.now() });
                Then::Again
            }
            Over::Forgotten { served: 0 } => self.broken("the server has forgotten the session"),
            Over::Broken(reason) => self.broken(&reason),
        }
    }

    fn broken(&mut self, reason: &str) -> Then {
        self.fail(Trouble {
            code: "ended",
            message: format!("the connection ended: {reason}"),
            remedy: String::new(),
        })
    }

    fn fail(&mut self, error: Trouble) -> Then {
        let error = Trouble { message: self.server.journal.hide(&error.message), ..error };
        let attempt = self.server.state.borrow().failures().saturating_add(1);
        let wait = backoff::jittered(attempt);
        tracing::debug!(server = %self.server.key, attempt, "{}", error.message);
        // A server that starts late was called for, and still is.
        self.called = self.spec.start == Start::Lazy;
        self.server.input(Input::Fail { error, next_try: self.context.clock.now() + wait });
        Then::At(Instant::now() + wait)
    }

    /// Waits for the next try, or for something to change.
    async fn rest(&mut self, until: Option<Instant>) -> Then {
        loop {
            let due = async {
                match until {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let command = tokio::select! {
                () = due => return Then::Again,
                command = self.commands.recv() => command,
                () = self.server.wake.notified() => {
                    if self.is_asleep() {
                        self.called = true;
                        return Then::Again;
                    }
                    continue;
                }
            };
            if let Some(then) = self.obey(command) {
                self.server.input(Input::Renew);
                return then;
            }
        }
    }

    fn is_asleep(&self) -> bool {
        use switchboard_model::ServerState::Disconnected;
        matches!(*self.server.state.borrow(), Disconnected { until: Until::NextCall })
    }

    /// Takes a command over; says what follows unless all stays as it is.
    fn obey(&mut self, command: Option<Command>) -> Option<Then> {
        match command {
            None => Some(Then::End),
            Some(Command::Stop(ending)) => {
                self.ending = Some(ending);
                Some(Then::End)
            }
            Some(Command::Reconnect(waiting)) => {
                self.waiting.push(waiting);
                self.called = true;
                Some(Then::Again)
            }
            Some(Command::Apply(spec, waiting)) => {
                let same = spec.same_connection(&self.spec);
                self.spec = spec.clone();
                self.server.journal.resize(spec.limits.log_buffer);
                self.server.spec.store(spec);
                self.server.offer();
                self.waiting.push(waiting);
                if same {
                    self.acknowledge();
                    return None;
                }
                self.listed = false;
                Some(Then::Again)
            }
        }
    }

    fn acknowledge(&mut self) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(());
        }
    }
}

/// How long calls under way may take when their server goes on purpose.
fn drain_limit(spec: &ServerSpec) -> Duration {
    spec.timing.stop_grace.min(Duration::from_secs(5))
}
