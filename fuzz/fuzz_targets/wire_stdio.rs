//! Any bytes as a child's output, however they are cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_testkit::fuzz::wire;

fuzz_target!(|data: &[u8]| wire::lines(data));
