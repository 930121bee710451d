//! The keys of `_meta`, and the extensions' names. Never reads or writes one.

/// The member that holds all of these.
pub const META: &str = "_meta";

/// What MCP keeps for itself.
pub const PREFIX: &str = "io.modelcontextprotocol/";

/// Opts a request in to progress notifications; both eras.
pub const PROGRESS_TOKEN: &str = "progressToken";

/// The revision of a request; stateless era, required.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the caller can do; stateless era, required.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the caller is; stateless era.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on the caller wants log messages; stateless era.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who the server is, on results; stateless era.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Which subscription a message belongs to; stateless era.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Which task a message belongs to; revision 2025-11-25.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// What the model may be told while a task runs; revision 2025-11-25.
pub const IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";

/// W3C trace context.
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context.
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE: &str = "baggage";

/// The tasks extension, in `capabilities.extensions`.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The apps extension, in `capabilities.extensions`.
pub const APPS_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Where a tool's `_meta` names its app (`ui.resourceUri`).
pub const UI: &str = "ui";
/// The same as the extension had it at first.
pub const UI_RESOURCE_URI: &str = "ui/resourceUri";
