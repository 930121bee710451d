//! Finds what an earlier hub left running, by the mark in the environment, and ends it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::group::{Signal, is_alive, signal};
use crate::instance::{Instance, LAUNCH, VARIABLE};

/// Between asking and killing.
const GRACE: Duration = Duration::from_secs(1);

/// A process that carries a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) group: u32,
}

/// Ends what hubs on the same state directory started that run no longer. Returns how many groups
/// there were. Blocks for about a second if there was anything.
pub fn reap(instance: &Instance) -> usize {
    let left =
        |mark: &Instance| mark.state == instance.state && mark != instance && !mark.is_alive();
    let groups: BTreeSet<u32> = marked(left).into_iter().map(|found| found.group).collect();
    if groups.is_empty() {
        return 0;
    }
    tell(&groups, Signal::Terminate);
    let mut waited = Duration::ZERO;
    while waited < GRACE && groups.iter().any(|group| is_alive(*group)) {
        std::thread::sleep(Duration::from_millis(20));
        waited += Duration::from_millis(20);
    }
    // Looked for anew: what ended may have started something in its last moment.
    let rest: BTreeSet<u32> = marked(left).into_iter().map(|found| found.group).collect();
    tell(&rest, Signal::Kill);
    groups.len()
}

/// The groups of what one start of this hub's left behind.
pub(crate) fn launched(instance: &Instance, launch: u64) -> Vec<u32> {
    let number = launch.to_string();
    let ours = |pid: &str| {
        let environment = environment_of(pid)?;
        let mark = Instance::parse(std::str::from_utf8(value(&environment, VARIABLE)?).ok()?)?;
        (mark == *instance && value(&environment, LAUNCH)? == number.as_bytes()).then_some(())
    };
    groups(|pid| ours(pid).is_some()).into_iter().collect()
}

fn tell(groups: &BTreeSet<u32>, what: Signal) {
    for group in groups {
        signal(*group, what);
    }
}

/// Every process whose mark `wanted` takes, but never one of the asking process's own group.
/// Where there is no `/proc`, none is found.
pub(crate) fn marked(wanted: impl Fn(&Instance) -> bool) -> Vec<Found> {
    let found = groups(|pid| mark_of(pid).is_some_and(|mark| wanted(&mark)));
    found.into_iter().map(|group| Found { group }).collect()
}

/// The groups of the processes that `wanted` takes, but never the asking process's own.
fn groups(wanted: impl Fn(&str) -> bool) -> BTreeSet<u32> {
    let own = group_of("self");
    let Ok(processes) = std::fs::read_dir("/proc") else { return BTreeSet::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| wanted(pid))
        .filter_map(|pid| group_of(&pid))
        .filter(|group| Some(*group) != own)
        .collect()
}

fn mark_of(pid: &str) -> Option<Instance> {
    Instance::parse(std::str::from_utf8(value(&environment_of(pid)?, VARIABLE)?).ok()?)
}

fn environment_of(pid: &str) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ")).ok()
}

fn value<'e>(environment: &'e [u8], name: &str) -> Option<&'e [u8]> {
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

fn group_of(pid: &str) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    fields.nth(1)?.parse().ok()
}
