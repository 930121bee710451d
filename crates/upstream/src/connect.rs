//! From a resolved declaration to a server that has introduced itself, whatever it speaks. Never
//! decides when to try again.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_model::server::KeyPlace;
use switchboard_model::{
    Concealed, HttpKind, Resolved, ResolvedTransport, Secret, ServerKey, ServerSpec,
};
use switchboard_wire::Era;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channel::Channel;
use crate::context::{Context, Held, Waits};
use crate::era::{self, Verdict};
use crate::error::ConnectError;
use crate::handshake::{Found, discover, initialize};
use crate::journal::Journal;
use crate::peer::Peer;
use crate::pulse::Patience;
use crate::transport::stdio::{self, Launch, Process};
use crate::transport::{http, sse};

/// The end of all patience with one that talks and never answers.
const PATIENCE: Patience = Patience::of(Duration::from_secs(30 * 60));

/// A server that has introduced itself.
pub(crate) struct Established {
    pub(crate) channel: Arc<Channel>,
    pub(crate) process: Option<Process>,
    pub(crate) peer: Peer,
}

/// What is connected to.
pub(crate) struct Attempt<'a> {
    pub(crate) context: &'a Context,
    pub(crate) key: &'a ServerKey,
    pub(crate) spec: &'a ServerSpec,
    pub(crate) journal: &'a Arc<Journal>,
    pub(crate) tasks: &'a TaskTracker,
    /// Ends everything that the attempt has opened.
    pub(crate) scope: &'a CancellationToken,
}

/// Connects. What it started is stopped when it fails or is dropped; `tasks` tells when.
pub(crate) async fn establish(
    attempt: &Attempt<'_>,
    resolved: &Resolved,
) -> Result<Established, ConnectError> {
    let target = era::target(resolved);
    let known = attempt.context.memory.get(&target);
    let mut silences = 0;
    let stored = attempt.stored().await?;
    let named = stored.iter().map(|(name, value)| (name.as_str(), value));
    attempt.journal.conceal(Concealed::of(named));
    let (kind, made) = match &resolved.transport {
        ResolvedTransport::Stdio { command, args, env, cwd } => {
            let env = with_stored(env, stored.as_ref());
            let launch = Launch {
                command,
                args,
                env: &env,
                cwd: cwd.as_ref(),
                grace: attempt.spec.timing.stop_grace,
            };
            (None, by_stdio(attempt, &launch, known.as_ref(), &mut silences).await)
        }
        ResolvedTransport::Http { kind, url, headers } => {
            let limit = attempt.spec.timing.connect;
            let headers = with_stored(headers, stored.as_ref());
            let made = by_http(attempt, *kind, url, &headers, known.as_ref(), &mut silences);
            match tokio::time::timeout(limit, made).await {
                Ok(Ok((kind, made))) => (Some(kind), Ok(made)),
                Ok(Err(error)) => (None, Err(error)),
                Err(_) => (None, Err(ConnectError::TimedOut(limit))),
            }
        }
    };
    match &made {
        Ok(made) => {
            let server = attempt.journal.hide(&made.peer.title());
            let verdict = Verdict { era: made.peer.era(), kind, server, silences };
            if known.as_ref() != Some(&verdict) {
                attempt.context.memory.set(&target, verdict);
            }
        }
        // What was known may be what misled us.
        Err(ConnectError::Handshake { .. } | ConnectError::Revision(_)) if known.is_some() => {
            attempt.context.memory.forget(&target);
        }
        Err(_) => {}
    }
    made
}

impl Attempt<'_> {
    /// The header or the variable that the store adds to what is declared.
    async fn stored(&self) -> Result<Option<(String, Secret)>, ConnectError> {
        match self.context.gate.credential(self.key, self.spec).await {
            Held::Nothing => Ok(None),
            Held::Credential(KeyPlace::Header(name) | KeyPlace::Variable(name), value) => {
                Ok(Some((name, value)))
            }
            Held::Lacking(detail) => Err(ConnectError::Unauthorized { detail, challenge: None }),
            Held::Away(why) => Err(ConnectError::Credential(why)),
        }
    }

    fn open(&self, launch: &Launch<'_>) -> Result<(Arc<Channel>, Process), ConnectError> {
        stdio::open(self, launch)
    }

    async fn session(
        &self,
        channel: Arc<Channel>,
        process: Process,
    ) -> Result<Established, ConnectError> {
        let silence = self.context.waits.silence;
        let first = initialize(&channel, &self.context.identity, PATIENCE);
        let peer = alive(&process, silence, first).await?;
        Ok(Established { channel, process: Some(process), peer })
    }
}

/// What the store has wins over what is declared under the same name.
fn with_stored(
    declared: &[(String, Secret)],
    stored: Option<&(String, Secret)>,
) -> Vec<(String, Secret)> {
    let is_stored = |name: &str| stored.is_some_and(|(stored, _)| stored == name);
    let kept = declared.iter().filter(|(name, _)| !is_stored(name));
    kept.chain(stored).cloned().collect()
}

async fn by_stdio(
    attempt: &Attempt<'_>,
    launch: &Launch<'_>,
    known: Option<&Verdict>,
    silences: &mut u8,
) -> Result<Established, ConnectError> {
    let (channel, process) = attempt.open(launch)?;
    if let Some(known) = era::session(known) {
        *silences = known.silences;
        return attempt.session(channel, process).await;
    }
    let identity = &attempt.context.identity;
    let mut probe = std::pin::pin!(discover(&channel, identity, PATIENCE));
    let waits = &attempt.context.waits;
    let limit = match known {
        Some(known) if known.era == Era::Stateless => waits.silence,
        _ => probe_limit(waits, launch.command.expose(), known),
    };
    let asked = alive(&process, waits.silence, async { Ok((&mut probe).await) });
    let asked = tokio::time::timeout(limit, asked).await;
    match asked {
        Ok(Ok(Ok(Found::Stateless(peer)))) => {
            Ok(Established { channel: channel.clone(), process: Some(process), peer: *peer })
        }
        Ok(Ok(Ok(Found::Session))) => match attempt.session(channel.clone(), process).await {
            // Some bear the probe and die of what follows it.
            Err(ConnectError::Handshake { source: CallError::Lost { .. }, .. }) => {
                let (channel, process) = attempt.open(launch)?;
                attempt.session(channel, process).await
            }
            made => made,
        },
        // Some die of the probe itself.
        Ok(Ok(Err(CallError::Lost { .. }))) => {
            let (channel, process) = attempt.open(launch)?;
            attempt.session(channel, process).await
        }
        Ok(Ok(Err(error))) => Err(ConnectError::handshake("server/discover", error)),
        Ok(Err(error)) => Err(error),
        Err(_) => {
            attempt.journal.remark("no answer to the first question; another process is asked");
            let (second, other) = attempt.open(launch)?;
            tokio::select! {
                // The first one was only slow.
                found = &mut probe => match found {
                    Ok(Found::Stateless(peer)) => {
                        Ok(Established { channel: channel.clone(), process: Some(process), peer: *peer })
                    }
                    Ok(Found::Session) | Err(_) => attempt.session(second, other).await,
                },
                made = initialize(&second, identity, PATIENCE) => {
                    let peer = made?;
                    *silences = era::silent(known);
                    Ok(Established { channel: second, process: Some(other), peer })
                }
                () = silence(&other, waits.silence) => Err(ConnectError::Silent(waits.silence)),
            }
        }
    }
}

fn probe_limit(waits: &Waits, command: &str, known: Option<&Verdict>) -> Duration {
    let name = std::path::Path::new(command).file_stem().and_then(|name| name.to_str());
    match name {
        Some(
            "npx" | "uvx" | "uv" | "bunx" | "pnpm" | "pnpx" | "yarn" | "pipx" | "docker" | "podman"
            | "deno" | "go" | "cargo" | "dnx",
        ) => waits.probe_download,
        _ => waits.probe * era::patience(known),
    }
}

/// Waits for `work` as long as the process gives signs of life.
async fn alive<T>(
    process: &Process,
    limit: Duration,
    work: impl Future<Output = Result<T, ConnectError>>,
) -> Result<T, ConnectError> {
    tokio::select! {
        biased;
        made = work => made,
        () = silence(process, limit) => Err(ConnectError::Silent(limit)),
    }
}

async fn silence(process: &Process, limit: Duration) {
    loop {
        let quiet = process.quiet();
        if quiet >= limit {
            return;
        }
        tokio::time::sleep(limit - quiet).await;
    }
}

async fn by_http(
    attempt: &Attempt<'_>,
    kind: HttpKind,
    url: &Secret,
    headers: &[(String, Secret)],
    known: Option<&Verdict>,
    silences: &mut u8,
) -> Result<(HttpKind, Established), ConnectError> {
    let endpoint = http::Endpoint::new(attempt.context, url, headers)?;
    let identity = &attempt.context.identity;
    let patience = Patience::of(attempt.spec.timing.connect);
    let known_sse = known.is_some_and(|verdict| verdict.kind == Some(HttpKind::Sse));
    if kind == HttpKind::Sse || known_sse {
        let channel = sse::open(attempt, &endpoint).await?;
        let peer = initialize(&channel, identity, patience).await?;
        return Ok((HttpKind::Sse, Established { channel, process: None, peer }));
    }
    let channel = http::open(attempt, &endpoint);
    if let Some(known) = era::session(known) {
        *silences = known.silences;
    } else {
        // The probe may cost a part of the time, never all of it.
        let probing = Patience::of(attempt.spec.timing.connect / 3 * era::patience(known));
        match discover(&channel, identity, probing).await {
            Ok(Found::Stateless(peer)) => {
                let made = Established { channel, process: None, peer: *peer };
                return Ok((HttpKind::Streamable, made));
            }
            Ok(Found::Session) => {}
            // Silence is an answer too; what is neither that nor a refusal of the request as such
            // says nothing about the era.
            Err(error)
                if !http::is_refusal(&error) && !matches!(error, CallError::TimedOut { .. }) =>
            {
                return Err(ConnectError::handshake("server/discover", error));
            }
            Err(CallError::TimedOut { .. }) => *silences = era::silent(known),
            Err(_) => {}
        }
    }
    match initialize(&channel, identity, patience).await {
        Ok(peer) => {
            http::listen(&channel).await;
            Ok((HttpKind::Streamable, Established { channel, process: None, peer }))
        }
        Err(ConnectError::Handshake { step, source }) if http::is_refusal(&source) => {
            let channel = sse::open(attempt, &endpoint)
                .await
                .map_err(|_| ConnectError::Handshake { step, source })?;
            let peer = initialize(&channel, identity, patience).await?;
            Ok((HttpKind::Sse, Established { channel, process: None, peer }))
        }
        Err(error) => Err(error),
    }
}
