//! How connections are made by this program: with its environment, its memory, its mark and its
//! guardian. The same for the hub and for a command that makes a connection of its own.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::environment;
use switchboard_model::Clock;
use switchboard_upstream::{Context, Gate, Guardian, Instance, Lookup, Upstreams, guardian, reap};

use crate::eras::Eras;
use crate::state_dir::StateDir;

/// The hidden command that makes this program a guardian.
pub const GUARDIAN: &str = "guardian";

/// With what connections are made.
pub struct Making<'m> {
    /// Where what was learnt is kept.
    pub state: Option<&'m StateDir>,
    /// Variables.
    pub env: Lookup,
    /// The guardian's program, and its first argument.
    pub guardian: Option<(PathBuf, String)>,
    /// Who may be started.
    pub gate: Arc<dyn Gate>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl<'m> Making<'m> {
    /// As this program makes them: with its own environment, and itself as the guardian.
    pub fn here(state: &'m StateDir, gate: Arc<dyn Gate>, clock: Arc<dyn Clock>) -> Self {
        let env = Arc::new(environment::variable);
        let guardian = Some((own_program(), GUARDIAN.to_owned()));
        Self { state: Some(state), env, guardian, gate, clock }
    }
}

/// Ends what an earlier hub left behind, and is ready to connect.
pub async fn prepare(making: Making<'_>) -> Upstreams {
    let nowhere = std::env::temp_dir();
    let directory = making.state.map_or(&*nowhere, StateDir::path);
    let instance = Instance::current(directory);
    if making.state.is_some() {
        let left = tokio::task::spawn_blocking(move || reap(&instance)).await.unwrap_or_default();
        if left > 0 {
            tracing::warn!("an earlier hub left {left} process groups running; they are ended");
        }
    }
    let mut context = Context::new(making.env, instance);
    (context.clock, context.gate) = (making.clock, making.gate);
    if let Some(state) = making.state {
        context.memory = Arc::new(Eras::open(&state.file("eras.json")));
    }
    if let Some((program, argument)) = making.guardian {
        match Guardian::start(program, &argument, instance) {
            Ok(guardian) => context.guardian = Some(Arc::new(guardian)),
            Err(error) => {
                let text = "no guardian: if this process is killed, servers may stay behind";
                tracing::warn!(%error, "{text}");
            }
        }
    }
    Upstreams::new(context)
}

/// The guardian's whole life.
pub fn guard(mark: &str) {
    guardian::run(mark, std::io::stdin());
}

/// This very program, even if its file has been replaced meanwhile.
pub fn own_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or(running) }
}
