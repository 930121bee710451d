//! MCP's HTTP headers: their names, how values are made safe for them, and whether they say what
//! the body says. Never touches an HTTP message.

mod check;
mod param;
#[cfg(test)]
mod tests;
mod value;

pub use check::{Mirror, Mismatch, check};
pub use param::{BadAnnotation, ParamHeader, ParamKind, check_params, param_headers};
pub use value::{BadValue, decode, encode};

// Names are in lower case: HTTP compares them without case, and header maps want them so.

/// The revision.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The session; session era.
pub const SESSION_ID: &str = "mcp-session-id";
/// The event to go on from; session era.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The method of the body; stateless era.
pub const METHOD: &str = "mcp-method";
/// What the request is about; stateless era.
pub const NAME: &str = "mcp-name";
/// How the headers begin that mirror arguments of a tool; stateless era.
pub const PARAM_PREFIX: &str = "mcp-param-";
/// Tells proxies to pass events on at once, with the value `no`.
pub const ACCEL_BUFFERING: &str = "x-accel-buffering";

/// What every POST accepts.
pub const ACCEPT_BOTH: &str = "application/json, text/event-stream";
/// The content type of a message.
pub const JSON: &str = "application/json";
