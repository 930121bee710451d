//! Watches the files and publishes a new desired state when it differs. Owns one thread, which ends
//! with it. Never decides what the files mean: it only says when to look again.

mod paths;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use switchboard_model::Clock;

use self::paths::{Signature, Watched};
use crate::load::{Loaded, Loader};

/// Editors save in several steps; a state is read when they have been quiet for so long.
pub const DEBOUNCE: Duration = Duration::from_millis(500);
/// A file that is written without pause is read all the same.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// Where the system tells nothing (network mounts, exhausted watches), we look ourselves.
const POLL: Duration = Duration::from_secs(2);

/// What the watch has to say.
#[derive(Clone, Debug)]
pub enum Update {
    /// The desired state is another one.
    Changed(Arc<Loaded>),
    /// The desired state is the same, but files or problems are not.
    Told(Arc<Loaded>),
}

impl Update {
    /// The configuration, either way.
    pub fn loaded(&self) -> &Arc<Loaded> {
        match self {
            Self::Changed(loaded) | Self::Told(loaded) => loaded,
        }
    }
}

enum Signal {
    /// Something moved where the files are.
    Moved,
    /// Read them now, whatever moved, and say when that is done.
    Reload(Sender<()>),
    Stop,
}

/// A running watch; dropping it ends it.
pub struct Watch {
    signals: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch what `loader` loads. `loaded` is what it has loaded so far, and `publish` is
    /// called with everything that differs from it, on the watch's own thread.
    pub fn start(
        loader: Loader,
        loaded: Arc<Loaded>,
        publish: impl FnMut(Update) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (signals, inbox) = mpsc::channel();
        let clock = loader.clock();
        let mut worker = Worker {
            watcher: None,
            watched: Watched::default(),
            signature: Signature::default(),
            loader,
            loaded,
            publish: Box::new(publish),
            clock,
        };
        worker.open(signals.clone());
        worker.aim();
        let thread = std::thread::Builder::new()
            .name("config-watch".into())
            .spawn(move || worker.run(&inbox))?;
        Ok(Self { signals, thread: Some(thread) })
    }

    /// Reads the files now, and returns when what they say has been published.
    pub fn reload(&self) {
        let (done, wait) = mpsc::channel();
        if self.signals.send(Signal::Reload(done)).is_ok() {
            // An error is a thread that has ended, after which there is nothing to wait for.
            let _ = wait.recv();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.signals.send(Signal::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Worker {
    watcher: Option<RecommendedWatcher>,
    watched: Watched,
    signature: Signature,
    loader: Loader,
    loaded: Arc<Loaded>,
    publish: Box<dyn FnMut(Update) + Send>,
    clock: Arc<dyn Clock>,
}

impl Worker {
    /// Asks the system to tell what moves. Without its help there is still the poll.
    fn open(&mut self, signals: Sender<Signal>) {
        let interesting = self.watched.interesting();
        let handler = move |event: notify::Result<notify::Event>| {
            let moved = match &event {
                // Reading is no change, and we read a lot.
                Ok(event) => !event.kind.is_access() && interesting.any(&event.paths),
                // Events were lost: anything may have moved.
                Err(_) => true,
            };
            if moved {
                let _ = signals.send(Signal::Moved);
            }
        };
        self.watcher = notify::recommended_watcher(handler)
            .inspect_err(
                |error| tracing::warn!(%error, "files are watched by looking, not by events"),
            )
            .ok();
    }

    fn run(mut self, inbox: &Receiver<Signal>) {
        // When to read, and when at the latest, once something has moved.
        let mut due: Option<(Instant, Instant)> = None;
        // What was saved after the first load and before anybody watched, nobody told.
        self.read();
        loop {
            let now = self.clock.monotonic();
            let next = [due.map(|(at, latest)| at.min(latest)), self.loader.next_deadline()];
            let wait = next.iter().flatten().min().map(|at| at.saturating_duration_since(now));
            match inbox.recv_timeout(wait.unwrap_or(POLL).min(POLL)) {
                Ok(Signal::Moved) => {
                    let now = self.clock.monotonic();
                    let latest = due.map_or(now + MAX_DELAY, |(_, latest)| latest);
                    due = Some((now + DEBOUNCE, latest));
                }
                Ok(Signal::Reload(done)) => {
                    due = None;
                    self.read();
                    let _ = done.send(());
                }
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.clock.monotonic();
                    let ripe = due.is_some_and(|(at, latest)| at.min(latest) <= now);
                    let missed = self.loader.next_deadline().is_some_and(|at| at <= now);
                    if ripe || missed {
                        due = None;
                        self.read();
                    } else if due.is_none() && self.signature != self.watched.signature() {
                        // Seen by looking: the same patience as with an event.
                        due = Some((now + DEBOUNCE, now + MAX_DELAY));
                        self.signature = self.watched.signature();
                    }
                }
            }
        }
    }

    fn read(&mut self) {
        // Aimed before reading, so that what moves meanwhile is seen; and once more where that has
        // shown other places to look at.
        let aimed = self.aim();
        let mut loaded = self.loader.load();
        if self.loader.paths() != aimed {
            self.aim();
            loaded = self.loader.load();
        }
        let same_state = loaded.desired == self.loaded.desired;
        let same_words = loaded.problems == self.loaded.problems
            && loaded.files == self.loaded.files
            && loaded.manifests == self.loaded.manifests;
        if same_state && same_words {
            return;
        }
        // What did not change keeps its address, for those who compare by it.
        let desired = if same_state { self.loaded.desired.clone() } else { loaded.desired };
        self.loaded = Arc::new(Loaded { desired, ..loaded });
        let update = match same_state {
            true => Update::Told(self.loaded.clone()),
            false => Update::Changed(self.loaded.clone()),
        };
        (self.publish)(update);
    }

    /// Points the watcher at the directories where the files are, or will be; says which files.
    fn aim(&mut self) -> Vec<PathBuf> {
        let paths = self.loader.paths();
        let (gone, new) = self.watched.aim(&paths, self.loader.directory());
        self.signature = self.watched.signature();
        let Some(watcher) = &mut self.watcher else { return paths };
        for directory in gone {
            // It may be gone itself, and its watch with it.
            let _ = watcher.unwatch(&directory);
        }
        for directory in new {
            if let Err(error) = watcher.watch(&directory, RecursiveMode::NonRecursive) {
                tracing::debug!(%error, directory = %directory.display(), "not watched");
                self.watched.forget(&directory);
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests;
