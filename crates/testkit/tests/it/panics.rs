//! That a panic is seen which ends nothing but its own thread.

use std::panic::catch_unwind;

use switchboard_testkit::panics;

#[test]
fn one_that_nobody_joins_is_seen() {
    assert!(catch_unwind(panics::none).is_err(), "nobody watches");
    panics::watch();
    panics::none();
    assert!(std::thread::spawn(|| panic!("as it should")).join().is_err());
    assert!(catch_unwind(panics::none).is_err());
}
