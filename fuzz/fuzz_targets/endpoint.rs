//! Any bytes as a request to the endpoint.

#![no_main]

#[path = "../../crates/mcp/tests/it/fuzz/body.rs"]
mod body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| body::run(data));
