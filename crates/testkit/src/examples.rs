//! One valid file of each dialect with every kind of value in it, to be cut, bent and read.

use switchboard_config::Dialect;
use switchboard_config::syntax::Format;

/// A valid file.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Whose.
    pub dialect: Dialect,
    /// How it is written.
    pub format: Format,
    /// What is in it.
    pub text: &'static str,
}

macro_rules! examples {
    ($($dialect:ident, $format:ident, $file:literal;)*) => {
        &[$(Example {
            dialect: Dialect::$dialect,
            format: Format::$format,
            text: include_str!(concat!("../examples/", $file)),
        }),*]
    };
}

/// The examples: one of each dialect, and of the native one in each format.
pub const EXAMPLES: &[Example] = examples! {
    Native, Toml, "native.toml";
    Native, Yaml, "native.yaml";
    Native, Json, "native.json";
    Annabelle, Json, "annabelle.json";
    Spacebot, Toml, "spacebot.toml";
    McpServers, Json, "mcp_servers.json";
    Aicib, Yaml, "aicib.yaml";
    VsCode, Json, "vscode.json";
    Zed, Json, "zed.json";
    Codex, Toml, "codex.toml";
    Goose, Yaml, "goose.yaml";
    Continue, Yaml, "continue.yaml";
    OpenCode, Json, "opencode.json";
};
