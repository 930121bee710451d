//! Any bytes as one value.

#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_testkit::fuzz::wire;

fuzz_target!(|data: &[u8]| wire::json(data));
