//! Signals to whole process groups, through safe calls. Does nothing where there are no groups.

/// What a group is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// To end.
    Terminate,
    /// It is ended.
    Kill,
}

/// Signals the group of that leader; one that is empty already is no failure.
#[cfg(unix)]
pub(crate) fn signal(leader: u32, signal: Signal) {
    use rustix::process::{Signal as Unix, kill_process_group};
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    if let Some(group) = pid(leader) {
        let _ = kill_process_group(group, signal);
    }
}

/// Whether anything is in the group.
#[cfg(unix)]
pub(crate) fn is_alive(leader: u32) -> bool {
    use rustix::process::test_kill_process_group;
    pid(leader).is_some_and(|group| test_kill_process_group(group).is_ok())
}

/// Not 0 and not 1: a group of our own, or everybody.
#[cfg(unix)]
fn pid(leader: u32) -> Option<rustix::process::Pid> {
    let raw = i32::try_from(leader).ok().filter(|raw| *raw > 1)?;
    rustix::process::Pid::from_raw(raw)
}

/// Signals the group of that leader.
#[cfg(not(unix))]
pub(crate) fn signal(_leader: u32, _signal: Signal) {}

/// Whether anything is in the group.
#[cfg(not(unix))]
pub(crate) fn is_alive(_leader: u32) -> bool {
    false
}
