//! The template of a surface, parsed and checked once. Gives each pair of server and tool a name
//! that no other pair has.

use super::RESERVED;
use super::hash::{MARK_LEN, is_safe, looks_marked, marked};

/// `{server}` and `{tool}` with something between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    before: String,
    between: String,
    after: String,
    limit: usize,
}

/// Why a template was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Both must be there, once, the server first.
    #[error(
        "`{0}` must have `{{server}}` and after it `{{tool}}`, each once: `{{server}}__{{tool}}`"
    )]
    Parts(String),
    /// Two names without anything between them cannot be told apart.
    #[error("`{0}` has nothing between `{{server}}` and `{{tool}}`; put `_` or `__` there")]
    Nothing(String),
    /// Providers refuse it.
    #[error("`{0}` cannot be part of a tool's name: letters, digits, `_` and `-` can")]
    Character(char),
    /// No room for names.
    #[error("{limit} characters are too few for this template, which needs at least {least}")]
    Short {
        /// What was asked for.
        limit: usize,
        /// What is needed.
        least: usize,
    },
}

const SERVER: &str = "{server}";
const TOOL: &str = "{tool}";
/// Characters of a name that are left when the hash has its place.
const LEAST: usize = 8;

impl Template {
    /// What the strictest providers take.
    pub const MODEL_LIMIT: usize = 64;

    /// What is left of it where clients add a prefix such as `mcp__switchboard__`.
    pub const MCP_LIMIT: usize = 46;

    pub(super) fn of(before: &str, between: &str, after: &str, limit: usize) -> Self {
        let [before, between, after] = [before, between, after].map(str::to_owned);
        Self { before, between, after, limit }
    }

    /// Checks a template and the number of characters that its names may have.
    pub fn parse(source: &str, limit: usize) -> Result<Self, TemplateError> {
        let parts = || TemplateError::Parts(source.to_owned());
        let (before, rest) = source.split_once(SERVER).ok_or_else(parts)?;
        let (between, after) = rest.split_once(TOOL).ok_or_else(parts)?;
        if [before, between, after].iter().any(|part| part.contains(SERVER) || part.contains(TOOL))
        {
            return Err(parts());
        }
        if between.is_empty() {
            return Err(TemplateError::Nothing(source.to_owned()));
        }
        let literal = || [before, between, after].into_iter().flat_map(str::chars);
        if let Some(bad) = literal().find(|c| !is_safe(*c)) {
            return Err(TemplateError::Character(bad));
        }
        let least = before.len() + between.len() + after.len() + MARK_LEN + LEAST;
        if limit < least {
            return Err(TemplateError::Short { limit, least });
        }
        Ok(Self::of(before, between, after, limit))
    }

    /// How many characters its names have at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The name of a pair: the template filled in, if that is a good name that no other pair can
    /// have; else with a hash. It depends on nothing but the pair.
    pub(super) fn name(&self, server: &str, tool: &str) -> String {
        let natural = self.fill(server, tool);
        let is_good = natural.len() <= self.limit
            && natural.chars().all(is_safe)
            && self.divides_at(&natural, server)
            && !looks_marked(&natural)
            && !RESERVED.contains(&natural.as_str());
        if is_good { natural } else { self.aside(server, tool) }
    }

    /// The name with a hash.
    pub(super) fn aside(&self, server: &str, tool: &str) -> String {
        marked(&self.fill(server, tool), server, tool, self.limit)
    }

    fn fill(&self, server: &str, tool: &str) -> String {
        [&self.before, server, &self.between, tool, &self.after].map(|part| part as &str).concat()
    }

    /// Whether the name, read from the left, divides into this server and its tool. `a__b` and `c`
    /// would make the same name as `a` and `b__c`: only the latter may have it.
    fn divides_at(&self, natural: &str, server: &str) -> bool {
        let inner = &natural[self.before.len()..];
        // From the second character on, as no server has an empty name.
        let from = inner.chars().next().map_or(0, char::len_utf8);
        inner[from..].find(&self.between).map(|at| at + from) == Some(server.len())
    }
}
