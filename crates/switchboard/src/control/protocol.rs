//! The words between a command and a hub: one question, then answers line by line. Private to one
//! version of the program; scripts read `--json`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::list::DeclaredReport;

/// Which server is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Whose, if the name alone is not enough: `global`, `user anna`, `agent cto`.
    pub scope: Option<String>,
}

/// What a command asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// What is declared, and where.
    List,
    /// How every server stands.
    Status,
    /// Whether these servers work; without any, all.
    Test {
        /// Which ones.
        servers: Vec<Target>,
    },
    /// What these servers offer; without any, all.
    Tools {
        /// Which ones.
        servers: Vec<Target>,
    },
    /// A call.
    Call {
        /// Of which server.
        server: Target,
        /// The server's own name of the tool.
        tool: String,
        /// A JSON object, as it was written.
        arguments: String,
    },
    /// What these servers said; without any, all.
    Logs {
        /// Which ones.
        servers: Vec<Target>,
        /// How many lines of each.
        lines: usize,
        /// Whether what comes is wanted too.
        follow: Follow,
    },
    /// The files were changed: they are read and applied now.
    Apply {
        /// The server that it is about.
        server: String,
        /// What was done to them.
        edit: FileEdit,
    },
    /// Something about agents and tokens.
    People(PeopleAsk),
    /// A new connection.
    Reconnect {
        /// To which server.
        server: Target,
    },
}

/// What a command did to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    /// Which command: `add`, `remove`, ….
    pub command: String,
    /// Which files.
    pub files: Vec<PathBuf>,
}

/// Whether what comes is wanted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Follow {
    /// What was said, and no more.
    No,
    /// Until nobody listens.
    Yes,
}

/// What is asked about agents and tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum PeopleAsk {
    /// Every agent.
    Agents,
    /// A new agent.
    AddAgent {
        /// Its id.
        id: String,
        /// The servers it names; none is the defaults.
        servers: Option<Vec<String>>,
        /// For people.
        description: Option<String>,
    },
    /// An agent that goes, with its tokens.
    RemoveAgent {
        /// Its id.
        id: String,
    },
    /// A server that was taken out of the files, which agents need not name any longer; those that did are told.
    Unassign {
        /// What it was called.
        server: String,
    },
    /// Every token.
    Tokens,
    /// A new token.
    CreateToken {
        /// Whose.
        agent: String,
        /// What a person calls it.
        name: String,
        /// How many seconds it is good for.
        lasting: Option<u64>,
    },
    /// A token that is worth nothing from now on.
    RevokeToken {
        /// Its id.
        id: String,
    },
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// Its id.
    pub id: String,
    /// Whose it is; nobody's, if a file declares it.
    pub owner: Option<String>,
    /// Where a file declares it.
    pub file: Option<String>,
    /// Whether it may do anything.
    pub enabled: bool,
    /// The servers it names.
    pub servers: Option<Vec<String>>,
    /// For people.
    pub description: Option<String>,
}

/// A token; the secret only when it has just been made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenReport {
    /// Its id, for revoking it.
    pub id: String,
    /// What a person calls it.
    pub name: String,
    /// Whose it is: `agent cto`, `user anna`.
    pub of: String,
    /// Its first characters.
    pub hint: String,
    /// `good`, `expired` or `revoked`.
    pub state: String,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970.
    pub expires_at: Option<u64>,
    /// Seconds since 1970.
    pub last_used: Option<u64>,
    /// The token itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Said {
    /// It takes a while.
    Waiting(Waiting),
    /// How a server stands.
    Server(Box<ServerReport>),
    /// A server that is declared.
    Declared(Box<DeclaredReport>),
    /// How much is wrong with the files.
    Problems {
        /// So many things are left out.
        errors: usize,
        /// So many are strange.
        warnings: usize,
    },
    /// One thing that is wrong with what is declared.
    Problem {
        /// `error` or `warning`.
        severity: String,
        /// What, where, and what to do, in one line.
        text: String,
    },
    /// A tool.
    Tool(ToolReport),
    /// An agent.
    Agent(AgentReport),
    /// A token.
    Token(TokenReport),
    /// How far a call is.
    Progress {
        /// So much is done.
        progress: f64,
        /// Of so much.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A server said something.
    Log {
        /// Which one.
        server: String,
        /// Where.
        source: String,
        /// What.
        text: String,
    },
    /// The result of a call, byte for byte.
    Result {
        /// JSON.
        result: String,
    },
    /// It cannot be done.
    Failed(Failure),
    /// That was all.
    End,
}

/// What is still waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// Which server.
    pub server: String,
    /// For how long.
    pub seconds: f64,
    /// For what.
    pub sentence: String,
    /// What the server said last.
    pub log: Option<String>,
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerReport {
    /// Its name.
    pub server: String,
    /// Whose it is.
    pub scope: String,
    /// Whether it works.
    pub ok: bool,
    /// The state's code.
    pub state: String,
    /// The same for a person.
    pub sentence: String,
    /// What to do, if something is to be done.
    pub remedy: Option<String>,
    /// The transport.
    pub transport: String,
    /// `session` or `stateless`.
    pub era: Option<String>,
    /// The revision of the protocol.
    pub revision: Option<String>,
    /// What the server calls itself, with its version.
    pub title: Option<String>,
    /// How many tools it has.
    pub tools: usize,
    /// Whether what is on offer of it is what it offered when it was last there.
    #[serde(default)]
    pub stale: bool,
    /// What they are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_names: Vec<String>,
    /// How many resources it has.
    pub resources: usize,
    /// How many prompts it has.
    pub prompts: usize,
    /// Its process.
    pub pid: Option<u32>,
    /// Calls under way.
    pub in_flight: u32,
    /// How long the test took.
    pub seconds: Option<f64>,
    /// The last health checks, oldest first: milliseconds, or why there was no answer.
    pub health: Vec<Result<f64, String>>,
    /// What it said last.
    pub log: Vec<String>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    /// Whose.
    pub server: String,
    /// Its own name.
    pub tool: String,
    /// What it says of itself.
    pub description: String,
    /// `read-only`, `destructive`, as the server claims.
    pub hints: Vec<String>,
    /// All of it, as the server sent it.
    pub definition: String,
    /// Whether the server offered it when it was last there, and is not there now.
    #[serde(default)]
    pub stale: bool,
}

/// Why it cannot be done, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What to do next.
    pub remedy: String,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into() }
    }
}
