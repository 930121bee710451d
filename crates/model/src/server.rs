//! A server as it is declared, whatever the file, page or call that declared it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::hub::AuditArguments;
use crate::mask;
use crate::name::ServerName;
use crate::policy::Pattern;
use crate::template::{SecretTemplate, Template};

/// Everything that is declared about one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// What it is called.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// How the hub proves who it is.
    pub auth: Auth,
    /// Whether it may run at all.
    pub enabled: bool,
    /// For people and prompts.
    pub description: Option<String>,
    /// For people and prompts.
    pub category: Option<String>,
    /// How long things may take.
    pub timing: Timing,
    /// How much of things there may be.
    pub limits: Limits,
    /// When it is started.
    pub start: Start,
    /// Whether inputs are scanned before they leave.
    pub sensitive: bool,
    /// What is written down of the arguments of its calls, if it is not what the hub says.
    pub audit_arguments: Option<AuditArguments>,
    /// Whether the server's reviewed hints count.
    pub trust_hints: bool,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// What it is to the hub.
    pub standing: Standing,
}

/// What a server is to the hub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Somebody declared it.
    #[default]
    External,
    /// It was found beside the hub, as a part of the same system.
    Internal,
    /// The same, and without it the hub does not start.
    Required,
}

impl Standing {
    /// The word for it: `internal` or `external`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Internal | Self::Required => "internal",
        }
    }
}

impl ServerSpec {
    /// A server with every setting at its default.
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            transport,
            auth: Auth::None,
            enabled: true,
            description: None,
            category: None,
            timing: Timing::default(),
            limits: Limits::default(),
            start: Start::Eager,
            sensitive: false,
            audit_arguments: None,
            trust_hints: true,
            tools: ToolFilter::default(),
            standing: Standing::External,
        }
    }

    /// Whether a live connection made for `other` serves this one too. Descriptions, limits and
    /// filters are applied in place; only what shapes the connection itself counts.
    pub fn same_connection(&self, other: &Self) -> bool {
        self.transport == other.transport
            && self.auth == other.auth
            && self.enabled == other.enabled
            && self.start == other.start
    }

    /// What is written down of the arguments of its calls, in a hub that says `hub` of those of all.
    /// Of a sensitive server no values are, unless its own entry asks for them.
    pub fn audits(&self, hub: AuditArguments) -> AuditArguments {
        match self.audit_arguments {
            Some(own) => own,
            None if self.sensitive => AuditArguments::Shape,
            None => hub,
        }
    }

    /// What it connects to, in one line for people, with secrets masked.
    pub fn target(&self) -> String {
        match &self.transport {
            Transport::Stdio(stdio) => stdio.line(),
            Transport::Http(http) => mask::url(&http.url.source()),
        }
    }
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks on its standard input and output.
    Stdio(StdioSpec),
    /// A URL.
    Http(HttpSpec),
}

impl Transport {
    /// The word for it in files and answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(HttpSpec { kind: HttpKind::Streamable, .. }) => "http",
            Self::Http(HttpSpec { kind: HttpKind::Sse, .. }) => "sse",
        }
    }
}

/// A command to start.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioSpec {
    /// The program, found through PATH unless it is a path.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// What its environment has besides the small base.
    pub env: BTreeMap<String, SecretTemplate>,
    /// Where it runs.
    pub cwd: Option<Template>,
}

impl StdioSpec {
    /// The command and its arguments in one line, with secrets masked.
    fn line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        let words: Vec<String> = words.map(Template::source).collect();
        mask::command_line(words.iter().map(String::as_str))
    }
}

/// The arguments as one line: whether a word is a secret depends on the option before it.
impl fmt::Debug for StdioSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command: _, args: _, env, cwd } = self;
        let mut shown = f.debug_struct("StdioSpec");
        shown.field("line", &self.line()).field("env", env).field("cwd", cwd).finish()
    }
}

/// A URL to speak to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpSpec {
    /// Which of the two HTTP transports.
    pub kind: HttpKind,
    /// The endpoint.
    pub url: Template,
    /// What every request carries, by lower-case name.
    pub headers: BTreeMap<String, SecretTemplate>,
}

/// The two HTTP transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP, since revision 2025-03-26.
    Streamable,
    /// HTTP+SSE, of revision 2024-11-05.
    Sse,
}

/// How the hub proves to the server who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Not at all, or by `env` and `headers` alone.
    None,
    /// `Authorization: Bearer …`; without a token here, the store's.
    Bearer {
        /// The token.
        token: Option<SecretTemplate>,
    },
    /// A key in a header of its own or in a variable of the child's environment.
    ApiKey {
        /// Where the key goes.
        place: KeyPlace,
        /// The key; without one here, the store's.
        key: Option<SecretTemplate>,
    },
    /// OAuth 2.1.
    OAuth {
        /// What to ask for; empty leaves it to the server.
        scopes: Vec<String>,
        /// A client that was registered beforehand.
        client_id: Option<String>,
        /// Its secret.
        client_secret: Option<SecretTemplate>,
    },
}

/// Where an API key goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// A request header, by lower-case name.
    Header(String),
    /// A variable of the child's environment.
    Variable(String),
}

/// How long things may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Until a connection is reported as late.
    pub connect: Duration,
    /// A call without progress.
    pub call: Duration,
    /// A call in all.
    pub call_total: Duration,
    /// Between two health checks.
    pub health_interval: Duration,
    /// Between SIGTERM and SIGKILL.
    pub stop_grace: Duration,
    /// Unused for so long, it is stopped until the next call.
    pub idle: Option<Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(60),
            call_total: Duration::from_secs(30 * 60),
            health_interval: Duration::from_secs(60),
            stop_grace: Duration::from_secs(5),
            idle: None,
        }
    }
}

/// How much of things there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls under way at once.
    pub max_in_flight: u32,
    /// Bytes of text in a result before it is cut.
    pub max_output: u64,
    /// Bytes of stderr that are kept.
    pub log_buffer: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_in_flight: 64, max_output: 100_000, log_buffer: 64_000 }
    }
}

/// When a server is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the hub.
    Eager,
    /// With the first call.
    Lazy,
}

/// Which of a server's tools are offered: those that `allow` matches (or all, if it is empty) and
/// `deny` does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these.
    pub allow: Vec<Pattern>,
    /// Never these.
    pub deny: Vec<Pattern>,
}

impl ToolFilter {
    /// Whether a tool of this name is offered.
    pub fn offers(&self, tool: &str) -> bool {
        (self.allow.is_empty() || self.allow.iter().any(|p| p.matches(tool)))
            && !self.deny.iter().any(|p| p.matches(tool))
    }
}
