//! The path of a call: what is on offer, under which names, to whom, and how a call gets there.
//! Does no I/O except through its ports, which others fill.

pub mod port;
