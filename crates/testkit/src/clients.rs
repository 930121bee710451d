//! MCP clients that are not ours, each driven once through what a client does. Never judges what they saw.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::Tools;

/// Every client in every mode, with what it is for.
pub const CLIENTS: &[Client] = &[
    Client::new("mcp 2, auto", Runtime::Python("mcp-2"), "mcp_2.py", "auto"),
    Client::new("mcp 2, legacy", Runtime::Python("mcp-2"), "mcp_2.py", "legacy"),
    Client::new("mcp 2, 2026-07-28", Runtime::Python("mcp-2"), "mcp_2.py", "2026-07-28"),
    Client::new("mcp 1, http", Runtime::Python("mcp-1"), "mcp_1.py", "http"),
    Client::new("mcp-remote", Runtime::Python("mcp-1"), "mcp_1.py", "remote"),
    Client::new("mcp-remote, auto", Runtime::Python("mcp-1"), "mcp_1.py", "remote-auto"),
    Client::new("fastmcp", Runtime::Python("fastmcp"), "fastmcp_cli.py", "http"),
    Client::new("npm client, auto", Runtime::Node, "client.mjs", "auto"),
    Client::new("npm client, legacy", Runtime::Node, "client.mjs", "legacy"),
    Client::new("npm client, 2026-07-28", Runtime::Node, "client.mjs", "2026-07-28"),
    Client::new("inspector, auto", Runtime::Node, "inspector.mjs", "auto"),
    Client::new("inspector, legacy", Runtime::Node, "inspector.mjs", "legacy"),
    Client::new("inspector, modern", Runtime::Node, "inspector.mjs", "modern"),
];

/// Clients of the transport that came before Streamable HTTP.
pub const SSE_CLIENTS: &[Client] = &[
    Client::new("mcp 1, sse", Runtime::Python("mcp-1"), "mcp_1.py", "sse"),
    Client::new("fastmcp, sse", Runtime::Python("fastmcp"), "fastmcp_cli.py", "sse"),
];

/// Clients that start their server.
pub const STDIO_CLIENTS: &[Client] = &[
    Client::new("mcp 1, stdio", Runtime::Python("mcp-1"), "mcp_1.py", "stdio"),
    Client::new("mcp 2, auto", Runtime::Python("mcp-2"), "mcp_2.py", "auto"),
    Client::new("mcp 2, legacy", Runtime::Python("mcp-2"), "mcp_2.py", "legacy"),
    Client::new("npm client, auto", Runtime::Node, "client.mjs", "auto"),
    Client::new("npm client, 2026-07-28", Runtime::Node, "client.mjs", "2026-07-28"),
    Client::new("inspector, legacy", Runtime::Node, "inspector.mjs", "legacy"),
    Client::new("inspector, modern", Runtime::Node, "inspector.mjs", "modern"),
];

/// A server for a client to start; nothing else is in its environment but what clients always pass on.
#[derive(Clone, Debug, Serialize)]
pub struct Start {
    /// The program.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it is started.
    pub cwd: PathBuf,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
}

/// One client in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// What to call it where it fails.
    pub name: &'static str,
    runtime: Runtime,
    script: &'static str,
    mode: &'static str,
}

/// What a client is to use.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// A tool.
    pub tool: &'a str,
    /// Its arguments, as JSON.
    pub arguments: &'a str,
    /// A tool without arguments that asks a person for a name; `Alice` will be the answer.
    pub ask: &'a str,
    /// A text resource.
    pub uri: &'a str,
    /// A prompt without arguments.
    pub prompt: &'a str,
}

/// What a client saw; texts are those of the first block.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the requests")]
pub struct Seen {
    pub revision: String,
    pub tools: Vec<String>,
    pub resources: Vec<String>,
    pub prompts: Vec<String>,
    pub call: String,
    pub asked: Option<String>,
    pub read: String,
    pub prompt: String,
}

#[derive(Clone, Copy, Debug)]
enum Runtime {
    Python(&'static str),
    Node,
}

impl Names<'_> {
    /// Those of the conformance suite.
    pub const SUITE: Self = Self {
        tool: "test_simple_text",
        arguments: "{}",
        ask: "test_input_required_result_elicitation",
        uri: "test://static-text",
        prompt: "test_simple_prompt",
    };
}

impl Client {
    const fn new(
        name: &'static str,
        runtime: Runtime,
        script: &'static str,
        mode: &'static str,
    ) -> Self {
        Self { name, runtime, script, mode }
    }

    /// The revision in which it ends up speaking with whoever knows them all.
    pub fn revision(&self) -> &'static str {
        match (self.script, self.mode) {
            // `mcp-remote` answers its client's handshake itself, and bridges.
            ("mcp_1.py", "remote-auto") => "2026-07-28",
            ("mcp_1.py", _) | (_, "legacy" | "sse") => "2025-11-25",
            _ => "2026-07-28",
        }
    }

    /// Drives it through, and stops the test where it fails.
    pub fn see(&self, url: &str, token: Option<&str>, names: Names<'_>) -> Seen {
        let output = self.command(url, token, names).output().expect("a client that starts");
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {complaint}{said}", self.name);
        let line = said.lines().find(|line| line.starts_with('{'));
        let seen = line.and_then(|line| serde_json::from_str(line).ok());
        seen.unwrap_or_else(|| panic!("{}: {complaint}{said}", self.name))
    }

    /// The same with a server that the client starts.
    pub fn see_started(&self, start: &Start, names: Names<'_>) -> Seen {
        let start = serde_json::to_string(start).expect("paths that are text");
        self.see(&format!("stdio:{start}"), None, names)
    }

    fn command(&self, url: &str, token: Option<&str>, names: Names<'_>) -> Command {
        let tools = Tools::find();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(self.script);
        let mut command = match self.runtime {
            Runtime::Python(environment) => {
                let mut command = Command::new(tools.python(environment));
                // No compiled files among the sources.
                command.arg("-B");
                command
            }
            Runtime::Node => Command::new(tools.node()),
        };
        command.arg(script).arg(url).args(["--mode", self.mode]);
        command.arg("--npm").arg(tools.npm()).arg("--node").arg(tools.node());
        command.args(["--tool", names.tool, "--arguments", names.arguments, "--ask", names.ask]);
        command.args(["--uri", names.uri, "--prompt", names.prompt]);
        if let Some(token) = token {
            command.args(["--token", token]);
        }
        command
    }
}
