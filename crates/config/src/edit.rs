//! Edits configuration files: adds, replaces, removes and switches servers, and leaves everything
//! else in the file as it is. What an edit would change beyond that is found before anything is
//! written.

mod entry;
mod error;
mod guard;
mod places;
mod plan;
#[cfg(test)]
mod tests;
mod text;
mod write;

use std::path::Path;

use switchboard_model::{AgentId, Problem, ServerName, ServerSpec};

pub use self::error::EditError;
use self::write::Locked;
pub use self::write::write_atomic;
use crate::dialect::{self, Dialect};
use crate::parse::{self, Context};
use crate::syntax::{self, Format, Node};

/// What becomes of a file.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a server, whose name must be free.
    Add {
        /// The server.
        spec: ServerSpec,
        /// Who gets it, besides those that have every server; an agent that the file does not
        /// know is added to it.
        agents: Vec<AgentId>,
        /// Whether it joins the list of servers for agents that name none, if there is one.
        to_defaults: bool,
    },
    /// Adds a server that only one agent has. Only our own file can say so.
    AddOwn {
        /// The server.
        spec: ServerSpec,
        /// Whose it is.
        agent: AgentId,
    },
    /// Replaces the entry of a server that is there. Keys that stay the same keep their text.
    Replace {
        /// What it is from now on.
        spec: ServerSpec,
    },
    /// Removes a server and every assignment of it.
    Remove {
        /// Which.
        name: ServerName,
    },
    /// Switches a server on or off.
    Enable {
        /// Which.
        name: ServerName,
        /// Whether it may run.
        enabled: bool,
    },
}

impl Change {
    fn makes_files(&self) -> bool {
        matches!(self, Self::Add { .. } | Self::AddOwn { .. })
    }

    /// The server that it is about.
    pub fn name(&self) -> &ServerName {
        match self {
            Self::Add { spec, .. } | Self::AddOwn { spec, .. } | Self::Replace { spec } => {
                &spec.name
            }
            Self::Remove { name } | Self::Enable { name, .. } => name,
        }
    }
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    /// Whose file it is.
    pub dialect: Dialect,
    /// The text as it was; empty for a file that was not there.
    pub before: String,
    /// The text as it is. The same as before, if there was nothing to do.
    pub after: String,
    /// What else came of it by the rules of the file, in sentences for a person.
    pub notes: Vec<String>,
}

/// Changes a text. Pure: nothing is read or written.
pub fn apply(
    path: &Path,
    text: &str,
    dialect: Dialect,
    change: &Change,
) -> Result<String, EditError> {
    Ok(applied(path, text, dialect, change)?.after)
}

/// Changes a file, atomically and one editor at a time. A file that is not there is made by
/// [`Change::Add`], for its owner alone.
pub fn edit(path: &Path, change: &Change) -> Result<Edited, EditError> {
    edit_all(path, std::slice::from_ref(change))
}

/// Makes several changes, all of them or none.
pub fn edit_all(path: &Path, changes: &[Change]) -> Result<Edited, EditError> {
    let locked = match changes.iter().any(Change::makes_files) {
        true => Locked::open_or_create(path)?,
        false => Locked::open(path)?,
    };
    let edited = all(path, locked.read()?, changes)?;
    if edited.after != edited.before {
        locked.write(&edited.after)?;
    }
    Ok(edited)
}

/// What [`edit_all`] would do. Nothing is written.
pub fn preview(path: &Path, changes: &[Change]) -> Result<Edited, EditError> {
    let before = match path.try_exists() {
        Ok(false) if changes.iter().any(Change::makes_files) => String::new(),
        Ok(_) | Err(_) => Locked::open(path)?.read()?,
    };
    all(path, before, changes)
}

fn all(path: &Path, before: String, changes: &[Change]) -> Result<Edited, EditError> {
    let dialect = whose(path, &before)?;
    let mut edited = Edited { dialect, after: before.clone(), before, notes: Vec::new() };
    for change in changes {
        let step = applied(path, &edited.after, dialect, change)?;
        edited.after = step.after;
        edited.notes.extend(step.notes);
    }
    Ok(edited)
}

fn whose(path: &Path, text: &str) -> Result<Dialect, EditError> {
    let format = Format::of(path);
    let text = unmarked(text).1;
    let nothing = text.trim().is_empty();
    let tree = syntax::parse(text, format).ok();
    match tree.and_then(|tree| dialect::detect(path, format, &tree.root)) {
        Some(dialect) => Ok(dialect),
        None if nothing => Ok(Dialect::Native),
        None => {
            let problems = parse::text(path, text, &Context::default()).problems;
            Err(EditError::invalid(path, problems))
        }
    }
}

fn applied(
    path: &Path,
    text: &str,
    dialect: Dialect,
    change: &Change,
) -> Result<Edited, EditError> {
    let file = File { path, format: Format::of(path), dialect };
    file.check_editable()?;
    let (mark, body) = unmarked(text);
    let state = guard::State::read(&file, body)?;
    let root = file.tree(body)?;
    let skeleton = file.skeleton(body);
    let mut first = None;
    for plan in plan::plans(&file, &root, &state, change)? {
        let outcome = text::change(&skeleton, file.format, &plan.ops)
            .map_err(|stuck| file.would_break(stuck.0))
            .and_then(|after| Ok((state.check(&file, &after, &plan, change)?, after)));
        match outcome {
            Ok((notes, after)) => {
                let (before, after) = (text.to_owned(), format!("{mark}{after}"));
                return Ok(Edited { dialect, before, after, notes });
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| file.would_break("there is no way to write it".to_owned())))
}

/// The byte order mark, if there is one, and the text.
fn unmarked(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{FEFF}') {
        Some(body) => (&text[..'\u{FEFF}'.len_utf8()], body),
        None => ("", text),
    }
}

/// The file that is edited.
struct File<'a> {
    path: &'a Path,
    format: Format,
    dialect: Dialect,
}

impl File<'_> {
    /// Every dialect is read; those are written whose users keep their servers here.
    fn check_editable(&self) -> Result<(), EditError> {
        match self.dialect {
            Dialect::Native
            | Dialect::Annabelle
            | Dialect::Spacebot
            | Dialect::McpServers
            | Dialect::Aicib => Ok(()),
            Dialect::VsCode
            | Dialect::Zed
            | Dialect::Codex
            | Dialect::Goose
            | Dialect::Continue
            | Dialect::OpenCode => {
                Err(EditError::Unsupported { path: self.path.into(), dialect: self.dialect })
            }
        }
    }

    fn parse(&self, text: &str) -> parse::Parsed {
        let context = Context {
            dialect: Some(self.dialect),
            format: Some(self.format),
            ..Context::default()
        };
        parse::text(self.path, text, &context)
    }

    fn tree(&self, text: &str) -> Result<Node, EditError> {
        match syntax::parse(text, self.format) {
            Ok(tree) => Ok(tree.root),
            Err(_) => Err(EditError::invalid(self.path, self.parse(text).problems)),
        }
    }

    /// What an entry can be put into: JSON needs its braces.
    fn skeleton(&self, text: &str) -> String {
        match self.format {
            Format::Json if text.trim().is_empty() => "{}\n".to_owned(),
            Format::Json | Format::Toml | Format::Yaml => text.to_owned(),
        }
    }

    fn would_break(&self, why: String) -> EditError {
        EditError::WouldBreak { path: self.path.into(), why }
    }

    fn invalid(&self, problems: Vec<Problem>) -> EditError {
        EditError::invalid(self.path, problems)
    }
}
