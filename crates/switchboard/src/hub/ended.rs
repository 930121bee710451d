//! Which sessions were ended, in a file of the state directory, so that they stay ended after a restart.
//! Written behind the requests' backs, a line for each; never holds more than the tail of an id.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_mcp::Remember;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::state_dir::StateDir;

/// The file's name.
pub(super) const FILE: &str = "ended-sessions";

/// Lines that wait to be written; more are lost, which is said.
const WAITING: usize = 10_000;
/// Lines that are kept: as many as the endpoint remembers.
const MOST: usize = 100_000;

/// The tail of a session's id, and until when the id would be good.
type Row = ([u8; 16], SystemTime);

/// Remembers sessions that were ended.
pub(super) struct Ended {
    earlier: Vec<Row>,
    rows: mpsc::Sender<Row>,
}

/// Writes them down.
pub(super) struct Writer {
    path: PathBuf,
    rows: mpsc::Receiver<Row>,
    /// Lines in the file.
    lines: usize,
    /// Whether a crash cut its last line short.
    torn: bool,
}

/// What the file says, and who writes the rest.
pub(super) fn open(state: &StateDir) -> (Ended, Writer) {
    let path = state.file(FILE);
    let said = fs::read_to_string(&path).unwrap_or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            tracing::warn!(%error, "it is not known which sessions were ended before");
        }
        String::new()
    });
    let (sender, rows) = mpsc::channel(WAITING);
    let (lines, earlier) = (said.lines().count(), said.lines().filter_map(row).collect());
    let torn = !said.is_empty() && !said.ends_with('\n');
    (Ended { earlier, rows: sender }, Writer { path, rows, lines, torn })
}

impl Remember for Ended {
    fn recall(&self) -> Vec<Row> {
        self.earlier.clone()
    }

    fn note(&self, id: [u8; 16], until: SystemTime) {
        if self.rows.try_send((id, until)).is_err() {
            tracing::warn!("an ended session is forgotten at the next start: too many end at once");
        }
    }
}

impl Writer {
    /// Writes until the end, and then what is left.
    pub(super) async fn write(mut self, end: CancellationToken) {
        let mut some = Vec::new();
        loop {
            let stopped = tokio::select! {
                _ = self.rows.recv_many(&mut some, WAITING) => false,
                () = end.cancelled() => true,
            };
            if stopped {
                while let Ok(row) = self.rows.try_recv() {
                    some.push(row);
                }
            }
            if some.is_empty() {
                return;
            }
            self.append(std::mem::take(&mut some)).await;
            if stopped {
                return;
            }
        }
    }

    async fn append(&mut self, some: Vec<Row>) {
        self.lines += some.len();
        let (path, crowded) = (self.path.clone(), self.lines > 2 * MOST);
        let first = if std::mem::take(&mut self.torn) { "\n" } else { "" };
        let written = tokio::task::spawn_blocking(move || {
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(format!("{first}{}", text(&some)).as_bytes())?;
            file.sync_data()?;
            if crowded { thin(&path).map(Some) } else { Ok(None) }
        });
        match written.await {
            Ok(Ok(kept)) => self.lines = kept.unwrap_or(self.lines),
            Ok(Err(error)) => tracing::warn!(%error, "ended sessions cannot be written down"),
            Err(error) => tracing::warn!(%error, "ended sessions were not written down"),
        }
    }
}

/// Takes the oldest lines out of the file; how many are left.
fn thin(path: &Path) -> io::Result<usize> {
    let said = fs::read_to_string(path)?;
    let mut rows: Vec<Row> = said.lines().filter_map(row).collect();
    rows.drain(..rows.len().saturating_sub(MOST));
    let beside = path.with_extension("new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(text(&rows).as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    Ok(rows.len())
}

fn text(rows: &[Row]) -> String {
    let line = |(tail, until): &Row| {
        let tail: String = tail.iter().map(|byte| format!("{byte:02x}")).collect();
        let seconds = until.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        format!("{tail} {seconds}\n")
    };
    rows.iter().map(line).collect()
}

/// A line; one that a crash cut short is none.
fn row(line: &str) -> Option<Row> {
    let (tail, until) = line.split_once(' ')?;
    let digits = |at: usize| u8::from_str_radix(tail.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).step_by(2).map(digits).collect();
    let until = UNIX_EPOCH.checked_add(Duration::from_secs(until.parse().ok()?))?;
    Some((bytes?.try_into().ok()?, until))
}

#[cfg(test)]
mod tests {
    use tokio_util::task::TaskTracker;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// Ends these, and stops.
    async fn end(state: &StateDir, rows: &[Row]) {
        let (ended, writer) = open(state);
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(writer.write(end.clone()));
        for (tail, until) in rows {
            ended.note(*tail, *until);
        }
        end.cancel();
        tasks.close();
        tasks.wait().await;
    }

    #[tokio::test]
    async fn what_was_ended_is_known_at_the_next_start() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDir::open(Some(directory.path().join("state"))).unwrap();
        assert_eq!(open(&state).0.recall(), []);
        let rows = [([1; 16], at(100)), ([0xfe; 16], at(200)), ([3; 16], at(300))];
        end(&state, &rows[..2]).await;
        // A crash in the middle of a line costs only that line.
        let file = state.file(FILE);
        fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"0102").unwrap();
        end(&state, &rows[2..]).await;
        assert_eq!(open(&state).0.recall(), rows);
        assert_eq!(thin(&file).unwrap(), 3);
        assert_eq!(open(&state).0.recall(), rows);
    }
}
