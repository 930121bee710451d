//! Servers without anything around them: whether a map is one of servers, whatever they are called, and what to say
//! where the word for all servers holds what one of them has.

use switchboard_model::Code;

use super::Dialect;
use super::native::ROOT_KEYS;
use crate::decode::Report;
use crate::syntax::{Field, Node};

/// Under these a dialect has its servers. With a server's own keys in it, such a word is a server's name, or the
/// name was forgotten.
const MAPS: [&str; 6] =
    ["context_servers", "extensions", "mcp", "mcpServers", "mcp_servers", "servers"];

/// Whether every value is a server's entry, and not all of their names can be words of a dialect.
pub(super) fn is(root: &Node) -> bool {
    let mut fields = root.fields().iter().filter(|field| field.key != "$schema").peekable();
    let some = fields.peek().is_some();
    let mut named = false;
    let entries = fields.all(|field| {
        named |= !MAPS.contains(&field.key.as_str());
        is_entry(&field.value)
    });
    some && entries && named
}

/// Says of a word that the dialect reads that a server's own keys stand in it.
pub(super) fn complain(dialect: Dialect, root: &Node, report: &mut Report) {
    let reads = |field: &&Field| match (dialect, field.key.as_str()) {
        (Dialect::Native, key) => ROOT_KEYS.contains(&key),
        (Dialect::McpServers, key) => key == "mcpServers",
        (Dialect::Codex, key) => key == "mcp_servers",
        (Dialect::Zed, key) => key == "context_servers",
        (Dialect::Goose, key) => key == "extensions",
        (Dialect::OpenCode, key) => key == "mcp",
        (Dialect::VsCode, key) => key == "servers",
        (Dialect::Annabelle | Dialect::Spacebot | Dialect::Aicib | Dialect::Continue, _) => false,
    };
    for field in root.fields().iter().filter(reads).filter(|field| is_entry(&field.value)) {
        let key = &field.key;
        let message = format!("`{key}` holds what a single server has");
        let remedy = format!(
            "If `{key}` is the server's name, write {{\"mcpServers\": {{\"{key}\": …}}}}; \
             else give the server a name."
        );
        report.error(Code::BadValue, &field.key_span, message, remedy);
    }
}

/// Whether a server's own keys stand in it, and not servers that are called so.
fn is_entry(node: &Node) -> bool {
    ["command", "url"].iter().any(|key| node.get(key).is_some_and(|node| node.as_str().is_some()))
}
