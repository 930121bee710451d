//! How each program writes variables, read into templates. Expanding them is a connection's work.

use std::path::Path;

use switchboard_model::template::is_variable_name;
use switchboard_model::{IfMissing, Part, Syntax, Template, TemplateError};

/// A notation for variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Ours: anything malformed is an error.
    Native,
    /// `${VAR}` and `${VAR:-default}`; a missing variable follows the dialect's rule.
    Plain(IfMissing),
    /// Annabelle's: only `${UPPER_SNAKE}`, and missing ones are empty.
    Upper,
    /// A client's: the plain one and that client's own.
    Client(ClientNotation),
}

/// What a client writes beyond `${VAR}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientNotation {
    /// `${env:VAR}`, `${input:id}`, `${userHome}`, `${workspaceFolder}` (VS Code, Cursor and kin).
    pub(crate) editor: bool,
    /// `$VAR` (Gemini, Copilot).
    pub(crate) bare: bool,
    /// `{env:VAR}` (opencode).
    pub(crate) braces: bool,
    /// `${{ secrets.VAR }}` (Continue).
    pub(crate) mustache: bool,
    /// What `${workspaceFolder}` is.
    pub(crate) workspace: Option<String>,
}

impl ClientNotation {
    /// The workspace of a file such as `.vscode/mcp.json`: the directory that the dot directory is in.
    pub(crate) fn in_workspace_of(mut self, file: &Path) -> Self {
        let dir = file.parent().unwrap_or(Path::new("."));
        let hidden = dir.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with('.'));
        let workspace = if hidden { dir.parent().unwrap_or(dir) } else { dir };
        let here = workspace.as_os_str().is_empty();
        self.workspace = Some(if here { ".".to_owned() } else { workspace.display().to_string() });
        self
    }
}

/// Reads a text in a notation. Only the native one has errors.
pub(crate) fn template(text: &str, notation: &Notation) -> Result<Template, TemplateError> {
    match notation {
        Notation::Native => Template::parse(text),
        Notation::Plain(missing) => {
            Ok(Template::parse_as(text, Syntax::Plain)?.with_missing(missing))
        }
        Notation::Upper => Ok(scan(text, upper)),
        Notation::Client(client) => Ok(scan(text, |rest| from_client(rest, client))),
    }
}

/// Goes through a text and lets `read` take what it recognises at each place.
fn scan(text: &str, read: impl Fn(&str) -> Option<(Part, usize)>) -> Template {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let next = rest.find(['$', '{']).unwrap_or(rest.len());
        parts.push(Part::Literal(rest[..next].to_owned()));
        at += next;
        if at == text.len() {
            break;
        }
        let (part, length) =
            read(&text[at..]).unwrap_or_else(|| (Part::Literal(text[at..=at].to_owned()), 1));
        parts.push(part);
        at += length;
    }
    Template::from_parts(parts)
}

fn upper(rest: &str) -> Option<(Part, usize)> {
    let (name, length) = braced(rest, "${", "}")?;
    let is_upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let good = is_variable_name(name) && name.bytes().all(is_upper);
    let if_missing = IfMissing::Use(String::new());
    good.then(|| (Part::Variable { name: name.to_owned(), if_missing }, length))
}

fn from_client(rest: &str, client: &ClientNotation) -> Option<(Part, usize)> {
    if client.mustache
        && let Some((inner, length)) = braced(rest, "${{", "}}")
    {
        let name = inner.trim().rsplit('.').next().unwrap_or_default();
        return Some((Part::variable(variable_from(name)?), length));
    }
    if client.braces
        && let Some((name, length)) = braced(rest, "{env:", "}")
    {
        return Some((Part::variable(variable_from(name)?), length));
    }
    // opencode replaces its own notation whatever stands before it, a `$` too.
    let of_opencode = client.braces && !client.editor && rest.starts_with("${env:");
    if let Some((inner, length)) = braced(rest, "${", "}").filter(|_| !of_opencode) {
        return Some((inside_braces(inner, client)?, length));
    }
    let name = rest.strip_prefix('$').filter(|_| client.bare)?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
    is_variable_name(&name[..end]).then(|| (Part::variable(&name[..end]), end + 1))
}

fn inside_braces(inner: &str, client: &ClientNotation) -> Option<Part> {
    if client.editor {
        let editor = match inner {
            "userHome" => Some(Part::variable("HOME")),
            "pathSeparator" | "/" => Some(Part::Literal(std::path::MAIN_SEPARATOR.into())),
            "workspaceFolder" | "cwd" => client.workspace.clone().map(Part::Literal),
            "workspaceFolderBasename" => {
                let folder = client.workspace.as_deref().map(Path::new)?;
                folder.file_name().map(|name| Part::Literal(name.to_string_lossy().into_owned()))
            }
            _ => None,
        };
        if editor.is_some() {
            return editor;
        }
    }
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let name = match name.strip_prefix("env:").or_else(|| name.strip_prefix("input:")) {
        Some(name) => variable_from(name.trim())?,
        None => is_variable_name(name).then(|| name.to_owned())?,
    };
    let if_missing = default.map_or(IfMissing::NeedsSetup, |text| IfMissing::Use(text.to_owned()));
    Some(Part::Variable { name, if_missing })
}

/// What stands between `open` and `close` at the beginning of `rest`, and the length of it all.
/// Nothing nests, and so the search ends where the next one opens.
fn braced<'t>(rest: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = rest.strip_prefix(open)?;
    let within = inner.find(open).map_or(inner, |next| &inner[..next]);
    let end = within.find(close)?;
    Some((&inner[..end], open.len() + end + close.len()))
}

/// A variable's name made of an input's id: `perplexity-key` is asked for as `PERPLEXITY_KEY`.
fn variable_from(id: &str) -> Option<String> {
    if is_variable_name(id) {
        return Some(id.to_owned());
    }
    let name: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    is_variable_name(&name).then_some(name)
}

#[cfg(test)]
mod tests;
