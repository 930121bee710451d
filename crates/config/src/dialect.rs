//! The dialects: whose file it is, found by its name and shape, and what it declares.

pub(crate) mod aicib;
pub(crate) mod annabelle;
pub(crate) mod clients;
mod flat;
pub(crate) mod mcp_servers;
pub(crate) mod native;
pub(crate) mod spacebot;

pub use clients::own::is_own;

use std::net::SocketAddr;
use std::path::Path;

use crate::declared::Declared;
use crate::decode::Report;
use crate::syntax::{Format, Node};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Ours.
    Native,
    /// Annabelle's `external-mcps.json`.
    Annabelle,
    /// Spacebot's `config.toml`.
    Spacebot,
    /// An `mcpServers` map, as OpenAssistant, Claude and most clients have it.
    McpServers,
    /// AICIB's `aicib.config.yaml`.
    Aicib,
    /// VS Code's `servers` with `inputs`.
    VsCode,
    /// Zed's `context_servers`.
    Zed,
    /// Codex's `[mcp_servers]`.
    Codex,
    /// goose's `extensions`.
    Goose,
    /// Continue's list under `mcpServers`.
    Continue,
    /// opencode's `mcp`.
    OpenCode,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 11] = [
        Self::Native,
        Self::Annabelle,
        Self::Spacebot,
        Self::McpServers,
        Self::Aicib,
        Self::VsCode,
        Self::Zed,
        Self::Codex,
        Self::Goose,
        Self::Continue,
        Self::OpenCode,
    ];

    /// What people call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "switchboard",
            Self::Annabelle => "annabelle",
            Self::Spacebot => "spacebot",
            Self::McpServers => "mcpServers",
            Self::Aicib => "aicib",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Continue => "continue",
            Self::OpenCode => "opencode",
        }
    }
}

/// How a file is read: whose it is, and what only the caller knows.
pub(crate) struct Reading<'a> {
    pub(crate) path: &'a Path,
    pub(crate) root: &'a Node,
    /// The hub's own addresses, so that its endpoint is not taken for a server.
    pub(crate) own: &'a [SocketAddr],
    /// The project whose part of a file that has many is wanted.
    pub(crate) project: Option<&'a Path>,
}

/// Finds out whose file it is: by its name where that settles it, else by its shape.
pub(crate) fn detect(path: &Path, format: Format, root: &Node) -> Option<Dialect> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "switchboard.toml" | "switchboard.yaml" | "switchboard.yml" | "switchboard.json" => {
            return Some(Dialect::Native);
        }
        "external-mcps.json" => return Some(Dialect::Annabelle),
        "aicib.config.yaml" | "aicib.config.yml" => return Some(Dialect::Aicib),
        "mcp-servers.json" | ".mcp.json" => return Some(Dialect::McpServers),
        _ => {}
    }
    by_shape(path, format, root)
}

fn by_shape(path: &Path, format: Format, root: &Node) -> Option<Dialect> {
    let has = |key: &str| root.get(key).is_some();
    let map = |key: &str| root.get(key).is_some_and(Node::is_map);
    let found = if flat::is(root) {
        Dialect::Annabelle
    } else if has("integrations") && format == Format::Yaml {
        Dialect::Aicib
    } else if map("mcpServers") || has("projects") {
        Dialect::McpServers
    } else if has("mcpServers") {
        Dialect::Continue
    } else if has("context_servers") {
        Dialect::Zed
    } else if has("mcp_servers") {
        Dialect::Codex
    } else if has("extensions") {
        Dialect::Goose
    } else if spacebot::is(root) {
        Dialect::Spacebot
    } else if clients::is_vscode(path, root) {
        Dialect::VsCode
    } else if map("mcp") {
        Dialect::OpenCode
    } else if native::is(root) {
        Dialect::Native
    } else if annabelle::is(root) {
        Dialect::Annabelle
    } else {
        return None;
    };
    Some(found)
}

/// Reads a file in its dialect.
pub(crate) fn read(dialect: Dialect, reading: &Reading<'_>, report: &mut Report) -> Declared {
    flat::complain(dialect, reading.root, report);
    match dialect {
        Dialect::Native => native::read(reading, report),
        Dialect::Annabelle => annabelle::read(reading, report),
        Dialect::Spacebot => spacebot::read(reading, report),
        Dialect::McpServers => mcp_servers::read(reading, report),
        Dialect::Aicib => aicib::read(reading, report),
        Dialect::VsCode => clients::vscode::read(reading, report),
        Dialect::Zed => clients::zed::read(reading, report),
        Dialect::Codex => clients::codex::read(reading, report),
        Dialect::Goose => clients::goose::read(reading, report),
        Dialect::Continue => clients::continue_dev::read(reading, report),
        Dialect::OpenCode => clients::opencode::read(reading, report),
    }
}
