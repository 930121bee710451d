//! A small process beside the hub that outlives it: when the hub is gone without a farewell, it
//! ends everything that the hub had started. It is the hub's own program, run with a hidden
//! argument, and waits at the other end of a pipe that only the hub's death can close.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::group::{Signal, is_alive, signal};
use crate::instance::Instance;
use crate::reap;

const FAREWELL: &str = "bye";
/// Between asking and killing.
const GRACE: Duration = Duration::from_millis(700);
/// How often it is looked again for what was just being started when the hub died.
const LOOK: Duration = Duration::from_millis(50);

/// The hub's end of the pipe.
pub struct Guardian {
    program: PathBuf,
    args: Vec<String>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    groups: BTreeSet<u32>,
    running: Option<(Child, ChildStdin)>,
}

impl Guardian {
    /// Starts `program` with `argument` and the hub's mark; there, [`run`] has to be called with
    /// the mark and standard input.
    pub fn start(program: PathBuf, argument: &str, instance: Instance) -> io::Result<Self> {
        let args = vec![argument.to_owned(), instance.to_string()];
        let guardian = Self { program, args, inner: Mutex::default() };
        let running = guardian.launch()?;
        guardian.lock().running = Some(running);
        Ok(guardian)
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.lock().running.as_ref().map(|(child, _)| child.id())
    }

    pub(crate) fn started(&self, leader: u32) {
        let mut inner = self.lock();
        inner.groups.insert(leader);
        self.tell(&mut inner, &format!("+{leader}\n"));
    }

    pub(crate) fn stopped(&self, leader: u32) {
        let mut inner = self.lock();
        inner.groups.remove(&leader);
        self.tell(&mut inner, &format!("-{leader}\n"));
    }

    /// A guardian that was killed is replaced, and told all again.
    fn tell(&self, inner: &mut Inner, line: &str) {
        if let Some((_, pipe)) = &mut inner.running
            && pipe.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
        if let Some((mut dead, _)) = inner.running.take() {
            let _ = dead.kill();
            let _ = dead.wait();
        }
        let all: String = inner.groups.iter().map(|leader| format!("+{leader}\n")).collect();
        let relaunched = self.launch().and_then(|(child, mut pipe)| {
            pipe.write_all(all.as_bytes())?;
            Ok((child, pipe))
        });
        match relaunched {
            Ok(running) => inner.running = Some(running),
            Err(error) => tracing::error!(%error, "the guardian cannot be started"),
        }
    }

    fn launch(&self) -> io::Result<(Child, ChildStdin)> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What a terminal sends to the hub's group must not reach it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
        Ok((child, pipe))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let mut inner = self.lock();
        let running = inner.running.take();
        let is_done = inner.groups.is_empty();
        drop(inner);
        if let Some((mut child, mut pipe)) = running {
            // With something left, as after a panic, it does what it is there for.
            if is_done {
                let _ = pipe.write_all(FAREWELL.as_bytes());
            }
            drop(pipe);
            let _ = child.wait();
        }
    }
}

/// The guardian's whole life: returns when the hub has said farewell, or when nothing of what it
/// started is left.
pub fn run(mark: &str, pipe: impl Read) {
    let mut groups = BTreeSet::new();
    for line in BufReader::new(pipe).lines() {
        let Ok(line) = line else { break };
        match (line.split_at_checked(1), line.as_str()) {
            (_, FAREWELL) => return,
            (Some(("+", leader)), _) => groups.extend(leader.parse::<u32>()),
            (Some(("-", leader)), _) => {
                leader.parse().map(|leader: u32| groups.remove(&leader)).unwrap_or_default();
            }
            _ => {}
        }
    }
    clean(groups, Instance::parse(mark));
}

fn clean(groups: BTreeSet<u32>, instance: Option<Instance>) {
    let mut groups = groups;
    let rounds = GRACE.as_millis() / LOOK.as_millis();
    for round in 0..=rounds {
        // What the hub was just about to tell of, and what left its group, carry the mark.
        let marked = instance.map(|hub| reap::marked(|mark| *mark == hub)).unwrap_or_default();
        groups.extend(marked.iter().map(|found| found.group));
        for group in groups.iter().copied().filter(|group| is_alive(*group)) {
            let kill = if round < rounds { Signal::Terminate } else { Signal::Kill };
            if round == 0 || round == rounds || marked.iter().any(|found| found.group == group) {
                signal(group, kill);
            }
        }
        std::thread::sleep(LOOK);
    }
}
