//! Any bytes as what a peer sends.

#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_testkit::fuzz::wire;

fuzz_target!(|data: &[u8]| wire::message(data));
