//! What things are called towards agents. A name is made from the server's and the tool's names
//! alone, so no server can rename another's tools or take over their names, whatever comes and
//! goes. Never takes a name apart: the way back is by table.

mod hash;
mod template;
#[cfg(test)]
mod tests;
mod uri;

use std::sync::Arc;

pub(crate) use hash::digest;
pub use template::{Template, TemplateError};
pub(crate) use uri::{APP_SCHEME, Qualifier, SCHEME};

use crate::registry::Kind;
use crate::results;

/// The hub's own tools, which are called by these names on every surface. What would be published
/// under one of them is moved aside.
pub const RESERVED: [&str; 5] =
    ["system_health_check", "get_status", READ_RESULT, "find_tools", "call_tool"];

/// The hub's own server, as rules and records name it.
pub const HOUSE: &str = "switchboard";

/// The hub's own tool that reads a kept result in pages.
pub const READ_RESULT: &str = "read_result";

/// How names are made for one kind of reader. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// By a template; URIs are qualified by their server.
    Prefixed(Arc<Template>),
    /// As the servers have them: for one server's own door. Only what two servers of a view have in
    /// common is told apart.
    Bare,
    /// The same where a person prefers bare names: what models' providers refuse, and what is longer than
    /// so many characters, gets a hash, and no name passes from one server to another.
    Short(usize),
}

impl Surface {
    /// What models see in REST, Rig and prompt sections: `mcp__{server}__{tool}`, 64 characters.
    pub fn model() -> Self {
        Self::Prefixed(Arc::new(Template::of("mcp__", "__", "", 64)))
    }

    /// The MCP endpoint, whose clients add a prefix of their own: `{server}__{tool}`, 46
    /// characters.
    pub fn mcp() -> Self {
        Self::Prefixed(Arc::new(Template::of("", "__", "", 46)))
    }

    /// A template as a person wrote it, such as `{server}_{tool}`.
    pub fn parse(template: &str, limit: usize) -> Result<Self, TemplateError> {
        Ok(Self::Prefixed(Arc::new(Template::parse(template, limit)?)))
    }

    /// What a server's tool or prompt is called here if nothing else is in the way, which on a
    /// prefixed surface nothing can be.
    pub fn name(&self, server: &str, tool: &str) -> String {
        match self {
            Self::Prefixed(template) => template.name(server, tool),
            Self::Bare => tool.to_owned(),
            Self::Short(limit) => {
                let is_good = tool.len() <= *limit
                    && tool.chars().all(hash::is_safe)
                    && !hash::looks_marked(tool)
                    && !RESERVED.contains(&tool);
                if is_good { tool.to_owned() } else { self.aside(server, tool) }
            }
        }
    }

    /// What it is called where [`Surface::name`] is taken.
    pub(crate) fn aside(&self, server: &str, tool: &str) -> String {
        match self {
            Self::Prefixed(template) => template.aside(server, tool),
            Self::Bare => hash::marked(tool, server, tool, Template::MODEL_LIMIT),
            Self::Short(limit) => hash::marked(tool, server, tool, *limit),
        }
    }
}

/// Whether an entry under this name of its own could be taken for something else: a tool of the
/// hub's, a name with a hash, a URI that says whose it is, a result that was kept.
pub(crate) fn is_taken_aside(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::Tools => RESERVED.contains(&name) || hash::looks_marked(name),
        Kind::Prompts => hash::looks_marked(name),
        Kind::Resources | Kind::Templates => {
            Qualifier::prefix(name).is_some_and(Qualifier::is_own) || results::is_uri(name)
        }
    }
}
