//! The vocabulary of Switchboard: what a server, an agent, a rule, a problem and a secret are.
//! Never does I/O and never knows how any of it is written in a file or on the wire.

pub mod agent;
pub mod clock;
pub mod conceal;
pub mod desired;
pub mod event;
pub mod hub;
pub mod mask;
pub mod name;
mod names;
pub mod policy;
pub mod problem;
pub mod resolve;
pub mod scope;
pub mod secret;
pub mod server;
pub mod source;
pub mod state;
pub mod steering;
pub mod template;

pub use agent::AgentSpec;
pub use clock::{Clock, SystemClock};
pub use conceal::Concealed;
pub use desired::{Changes, DefaultServers, Desired};
pub use event::{Counts, Event, EventKind, LogLine, LogSource, Outcome};
pub use hub::{AuditArguments, HubSpec, MasterKeyPlace, StoreSpec};
pub use name::{AgentId, NameError, ServerName, UserId};
pub use names::{Names, NamesError};
pub use policy::{CallOrigin, Decision, Pattern, PatternError, Rule};
pub use problem::{Code, Place, Problem, Severity};
pub use resolve::{Resolved, ResolvedTransport, Unresolved};
pub use scope::{Scope, ServerKey};
pub use secret::Secret;
pub use server::{
    Auth, HttpKind, HttpSpec, Limits, ServerSpec, Standing, Start, StdioSpec, Timing, ToolFilter,
    Transport,
};
pub use source::Source;
pub use state::{Pace, ServerState, Trouble, Until};
pub use template::{IfMissing, Part, SecretTemplate, Syntax, Template, TemplateError};
