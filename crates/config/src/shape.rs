//! The shape of our own file, as it is written: what `add` and `import` write and what the JSON
//! schema describes. Reading is the native dialect's; a test holds the two together.

mod from_spec;
mod scalar;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::from_spec::{mcp_servers_entry, server_entry};
pub use self::scalar::{DurationText, Scalar, SizeText};

/// Switchboard's configuration: the servers, who may use them, and the rules.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Switchboard configuration")]
pub struct NativeFile {
    /// Where the schema of this file is, for editors.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The hub's own settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Hub>,
    /// The servers, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Server>,
    /// Servers that are found by their manifests; without this table, none are looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<InternalServers>,
    /// What agents that name no servers have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<DefaultServers>,
    /// The agents, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Agent>,
    /// The rules; the first that matches decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyRule>,
}

/// The hub's own settings.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hub {
    /// The address of every HTTP surface; `127.0.0.1:8010` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// `sqlite` (embedded, the default), `sqlite:PATH`, or a `postgres://` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Where the key that seals every secret is kept: `file` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub master_key: Option<MasterKeyWord>,
    /// The URL of a collector that takes OTLP over HTTP, for calls as spans; none unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
    /// What the audit log holds of the arguments of calls: their `shape` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_arguments: Option<AuditArgumentsWord>,
    /// How tools are named at the MCP endpoint: a template, or `bare` for the servers' own names;
    /// `{server}__{tool}` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_names: Option<String>,
    /// How tools are named towards models in REST and the library: a template, or `bare`;
    /// `mcp__{server}__{tool}` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_names: Option<String>,
}

/// What the audit log holds of the arguments of a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditArgumentsWord {
    /// Names and types.
    Shape,
    /// The values as well, with what is or looks secret redacted, and cut where they are long.
    Values,
}

/// Where the master key is kept.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MasterKeyWord {
    /// A file of mode 0600 beside the database.
    File,
    /// The keyring of the operating system.
    Keyring,
}

/// Servers that are parts of the same system: each a directory beside the others, with a manifest in
/// its package.json.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InternalServers {
    /// Whether they are looked for; true unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The directory whose subdirectories are looked at, seen from this file; `..` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The keys of package.json that a manifest can be under; `annabelle` and `hexa-puffs` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub manifests: Option<Vec<String>>,
}

/// What agents that name no servers have.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultServers {
    /// Names of servers; without this key, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
}

/// An agent and the servers it may use.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// A disabled agent uses nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Names of servers; without this key, the defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
    /// Servers that only this agent has, by name; one that stands elsewhere too is replaced for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<String, Server>,
}

/// A server: a command to start, or a URL to speak to. `${VAR}` and `${VAR:-default}` in `command`,
/// `args`, `env`, `cwd`, `url` and `headers` are filled in when the connection is made.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The program to start, found through PATH; a whole line is split as a shell would split it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The program's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Variables for the program, besides a small base (PATH, HOME, LANG, …).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Scalar>,
    /// The directory that the program runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The endpoint of a server that is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The transport, which is inferred unless it is the older HTTP+SSE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportWord>,
    /// Headers that every request carries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Scalar>,
    /// How the hub proves who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthShape>,
    /// Whether it may run at all; true unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// For people and prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For people and prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Until a connection is reported as late; 30 s unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<DurationText>,
    /// A call without progress (60 s unless set), or a table that also says how long in all (30 min).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<CallTimeout>,
    /// Between two health checks; 60 s unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_interval: Option<DurationText>,
    /// Between SIGTERM and SIGKILL; 5 s unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_grace: Option<DurationText>,
    /// Unused for so long, it is stopped until the next call; never unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<DurationText>,
    /// Calls under way at once; 64 unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_in_flight: Option<u32>,
    /// Text in a result before it is cut; 100 KB unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<SizeText>,
    /// How much of the program's stderr is kept; 64 KB unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_buffer: Option<SizeText>,
    /// When it is started; with the hub (`eager`) unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartWord>,
    /// Whether inputs are scanned before they leave; false unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<bool>,
    /// What the audit log holds of the arguments of its calls: what `hub` says unless set, but no values
    /// of a sensitive server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_arguments: Option<AuditArgumentsWord>,
    /// Whether the server's hints count, as reviewed; true unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_hints: Option<bool>,
    /// Which of its tools are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
}

/// Which of a server's tools are offered, by globs.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// Only these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Never these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// The transports.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransportWord {
    /// A command.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// Streamable HTTP, by its longer name.
    StreamableHttp,
    /// The older HTTP+SSE.
    Sse,
}

/// When a server is started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartWord {
    /// With the hub.
    Eager,
    /// With the first call.
    Lazy,
}

/// How the hub proves who it is: a word, or a table with a `type`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AuthShape {
    /// Without more to say.
    Word(AuthWord),
    /// With its details.
    Table(AuthTable),
}

/// A way to authenticate that needs no details here.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthWord {
    /// By `env` and `headers` alone.
    None,
    /// A token from the store.
    Bearer,
    /// OAuth 2.1, scopes as the server says.
    #[serde(rename = "oauth")]
    OAuth,
}

/// A way to authenticate, with its details.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum AuthTable {
    /// By `env` and `headers` alone.
    None {},
    /// `Authorization: Bearer …`.
    Bearer {
        /// The token; without one, the store's.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
    /// A key in a header (for a URL) or in a variable (for a command).
    ApiKey {
        /// The header that takes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        header: Option<String>,
        /// The variable that takes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        variable: Option<String>,
        /// The key; without one, the store's.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// OAuth 2.1.
    #[serde(rename = "oauth")]
    OAuth {
        /// What to ask for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scopes: Vec<String>,
        /// A client that was registered beforehand.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
        /// Its secret.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_secret: Option<String>,
    },
}

/// How long a call may take.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CallTimeout {
    /// Without progress.
    Quiet(DurationText),
    /// Both.
    Both(CallTimeouts),
}

/// How long a call may take, without progress and in all.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallTimeouts {
    /// Without progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet: Option<DurationText>,
    /// In all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<DurationText>,
}

/// One rule: every condition that is set must hold.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// Which agents, as a glob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which users, as a glob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Which servers, as a glob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Which tools, as a glob over the server's own names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only tools that are, or are not, read-only as reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Only tools that are, or are not, destructive as reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Only calls through this door.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginWord>,
    /// What becomes of the call.
    pub action: ActionWord,
}

/// The doors that calls come through.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum OriginWord {
    Mcp,
    Rest,
    Agent,
    Cli,
    Page,
}

/// What becomes of a call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ActionWord {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

#[cfg(test)]
mod tests;
