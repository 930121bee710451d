//! How connections are made by this program: with its environment, its memory, its mark and its
//! guardian. The same for the hub and for a command that makes a connection of its own.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::environment;
use switchboard_upstream::{Context, Guardian, Instance, Upstreams, guardian, reap};

use crate::eras::Eras;
use crate::state_dir::StateDir;

/// The hidden command that makes this program a guardian.
pub const GUARDIAN: &str = "guardian";

/// Ends what an earlier hub left behind, and is ready to connect.
pub async fn prepare(state: &StateDir) -> Upstreams {
    let instance = Instance::current(state.path());
    let left = tokio::task::spawn_blocking(move || reap(&instance)).await.unwrap_or_default();
    if left > 0 {
        tracing::warn!(
            "{left} process groups of an earlier hub were still running; they are ended"
        );
    }
    let mut context = Context::new(Arc::new(environment::variable), instance);
    context.memory = Arc::new(Eras::open(&state.file("eras.json")));
    match Guardian::start(own_program(), GUARDIAN, instance) {
        Ok(guardian) => context.guardian = Some(Arc::new(guardian)),
        Err(error) => {
            tracing::warn!(%error, "no guardian: if this process is killed, servers may stay behind");
        }
    }
    Upstreams::new(context)
}

/// The guardian's whole life.
pub fn guard(mark: &str) {
    guardian::run(mark, std::io::stdin());
}

/// This very program, even if its file has been replaced meanwhile.
fn own_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or(running) }
}
