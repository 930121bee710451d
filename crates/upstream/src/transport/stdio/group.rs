//! The process group of a child: signalled as a whole, because `npx` and shells leave the real
//! server behind them.

use std::time::Duration;

use tokio::process::Command;

use crate::group::Signal;
use crate::instance::Instance;
use crate::reap;

/// How often it is looked whether a group is empty.
const LOOK: Duration = Duration::from_millis(20);
/// A group that cannot be ended in this time has nothing left but what the kernel holds.
const LONGEST: Duration = Duration::from_secs(1);

/// Gives the child a group of its own.
pub(super) fn separate(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Asks the group to end.
pub(super) fn terminate(leader: u32) {
    crate::group::signal(leader, crate::group::Signal::Terminate);
}

/// Ends the group.
pub(super) fn kill(leader: u32) {
    crate::group::signal(leader, crate::group::Signal::Kill);
}

/// Ends whatever of the group outlived its leader.
pub(super) async fn clear(leader: u32, grace: Duration) {
    if !crate::group::is_alive(leader) {
        return;
    }
    terminate(leader);
    if !emptied(leader, grace.min(LONGEST)).await {
        kill(leader);
        emptied(leader, LONGEST).await;
    }
}

/// Ends what left the group by making a session of its own, as browsers do; found by the mark.
pub(super) async fn clear_launch(instance: &Instance, launch: u64, grace: Duration) {
    for signal in [Signal::Terminate, Signal::Kill] {
        let (instance, looked) = (*instance, tokio::task::spawn_blocking);
        // A look at every process of the system takes a while.
        let left = looked(move || reap::launched(&instance, launch)).await.unwrap_or_default();
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|group| crate::group::signal(*group, signal));
        let ends = left.iter().map(|group| emptied(*group, grace.min(LONGEST)));
        for end in ends {
            end.await;
        }
    }
}

async fn emptied(leader: u32, within: Duration) -> bool {
    let wait = async {
        while crate::group::is_alive(leader) {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(within, wait).await.is_ok()
}
