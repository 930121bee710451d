//! Drives the scripted servers by hand: that they serve well where nothing is wrong, in every
//! transport and revision, and that each fault does what its name says.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "it is test code, in which a broken assumption must stop the test"
)]

mod client;
mod corpora;
mod faults_http;
mod faults_messages;
mod faults_process;
mod http;
mod limits;
mod links;
mod panics;
mod referee;
mod well_behaved;
