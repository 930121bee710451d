//! A server as the API shows it: what is declared, where, how it stands, and what happened to it.
//! Of secrets only the names.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_model::{Auth, Scope, ServerKey, ServerSpec, ServerState, Transport, mask};
use switchboard_store::{ServerRow, ServerStats, command_hash};
use switchboard_upstream::Status;
use switchboard_wire::Era;
use utoipa::ToSchema;

use super::command::CommandView;
use super::time::time;
use crate::port::Source;

/// A server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerView {
    /// What to call it by in paths; stays when the server is edited.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// `global`, `user` or `agent`.
    pub(crate) scope: String,
    /// Whose it is, unless it is everybody's.
    pub(crate) owner: Option<String>,
    /// Where it is declared.
    pub(crate) source: SourceView,
    /// Whether it may run.
    pub(crate) enabled: bool,
    /// `stdio`, `http` or `sse`.
    pub(crate) transport: String,
    /// What it connects to, in one line, with secrets masked.
    pub(crate) target: String,
    /// The names of the variables that its environment has.
    pub(crate) env: Vec<String>,
    /// The names of the headers that its requests carry.
    pub(crate) headers: Vec<String>,
    /// How the hub proves who it is: `none`, `bearer`, `api_key` or `oauth`.
    pub(crate) auth: String,
    /// For people.
    pub(crate) description: Option<String>,
    /// For people.
    pub(crate) category: Option<String>,
    /// The catalog's name of what it is, if the catalog knows it.
    pub(crate) catalog: Option<String>,
    /// `external` or `internal`.
    pub(crate) standing: String,
    /// How it stands.
    pub(crate) state: StateView,
    /// The command line that an administrator approves; none for a URL.
    pub(crate) approval: Option<ApprovalView>,
    /// What happened to it.
    pub(crate) stats: StatsView,
    /// Counts its changes; the etag is made of it.
    pub(crate) revision: Option<i64>,
    /// Whether the caller has a credential of their own for it: their agents reach it over a connection of
    /// their own, which is a server of the same name and the source `credential`.
    pub(crate) your_credential: bool,
    /// Its entry as our own file has it, for whoever may change it: `null` stands for what is secret, and
    /// sent back keeps it. What has its default is left out.
    #[schema(value_type = Option<Object>)]
    pub(crate) entry: Option<Map<String, Value>>,
}

/// Where a server is declared.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceView {
    /// `file` or `store`; or `credential`: a server that everybody has, with somebody's own credential. What
    /// a file declares is changed in the file.
    pub(crate) kind: String,
    /// The id of the server that everybody has, of the kind `credential`.
    pub(crate) shared: Option<String>,
    /// The file.
    pub(crate) path: Option<String>,
    /// The line.
    pub(crate) line: Option<usize>,
    /// Whether a file declares a server of the same name, which counts instead.
    pub(crate) shadowed: bool,
    /// That file.
    pub(crate) shadowed_by: Option<String>,
}

/// How a server stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateView {
    /// The state, stable across versions.
    pub(crate) code: String,
    /// The same for a person.
    pub(crate) message: String,
    /// What went wrong, if something did.
    pub(crate) error: Option<String>,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
    /// The link to open, if it wants a person to sign in.
    pub(crate) sign_in: Option<String>,
    /// `session` or `stateless`, while it is connected.
    pub(crate) era: Option<String>,
    /// The revision of the protocol, while it is connected.
    pub(crate) protocol: Option<String>,
    /// What the server calls itself, while it is connected.
    pub(crate) title: Option<String>,
    /// How many tools it offers.
    pub(crate) tools: usize,
    /// How many resources.
    pub(crate) resources: usize,
    /// How many prompts.
    pub(crate) prompts: usize,
    /// Its process.
    pub(crate) pid: Option<u32>,
    /// Calls under way.
    pub(crate) in_flight: u32,
    /// Whether what it offers to agents is what it offered when it was last there, and it has not said
    /// since that it still does.
    pub(crate) stale: bool,
}

/// Whether a command line may run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalView {
    /// What an approval names: another command line has another hash.
    pub(crate) hash: String,
    /// Whether it may run.
    pub(crate) approved: bool,
    /// Who approved it.
    pub(crate) by: Option<String>,
    /// When.
    pub(crate) at: Option<String>,
    /// All of it, for administrators, while it waits for approval.
    pub(crate) command: Option<CommandView>,
}

/// What happened to a server.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct StatsView {
    /// When it was first heard of.
    pub(crate) added_at: Option<String>,
    /// When it was last called.
    pub(crate) last_used: Option<String>,
    /// How often it was called.
    pub(crate) use_count: u64,
    /// How often that failed.
    pub(crate) error_count: u64,
    /// What went wrong last, for whoever may change it: it may be about any of its callers.
    pub(crate) last_error: Option<String>,
    /// Its state; as it was last written down, if it does not run.
    pub(crate) connection_status: Option<String>,
    /// When it last answered.
    pub(crate) last_connected_at: Option<String>,
    /// How many tools it has, or had then.
    pub(crate) tool_count: Option<u64>,
}

/// What a server is shown by.
pub(crate) struct Shown<'a> {
    pub(crate) key: &'a ServerKey,
    pub(crate) spec: &'a ServerSpec,
    pub(crate) source: &'a Source,
    /// The file that counts instead, if one does: then it does not run.
    pub(crate) hidden_by: Option<&'a Source>,
    /// None, if it does not run, or nothing does.
    pub(crate) status: Option<&'a Status>,
    /// Whether what it offers is what it offered when it was last there.
    pub(crate) stale: bool,
    pub(crate) stats: Option<&'a ServerStats>,
    /// For whoever may change it.
    pub(crate) entry: Option<Map<String, Value>>,
    /// Whether whoever asks has a credential of their own for it.
    pub(crate) your_credential: bool,
}

/// The server's id: the row's where it has one, else made of what it is called and whose it is.
pub(crate) fn id(key: &ServerKey, source: &Source) -> String {
    match source {
        Source::Store(row) => row.id.clone(),
        Source::File { .. } | Source::Credential { .. } => key_id(key),
    }
}

/// `global:NAME`, `user:ada:NAME`, `agent:cto:NAME`.
pub(crate) fn key_id(key: &ServerKey) -> String {
    match &key.scope {
        Scope::Global => format!("global:{}", key.name),
        Scope::User(user) => format!("user:{user}:{}", key.name),
        Scope::Agent(agent) => format!("agent:{agent}:{}", key.name),
    }
}

/// A server as the API shows it.
pub(crate) fn server(shown: Shown<'_>) -> ServerView {
    let Shown { key, spec, source, hidden_by, status, stale, stats, entry, your_credential } =
        shown;
    let row = match source {
        Source::Store(row) => Some(row),
        Source::File { .. } | Source::Credential { .. } => None,
    };
    let (scope, owner) = match &key.scope {
        Scope::Global => ("global", None),
        Scope::User(user) => ("user", Some(user.to_string())),
        Scope::Agent(agent) => ("agent", Some(agent.to_string())),
    };
    let (env, headers) = match &spec.transport {
        Transport::Stdio(stdio) => (stdio.env.keys().cloned().collect(), Vec::new()),
        Transport::Http(http) => (Vec::new(), http.headers.keys().cloned().collect()),
    };
    ServerView {
        id: id(key, source),
        name: key.name.to_string(),
        scope: scope.to_owned(),
        owner,
        source: source_view(source, hidden_by),
        enabled: spec.enabled,
        transport: spec.transport.as_str().to_owned(),
        target: spec.target(),
        env,
        headers,
        auth: auth(&spec.auth).to_owned(),
        description: spec.description.clone(),
        category: spec.category.clone(),
        catalog: switchboard_config::catalog::name_of(spec).map(str::to_owned),
        standing: spec.standing.as_str().to_owned(),
        state: StateView { stale, ..state(status) },
        approval: approval(spec, row.map(|row| &**row)),
        stats: StatsView {
            // What a call came to is its caller's, and anybody may have made it.
            last_error: stats
                .and_then(|stats| stats.last_error.clone())
                .filter(|_| entry.is_some()),
            ..stats_view(stats, status)
        },
        revision: row.map(|row| row.revision),
        your_credential,
        entry,
    }
}

fn source_view(source: &Source, hidden_by: Option<&Source>) -> SourceView {
    let file = |source: &Source| match source {
        Source::File { path, line } => Some((path.display().to_string(), *line)),
        Source::Store(_) | Source::Credential { .. } => None,
    };
    let (path, line) = file(source).unzip();
    let (kind, shared) = match source {
        Source::File { .. } => ("file", None),
        Source::Store(_) => ("store", None),
        Source::Credential { shared, of } => ("credential", Some(id(shared, of))),
    };
    SourceView {
        kind: kind.to_owned(),
        shared,
        path,
        line: line.flatten(),
        shadowed: hidden_by.is_some(),
        shadowed_by: hidden_by.and_then(file).map(|(path, _)| path),
    }
}

fn state(status: Option<&Status>) -> StateView {
    let state = status.map_or(&ServerState::START, |status| &status.state);
    let trouble = match state {
        ServerState::Failed { error, .. } => Some(error),
        _ => None,
    };
    let counts = status.map(|status| status.counts).unwrap_or_default();
    StateView {
        code: state.code().to_owned(),
        message: mask::text(&state.sentence()),
        error: trouble.map(|trouble| mask::text(&trouble.message)),
        remedy: trouble.map(|trouble| trouble.remedy.clone()).filter(|text| !text.is_empty()),
        sign_in: match state {
            ServerState::NeedsAuth { url, .. } => url.clone(),
            _ => None,
        },
        era: status.and_then(|status| status.era).map(era),
        protocol: status.and_then(|status| status.revision).map(str::to_owned),
        title: status.and_then(|status| status.server.clone()),
        tools: counts.tools,
        resources: counts.resources,
        prompts: counts.prompts,
        pid: status.and_then(|status| status.pid),
        in_flight: status.map_or(0, |status| status.in_flight),
        stale: false,
    }
}

fn approval(spec: &ServerSpec, row: Option<&ServerRow>) -> Option<ApprovalView> {
    let row = row.filter(|_| matches!(spec.transport, Transport::Stdio(_)))?;
    let given = row.approval.as_ref();
    Some(ApprovalView {
        hash: hex(&command_hash(spec)),
        approved: given.is_some(),
        by: given.map(|approval| approval.by.clone()),
        at: given.map(|approval| time(approval.at)),
        command: None,
    })
}

/// How it stands now counts before what was last written down, so that no answer contradicts itself.
fn stats_view(stats: Option<&ServerStats>, status: Option<&Status>) -> StatsView {
    let Some(stats) = stats else { return StatsView::default() };
    let now = status.filter(|status| status.state.is_connected());
    let tools = now.map(|status| status.counts.tools as u64);
    let code = status.map(|status| status.state.code().to_owned());
    StatsView {
        added_at: stats.added_at.map(time),
        last_used: stats.last_used.map(time),
        use_count: stats.use_count,
        error_count: stats.error_count,
        last_error: None,
        connection_status: code.or_else(|| stats.connection_status.clone()),
        last_connected_at: stats.last_connected_at.map(time),
        tool_count: tools.or(stats.tool_count),
    }
}

fn era(era: Era) -> String {
    match era {
        Era::Session => "session".to_owned(),
        Era::Stateless => "stateless".to_owned(),
    }
}

fn auth(auth: &Auth) -> &'static str {
    match auth {
        Auth::None => "none",
        Auth::Bearer { .. } => "bearer",
        Auth::ApiKey { .. } => "api_key",
        Auth::OAuth { .. } => "oauth",
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
