//! A directory that is gone when the test is over.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory of the test's own.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch directory"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file into it, with the directories on the way.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        let directory = path.parent().expect("a path inside the scratch directory");
        fs::create_dir_all(directory).expect("the scratch directory takes directories");
        fs::write(&path, text).expect("the scratch directory takes files");
        path
    }

    /// Takes a file away again.
    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).expect("the file was there");
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
