//! Files: one editor at a time, and never half of a text.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use switchboard_model::Code;

use super::EditError;
use crate::file;

/// Writes a file as a whole or not at all: a temporary file beside it, flushed to the disk, takes
/// its place. The permissions stay, the owner where allowed, and a symlink still points to it.
pub fn write_atomic(path: &Path, contents: &str) -> io::Result<()> {
    let target = target(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    let mut temporary = tempfile::Builder::new().prefix(&prefix).tempfile_in(directory)?;
    temporary.write_all(contents.as_bytes())?;
    if let Ok(old) = fs::metadata(&target) {
        keep_owner(temporary.as_file(), &old);
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    // The rename itself must last too; where a directory cannot be opened, it does so by itself.
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

/// What a path leads to, though it may not be there yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    // As many as the system follows.
    for _ in 0..40 {
        match fs::symlink_metadata(&at) {
            Ok(metadata) if metadata.is_symlink() => {
                let link = fs::read_link(&at)?;
                at = at.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(_) | Err(_) => return Ok(at),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symlinks"))
}

#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt;
    // Only the administrator may give a file away; for others it is theirs already or stays so.
    let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

/// A file that nobody else edits until this is dropped.
pub(super) struct Locked<'p> {
    path: &'p Path,
    file: File,
    /// Made here and empty, to be taken away again if nothing comes of it.
    is_new: std::cell::Cell<bool>,
}

impl<'p> Locked<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self, EditError> {
        loop {
            let file = File::open(path).map_err(EditError::io(path, "read"))?;
            if let Some(locked) = Self::lock(path, file)? {
                return Ok(locked);
            }
        }
    }

    pub(super) fn open_or_create(path: &'p Path) -> Result<Self, EditError> {
        loop {
            let (file, is_new) = match File::open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => match create(path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    created => (created.map_err(EditError::io(path, "written"))?, true),
                },
                opened => (opened.map_err(EditError::io(path, "read"))?, false),
            };
            if let Some(locked) = Self::lock(path, file)? {
                locked.is_new.set(is_new);
                return Ok(locked);
            }
        }
    }

    /// Waits for the lock. Whoever had it may have put another file at the path.
    fn lock(path: &'p Path, file: File) -> Result<Option<Self>, EditError> {
        file.lock().map_err(EditError::io(path, "locked"))?;
        let same = is_same(path, &file).map_err(EditError::io(path, "locked"))?;
        Ok(same.then(|| Self { path, file, is_new: false.into() }))
    }

    /// The whole text, byte order mark included.
    pub(super) fn read(&self) -> Result<String, EditError> {
        let mut bytes = Vec::new();
        let size = (&self.file).take(file::MAX_BYTES + 1).read_to_end(&mut bytes);
        if size.map_err(EditError::io(self.path, "read"))? as u64 > file::MAX_BYTES {
            let message = format!("{} is too large", self.path.display());
            let remedy = "No configuration is that large; is it the right file?";
            let problem = file::problem(Code::FileTooLarge, message, remedy);
            return Err(EditError::invalid(self.path, vec![problem]));
        }
        String::from_utf8(bytes).or_else(|error| {
            file::text(self.path, error.into_bytes())
                .map_err(|problem| EditError::invalid(self.path, vec![*problem]))
        })
    }

    pub(super) fn write(&self, text: &str) -> Result<(), EditError> {
        write_atomic(self.path, text).map_err(EditError::io(self.path, "written"))?;
        self.is_new.set(false);
        Ok(())
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Unless somebody has put something there, who does not ask for locks.
        let is_ours = is_same(self.path, &self.file).unwrap_or(false);
        let is_empty = self.file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if self.is_new.get() && is_ours && is_empty {
            let _ = target(self.path).and_then(fs::remove_file);
        }
    }
}

/// An empty file for its owner alone, to be locked.
fn create(path: &Path) -> io::Result<File> {
    let target = target(path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(target)
}

#[cfg(unix)]
fn is_same(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok(there.dev() == ours.dev() && there.ino() == ours.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_same(_: &Path, _: &File) -> io::Result<bool> {
    Ok(true)
}
