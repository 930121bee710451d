//! From one file's text to what it declares, with every problem found on the way. Pure: the same
//! text gives the same answer, whatever the machine.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use switchboard_model::{Code, Problem, Source};

use crate::declared::Declared;
use crate::decode::{Report, lexical_spans, secret_spans};
use crate::dialect::{self, Dialect, Reading};
use crate::file::{self, NoText};
use crate::syntax::{self, Format, SyntaxError, Tree};

/// What a text is and declares.
#[derive(Debug)]
pub struct Parsed {
    /// Whose file it is, if that could be told.
    pub dialect: Option<Dialect>,
    /// What it declares; nothing, if the text as a whole is not valid.
    pub declared: Option<Declared>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// What a reader brings along.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The dialect, where the caller knows it.
    pub dialect: Option<Dialect>,
    /// The format, where the file's name does not say it.
    pub format: Option<Format>,
    /// The hub's own addresses, so that its endpoint is not taken for a server.
    pub own: &'a [SocketAddr],
    /// The project whose part of a file that has many is wanted.
    pub project: Option<&'a Path>,
}

/// Reads a file, within bounds.
pub fn path(path: &Path, context: &Context<'_>) -> Parsed {
    match file::read(path) {
        Ok(text) => self::text(path, &text, context),
        Err(NoText::Bad(problem)) => {
            Parsed { dialect: context.dialect, declared: None, problems: vec![*problem] }
        }
        Err(NoText::Absent) => {
            let problem = file::unreadable(path, &std::io::ErrorKind::NotFound.into());
            Parsed { dialect: context.dialect, declared: None, problems: vec![problem] }
        }
    }
}

/// Reads a text of which only bytes are known.
pub fn bytes(path: &Path, bytes: Vec<u8>, context: &Context<'_>) -> Parsed {
    match file::text(path, bytes) {
        Ok(text) => self::text(path, &text, context),
        Err(problem) => {
            Parsed { dialect: context.dialect, declared: None, problems: vec![*problem] }
        }
    }
}

/// Reads a text.
pub fn text(path: &Path, text: &str, context: &Context<'_>) -> Parsed {
    let format = context.format.unwrap_or_else(|| Format::of(path));
    let (tree, mut report) = match tree(path, text, format) {
        Ok(read) => read,
        Err(problems) => return Parsed { dialect: context.dialect, declared: None, problems },
    };
    let Some(dialect) = context.dialect.or_else(|| dialect::detect(path, format, &tree.root))
    else {
        return unknown(path, report);
    };
    let reading = Reading { path, root: &tree.root, own: context.own, project: context.project };
    let declared = dialect::read(dialect, &reading, &mut report);
    Parsed { dialect: Some(dialect), declared: Some(declared), problems: report.into_problems() }
}

/// Reads a text into a tree, with what is wrong so far; or everything that is wrong with it.
pub(crate) fn tree(
    path: &Path,
    text: &str,
    format: Format,
) -> Result<(Tree, Report), Vec<Problem>> {
    let source = Arc::new(Source::new(path, text, move |text| secrets(text, format)));
    let mut report = Report::new(source);
    match syntax::parse(text, format) {
        Ok(tree) => {
            tree.complaints.iter().for_each(|error| complain(error, format, &mut report));
            Ok((tree, report))
        }
        Err(errors) => {
            errors.iter().for_each(|error| complain(error, format, &mut report));
            Err(report.into_problems())
        }
    }
}

/// The text with its secrets masked, for showing.
pub fn masked(path: &Path, text: &str) -> String {
    let format = Format::of(path);
    Source::new(path, text, move |text| secrets(text, format)).text().to_owned()
}

/// Where a text's secrets are, as far as it can be read.
fn secrets(text: &str, format: Format) -> Vec<std::ops::Range<usize>> {
    match syntax::parse(text, format) {
        Ok(tree) => secret_spans(&tree.root, text),
        Err(_) => lexical_spans(text),
    }
}

fn unknown(path: &Path, mut report: Report) -> Parsed {
    let message = format!("{} is of no dialect that is known", path.display());
    let remedy = "Name servers under `servers` (ours) or `mcpServers` (other programs'), \
                  or call the file switchboard.toml.";
    report.error(Code::UnknownDialect, &(0..0), message, remedy);
    Parsed { dialect: None, declared: None, problems: report.into_problems() }
}

fn complain(error: &SyntaxError, format: Format, report: &mut Report) {
    let message = match error.code {
        Code::Syntax => format!("this is not valid {}: {}", format.as_str(), plain(&error.message)),
        _ => error.message.clone(),
    };
    let remedy = error.remedy.clone().unwrap_or_else(|| {
        "Mend it; until then the last good state of this file stays.".to_owned()
    });
    report.error(error.code, &error.span, message, remedy);
}

/// A parser's words, in the middle of a sentence of ours.
fn plain(message: &str) -> String {
    let one_line = message.lines().map(str::trim).collect::<Vec<_>>().join(", ");
    let text = one_line.trim_end_matches('.');
    let mut chars = text.chars();
    let second_is_lower = chars.clone().nth(1).is_some_and(|c| !c.is_uppercase());
    match chars.next() {
        Some(first) if second_is_lower => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
