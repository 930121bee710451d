//! The programs whose configuration we know: what they are called and where their files lie.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::locate::Places;

/// A program with a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// What it is called at the command line.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Its files, the project's before the user's.
    files: &'static [At],
    /// How they are written.
    pub dialect: Dialect,
}

/// Where a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the project.
    Project(&'static str),
    /// In the user's home.
    Home(&'static str),
    /// In the platform's directory for configuration: `~/.config`, `~/Library/Application Support`
    /// or `%APPDATA%`.
    Config(&'static str),
    /// In the directory that a variable names, or at the other place where it names none.
    Variable(&'static str, &'static str, &'static str),
}

/// Every client that is known.
pub const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        files: &[
            At::Project(".mcp.json"),
            At::Variable("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"),
        ],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        files: &[
            At::Config("Claude/claude_desktop_config.json"),
            At::Config("claude/claude_desktop_config.json"),
        ],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "cline",
        name: "Cline",
        files: &[
            At::Home(".cline/data/settings/cline_mcp_settings.json"),
            At::Config(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
        ],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "codex",
        name: "Codex",
        files: &[
            At::Project(".codex/config.toml"),
            At::Variable("CODEX_HOME", "config.toml", ".codex/config.toml"),
        ],
        dialect: Dialect::Codex,
    },
    Client {
        id: "continue",
        name: "Continue",
        files: &[At::Project(".continue/config.yaml"), At::Home(".continue/config.yaml")],
        dialect: Dialect::Continue,
    },
    Client {
        id: "copilot",
        name: "GitHub Copilot CLI",
        files: &[
            At::Project(".mcp.json"),
            At::Project(".github/mcp.json"),
            At::Variable("COPILOT_HOME", "mcp-config.json", ".copilot/mcp-config.json"),
        ],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "cursor",
        name: "Cursor",
        files: &[At::Project(".cursor/mcp.json"), At::Home(".cursor/mcp.json")],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "gemini",
        name: "Gemini CLI",
        files: &[At::Project(".gemini/settings.json"), At::Home(".gemini/settings.json")],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "goose",
        name: "goose",
        files: &[
            At::Home(".config/goose/config.yaml"),
            At::Config("Block/goose/config/config.yaml"),
        ],
        dialect: Dialect::Goose,
    },
    Client {
        id: "lmstudio",
        name: "LM Studio",
        files: &[At::Home(".lmstudio/mcp.json")],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "opencode",
        name: "opencode",
        files: &[
            At::Project("opencode.json"),
            At::Project("opencode.jsonc"),
            At::Home(".config/opencode/opencode.json"),
            At::Home(".config/opencode/opencode.jsonc"),
        ],
        dialect: Dialect::OpenCode,
    },
    Client {
        id: "vscode",
        name: "VS Code",
        files: &[At::Project(".vscode/mcp.json"), At::Config("Code/User/mcp.json")],
        dialect: Dialect::VsCode,
    },
    Client {
        id: "windsurf",
        name: "Windsurf",
        files: &[
            At::Home(".codeium/windsurf/mcp_config.json"),
            At::Home(".codeium/mcp_config.json"),
        ],
        dialect: Dialect::McpServers,
    },
    Client {
        id: "zed",
        name: "Zed",
        files: &[At::Project(".zed/settings.json"), At::Home(".config/zed/settings.json")],
        dialect: Dialect::Zed,
    },
];

impl Client {
    /// The client of this id.
    pub fn find(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// Where its files may be, in the order in which they count.
    pub fn files(
        &self,
        places: &Places,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Vec<PathBuf> {
        let under = |base: &Option<PathBuf>, path: &str| base.as_ref().map(|base| base.join(path));
        let mut files: Vec<PathBuf> = Vec::new();
        for at in self.files {
            let file = match at {
                At::Project(path) => Some(places.cwd.join(path)),
                At::Home(path) => under(&places.home, path),
                At::Config(path) => under(&places.platform, path),
                At::Variable(name, path, otherwise) => match variable(name) {
                    Some(base) => Some(base.join(path)),
                    None => under(&places.home, otherwise),
                },
            };
            files.extend(file);
        }
        files
    }
}

/// Whether a word at the command line is a path rather than a client's id.
pub fn is_path(word: &str) -> bool {
    word.contains(['/', '\\', '.']) || Path::new(word).exists()
}
