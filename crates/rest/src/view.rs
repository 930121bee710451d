//! What answers look like. The shapes are private to this crate; secrets have no place in them.

pub(crate) mod agent;
pub(crate) mod command;
pub(crate) mod server;
pub(crate) mod time;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod user;
