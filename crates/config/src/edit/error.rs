//! Why a file was not edited. In every case it is as it was.

use std::io;
use std::path::{Path, PathBuf};

use switchboard_model::{AgentId, Place, Problem, ServerName};

use crate::dialect::Dialect;

/// Why a file was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The name is taken.
    #[error("server `{name}` is already in {place}; use `--replace` or remove it first")]
    Exists {
        /// Which server.
        name: ServerName,
        /// Where it stands.
        place: Box<Place>,
    },
    /// There is no such server.
    #[error("no server `{name}` in {}{}", path.display(), did_you_mean(near.as_ref()))]
    Missing {
        /// Which server.
        name: ServerName,
        /// The file.
        path: PathBuf,
        /// One that may have been meant.
        near: Option<ServerName>,
    },
    /// Several agents have a server of that name, each its own.
    #[error(
        "server `{name}` stands more than once in {}, for {}; edit the one that is meant by hand",
        path.display(),
        listed(agents)
    )]
    Ambiguous {
        /// Which server.
        name: ServerName,
        /// The file.
        path: PathBuf,
        /// Whose it is.
        agents: Vec<AgentId>,
    },
    /// The file has errors that must be mended first.
    #[error("{} has errors and is left as it is: {}", path.display(), first(problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All of them.
        problems: Vec<Problem>,
    },
    /// The dialect is only read.
    #[error(
        "{} is a `{}` file, which is read but never written; add the server to switchboard.toml, \
         or use that program itself",
        path.display(),
        dialect.as_str()
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Its dialect.
        dialect: Dialect,
    },
    /// The dialect has no words for it.
    #[error(
        "{} cannot say `{what}` of server `{name}`: `{}` files have no such key; \
         declare the server in switchboard.toml instead",
        path.display(),
        dialect.as_str()
    )]
    CannotSay {
        /// Which server.
        name: ServerName,
        /// The file.
        path: PathBuf,
        /// Its dialect.
        dialect: Dialect,
        /// What it cannot say.
        what: String,
    },
    /// The edit would change more than it should, or the file would no longer be valid.
    #[error("{} cannot be edited safely: {why}; edit it by hand", path.display())]
    WouldBreak {
        /// The file.
        path: PathBuf,
        /// What would happen.
        why: String,
    },
    /// The file cannot be read or written.
    #[error("{} cannot be {what}; check the path and its permissions", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "read", "locked", "written".
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl EditError {
    pub(super) fn invalid(path: &Path, problems: Vec<Problem>) -> Self {
        Self::Invalid { path: path.into(), problems }
    }

    pub(super) fn io(path: &Path, what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.into(), what, source }
    }
}

fn did_you_mean(near: Option<&ServerName>) -> String {
    match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => "; `switchboard list` shows those that are there".to_owned(),
    }
}

fn listed(agents: &[AgentId]) -> String {
    agents.iter().map(|agent| format!("`{agent}`")).collect::<Vec<_>>().join(", ")
}

fn first(problems: &[Problem]) -> String {
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.is_error()).collect();
    match errors.as_slice() {
        [] => "it is not valid".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}
