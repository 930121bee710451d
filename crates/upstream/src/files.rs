//! How many files the process may have open: every connection and every pipe is one, and what a shell
//! gives is for programs that have few. Servers get what the hub was given: some of them break when
//! they are given more.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as are ever asked for: the table of them is memory too.
const MOST: u64 = 65_536;

/// What there was before.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Takes as many as the system lets it have, and returns how many there may be now. For a program
/// that is its process's own; a library has no business to.
pub fn take_all() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.unwrap_or(MOST).min(MOST);
    let given = now.current.unwrap_or(u64::MAX);
    if given >= wanted {
        return given;
    }
    let more = Rlimit { current: Some(wanted), maximum: now.maximum };
    match setrlimit(Resource::Nofile, more) {
        Ok(()) => {
            // The first is what the hub was given.
            let _ = GIVEN.set(now);
            wanted
        }
        Err(error) => {
            tracing::debug!(%error, "the hub stays with {given} open files");
            given
        }
    }
}

/// A process that was just started has what this one was given.
pub(crate) fn give_back(pid: Option<u32>) {
    #[cfg(target_os = "linux")]
    if let (Some(given), Some(pid)) = (GIVEN.get(), pid)
        && let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw)
        && let Err(error) = rustix::process::prlimit(Some(pid), Resource::Nofile, *given)
    {
        tracing::debug!(%error, "a server has the hub's number of open files");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
}
