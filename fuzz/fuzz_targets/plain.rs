//! Any bytes as what comes on a connection.

#![no_main]

#[path = "../../crates/mcp/tests/it/fuzz/plain.rs"]
mod plain;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    plain::run(data);
});
