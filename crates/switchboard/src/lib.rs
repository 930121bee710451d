//! Switchboard connects any AI agent to any external MCP server: the program, and the library that
//! other programs embed. All wiring is here; what is wired lives in the crates below.

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
pub use switchboard_core as core;
pub use switchboard_model as model;
pub use switchboard_wire as wire;
