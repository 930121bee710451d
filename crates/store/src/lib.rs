//! State that lasts: SQLite and PostgreSQL behind one interface, with the vault, people, agents,
//! tokens, servers, usage and audit. Never connects to a server and never decides a call.

mod access;
mod actor;
mod agents;
mod approvals;
mod audit;
mod cache;
mod change;
mod credentials;
mod db;
mod definitions;
mod error;
mod events;
mod idempotency;
mod key;
mod leases;
mod migrate;
mod outage;
mod password;
mod random;
mod recorder;
mod rules;
mod sealed;
mod servers;
mod settings;
mod sign_in;
mod snapshots;
mod store;
mod tokens;
mod topics;
mod usage;
mod users;
mod vault;
mod verdicts;

pub use access::{Access, Principal};
pub use actor::Actor;
pub use agents::{Agent, Agents};
pub use approvals::{Answer, Approval, ApprovalState, Approvals, Asked};
pub use audit::{
    Audit, AuditRow, CALL, Cursor, Entry, Filter, Head, Page, Retention, Verdict, Violation,
};
pub use cache::{Cached, Freshness, ToolCache};
pub use credentials::{Credential, CredentialKind, Credentials, NewCredential, target_hash};
pub use db::{Address, Engine};
pub use definitions::{Definition, Definitions, Observation, Observed, Seen};
pub use error::{Error, Result};
pub use events::{Events, NewEvent, StoredEvent};
pub use idempotency::{Claim, Held, Idempotency, Replay};
pub use key::{parse_key, write_key};
pub use leases::{Lease, Leases};
pub use outage::Outage;
pub use recorder::{CLASSES, Counters, Durations, Recorder, RecorderOptions, ServerCalls};
pub use rules::{Rules, StoredRule};
pub use servers::{
    Approve, CommandApproval, InFiles, Power, ServerRow, ServerStats, Servers, command_hash,
};
pub use settings::{Kept, Settings};
pub use sign_in::{NewSession, PageSession, SignIn};
pub use snapshots::{Snapshot, SnapshotEntry, Snapshots};
pub use store::{Options, Store};
pub use tokens::{NewToken, Subject, Token, Tokens};
pub use topics::Topic;
pub use usage::{CallRecord, Period, Point, Series, Shape, Usage};
pub use users::{Removed, Role, User, UserEdit, Users};
pub use vault::KeySource;
pub use verdicts::Verdicts;
