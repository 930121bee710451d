//! A file in the state directory that is written as a whole. What cannot be written is said once, and is written later.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file, and whether it is behind what it should say.
pub(super) struct KeptFile {
    path: PathBuf,
    what: &'static str,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Never written by this hub.
    New,
    Written,
    /// It could not be written, which was said.
    Failed,
}

impl KeptFile {
    /// At this path; the sentence says what is missing while it cannot be written.
    pub(super) fn new(path: PathBuf, what: &'static str) -> Self {
        Self { path, what, state: State::New }
    }

    /// What it says; nothing, if it is not there or is no text.
    pub(super) async fn read(&self) -> Option<String> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || fs::read_to_string(path).ok()).await.ok().flatten()
    }

    /// Writes it, over what was there.
    pub(super) async fn write(&mut self, text: String) {
        let path = self.path.clone();
        let written = tokio::task::spawn_blocking(move || replace(&path, &text)).await;
        let written = written.unwrap_or_else(|error| Err(io::Error::other(error)));
        let before = std::mem::replace(&mut self.state, State::Written);
        if let Err(error) = written {
            self.state = State::Failed;
            if before != State::Failed {
                tracing::warn!(%error, path = %self.path.display(), "{}; it is tried again and again", self.what);
            }
        }
    }

    /// Whether it does not say what it should.
    pub(super) fn is_behind(&self) -> bool {
        self.state != State::Written
    }
}

/// As a whole or not at all.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_not_written_is_behind_until_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kept.json");
        fs::create_dir(&path).unwrap();
        let mut kept = KeptFile::new(path.clone(), "nothing is kept");
        assert!(kept.is_behind());
        kept.write("1".to_owned()).await;
        assert!(kept.is_behind());
        fs::remove_dir(&path).unwrap();
        kept.write("2".to_owned()).await;
        assert!(!kept.is_behind());
        assert_eq!(kept.read().await.as_deref(), Some("2"));
    }
}
