//! Reads a configuration file into text, within bounds. Knows nothing of what the text means.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use switchboard_model::{Code, Place, Problem, Severity, Source};

use crate::decode::lexical_spans;

/// Larger than any configuration, and than the largest client's file that holds one among other
/// things (Claude Code keeps its history in the same file).
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Why a file gave no text.
#[derive(Debug)]
pub(crate) enum NoText {
    /// There is no such file, though its directory is there.
    Absent,
    /// It cannot be read, or is not text.
    Bad(Box<Problem>),
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<String, NoText> {
    let bytes = bytes(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.parent().is_none_or(is_directory) => NoText::Absent,
        _ => NoText::Bad(Box::new(unreadable(path, &error))),
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("{} is larger than {} MiB", path.display(), MAX_BYTES / 1024 / 1024);
        let remedy = "No configuration is that large; is it the right file?";
        return Err(NoText::Bad(Box::new(problem(Code::FileTooLarge, message, remedy))));
    }
    text(path, bytes).map_err(NoText::Bad)
}

/// Takes bytes for text: UTF-8, with or without a byte order mark.
pub(crate) fn text(path: &Path, mut bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let source = Arc::new(Source::new(path, &lossy, lexical_spans));
        let wide =
            error.as_bytes().starts_with(b"\xFF\xFE") || error.as_bytes().starts_with(b"\xFE\xFF");
        let message = match wide {
            true => "the file is UTF-16, not UTF-8".to_owned(),
            false => "the file is not UTF-8 text".to_owned(),
        };
        let mut problem = problem(Code::NotUtf8, message, "Save it as UTF-8.");
        problem.place = Some(Place { span: source.clamp(&(at..at + 1)), source });
        Box::new(problem)
    })
}

/// Whether people other than the owner and the group may write the file: whoever can, can have
/// commands started.
pub(crate) fn writable_by_others(path: &Path) -> Option<Problem> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let mode = std::fs::metadata(path).ok()?.mode();
        if mode & 0o002 == 0 {
            return None;
        }
        let message = format!("everybody on this machine can write {}", path.display());
        let remedy =
            format!("Run `chmod o-w {}`: who can write it can start commands.", path.display());
        let mut problem = problem(Code::WritableByOthers, message, remedy);
        problem.severity = Severity::Warning;
        Some(problem)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A problem with the file as a whole.
pub(crate) fn problem(code: Code, message: String, remedy: impl Into<String>) -> Problem {
    let (severity, remedy) = (Severity::Error, remedy.into());
    Problem { code, severity, message, place: None, related: None, remedy, server: None }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    // A device or a pipe named by mistake would never end, or never begin.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_directory(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let message = format!("{} cannot be read: {error}", path.display());
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "Check the path, or create the file.",
        io::ErrorKind::PermissionDenied => {
            "Give the user who runs Switchboard the right to read it."
        }
        _ => "Check the file and try again.",
    };
    problem(Code::UnreadableFile, message, remedy)
}
