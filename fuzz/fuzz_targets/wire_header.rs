//! Any text as a header's value.

#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_testkit::fuzz::wire;

fuzz_target!(|data: &[u8]| wire::headers(data));
