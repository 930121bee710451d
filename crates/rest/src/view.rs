//! What answers look like. The shapes are private to this crate; secrets have no place in them.

pub(crate) mod server;
pub(crate) mod time;
