//! Rules as they are declared: which calls run, ask or are refused. Deciding a call is `core`'s.

use std::fmt;
use std::sync::OnceLock;

use globset::{Glob, GlobMatcher};

/// What becomes of a call. Ordered, so that the strictest of several is their `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is refused.
    Deny,
}

impl Decision {
    /// Every decision, for parsing and for messages.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The word for it in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Through which door a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallOrigin {
    /// The MCP endpoint.
    Mcp,
    /// The REST API.
    Rest,
    /// An agent that runs inside Switchboard.
    Agent,
    /// The command line.
    Cli,
    /// The page.
    Page,
}

impl CallOrigin {
    /// Every origin, for parsing and for messages.
    pub const ALL: [Self; 5] = [Self::Mcp, Self::Rest, Self::Agent, Self::Cli, Self::Page];

    /// The word for it in files and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Agent => "agent",
            Self::Cli => "cli",
            Self::Page => "page",
        }
    }
}

/// One rule. Every condition that is set must hold; among the rules, the first match decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which agents.
    pub agent: Option<Pattern>,
    /// Which users.
    pub user: Option<Pattern>,
    /// Which servers.
    pub server: Option<Pattern>,
    /// Which tools, by the server's own names.
    pub tool: Option<Pattern>,
    /// Only tools that are, or are not, read-only as reviewed.
    pub read_only: Option<bool>,
    /// Only tools that are, or are not, destructive as reviewed.
    pub destructive: Option<bool>,
    /// Only calls through this door.
    pub origin: Option<CallOrigin>,
    /// What becomes of the call.
    pub action: Decision,
}

/// A glob over names: `delete_*`.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    /// Compiled when first needed: a file has many globs, and a run may never need one.
    matcher: OnceLock<Option<GlobMatcher>>,
}

/// Why a glob was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl Pattern {
    /// Checks the glob and keeps it.
    pub fn parse(source: &str) -> Result<Self, PatternError> {
        // Beyond any name there is, and compiling a huge one would fail when it is first needed.
        const MAX_GLOB: usize = 256;
        if source.len() > MAX_GLOB {
            return Err(PatternError(format!("it has more than {MAX_GLOB} characters")));
        }
        // Only these can be written wrongly.
        if source.contains(['[', ']', '{', '}', '\\']) {
            Glob::new(source).map_err(|e| PatternError(e.kind().to_string()))?;
        }
        Ok(Self { source: source.to_owned(), matcher: OnceLock::new() })
    }

    /// Whether the name matches.
    pub fn matches(&self, name: &str) -> bool {
        let compile = || Glob::new(&self.source).ok().map(|glob| glob.compile_matcher());
        self.matcher.get_or_init(compile).as_ref().is_some_and(|matcher| matcher.is_match(name))
    }

    /// The glob as written.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests;
