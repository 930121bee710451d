//! What this process holds at one moment: children, handles, sockets, tasks, memory. Counts only.

use std::fs;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

/// How long what was let go may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pooled connections to the healthy server, which come and go.
const SLACK: usize = 4;
/// What thirty rounds of a proof may add: about two kilobytes for each server of each round.
const MEMORY: usize = 8 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    processes: usize,
    handles: usize,
    sockets: usize,
    tasks: usize,
    memory: usize,
}

impl Level {
    fn now() -> Self {
        Self {
            processes: processes().len(),
            handles: handles(),
            sockets: sockets(),
            tasks: Handle::current().metrics().num_alive_tasks(),
            memory: memory(),
        }
    }

    /// The level when it has come down to what it was, which it must.
    pub(super) async fn settled(base: Option<Self>, round: u32) -> Self {
        let end = Instant::now() + PATIENCE;
        loop {
            let now = Self::now();
            // One process: the healthy server's.
            let same = now.processes == 1 && base.is_none_or(|base| now.is_within(&base));
            if same {
                eprintln!("round {round}: {now:?}");
                return now;
            }
            assert!(Instant::now() < end, "round {round}: {base:?} became {now:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn is_within(&self, base: &Self) -> bool {
        self.handles <= base.handles + SLACK
            && self.sockets <= base.sockets + SLACK
            && self.tasks <= base.tasks + SLACK
    }
}

/// Compares the end with a time when everything had happened several times; a short run shows
/// nothing. Medians: a leak is a slope, a large buffer that the allocator keeps is a step.
pub(super) fn memory_is_level(levels: &[Level]) {
    let median = |levels: &[Level]| {
        let mut sizes: Vec<usize> = levels.iter().map(|level| level.memory).collect();
        sizes.sort_unstable();
        sizes[sizes.len() / 2]
    };
    if let (Some(early), Some(late)) = (levels.get(10..20), levels.get(30..)) {
        let (early, late) = (median(early), median(late));
        eprintln!("{} KB resident became {} KB", early / 1024, late / 1024);
        assert!(late <= early + MEMORY, "{early} bytes resident became {late}");
    }
}

/// The processes that carry the mark of this hub.
pub(super) fn processes() -> Vec<u32> {
    let own = std::process::id();
    let marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let mark = variables.find_map(|variable| variable.strip_prefix(b"SWITCHBOARD_INSTANCE="));
        let hub = mark.and_then(|mark| mark.split(|byte| *byte == b':').nth(1));
        hub == Some(own.to_string().as_bytes()) && crate::kit::is_running(*pid)
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(marked).collect()
}

pub(super) fn handles() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn sockets() -> usize {
    let handles = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let links = handles.filter_map(|handle| fs::read_link(handle.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("socket:")).count()
}

fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}
