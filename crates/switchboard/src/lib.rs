//! Switchboard connects any AI agent to any external MCP server: the program, and the library that
//! other programs embed. All wiring is here; what is wired lives in the crates below.
//!
//! # Quick start
//!
//! A [`Hub`] keeps the servers that are declared connected, whatever revision of MCP each of them speaks, and
//! shows every agent what it may use. It reads no file and listens nowhere:
//!
//! ```no_run
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use switchboard::Hub;
//! use switchboard::model::{
//!     AgentId, AgentSpec, Desired, ServerKey, ServerName, ServerSpec, StdioSpec, Template, Transport,
//! };
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A server, by the command that starts it, and an agent that may use it.
//!     let name = ServerName::parse("files")?;
//!     let stdio = StdioSpec {
//!         command: Template::literal("npx"),
//!         args: ["-y", "@modelcontextprotocol/server-filesystem", "."].map(Template::literal).into(),
//!         env: BTreeMap::new(),
//!         cwd: None,
//!     };
//!     let spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
//!     let agent = AgentId::parse("me")?;
//!     let mut desired = Desired::default();
//!     desired.servers.insert(ServerKey::global(name.clone()), Arc::new(spec));
//!     let servers = Some([name].into());
//!     desired.agents.insert(agent.clone(), AgentSpec { servers, ..AgentSpec::default() });
//!
//!     let hub = Hub::builder().start().await?;
//!     hub.reconcile(&desired).await;
//!     hub.settle(Duration::from_secs(30)).await;
//!     for tool in hub.tools(&agent) {
//!         println!("{}", tool.name);
//!     }
//!     let result = hub.call(&agent, "mcp__files__list_directory", r#"{"path": "."}"#).await?;
//!     println!("{}", result.as_json().as_str());
//!     hub.shutdown().await;
//!     Ok(())
//! }
//! ```
//!
//! # What else there is
//!
//! - [`Hub::reconcile`] is the only way in: to add, change or remove a server, declare what there should be, and
//!   what did not change notices nothing.
//! - [`Hub::events`] tells what happens to servers and calls, [`Hub::upstreams`] how each server stands.
//! - [`hub::Builder`] takes a store (then calls are recorded, and agents have tokens), a directory for state, and
//!   a gate that decides which commands may be started.
//! - [`Hub::endpoint`] serves agents over MCP, as routes of an HTTP server of yours. Who they are is known from the
//!   store, or from [`hub::Builder::auth`]; without either nobody is let in.
//! - [`app::App`] is the whole program: files that are watched, the store, the address and the sockets.
//!
//! `examples/embed.rs` is a program to begin with.

pub mod app;
pub mod cli;
pub mod control;
pub mod eras;
pub mod hub;
mod keeping;
pub mod lifecycle;
mod routes;
pub mod servers;
pub mod state_dir;
pub mod storage;
pub mod traces;

pub use hub::Hub;
pub use switchboard_config as config;
pub use switchboard_core as core;
pub use switchboard_mcp as mcp;
pub use switchboard_model as model;
pub use switchboard_rest as rest;
pub use switchboard_store as store;
pub use switchboard_upstream as upstream;
pub use switchboard_wire as wire;
