//! Any bytes as a file of this dialect.

#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_config::Dialect;
use switchboard_testkit::fuzz;

fuzz_target!(|data: &[u8]| fuzz::run(Dialect::Codex, data));
