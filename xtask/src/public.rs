//! The public test data, which is not part of the repository. Never fetches it.

use crate::{environment, say};

/// Says so where it is not there: the tests that take it pass then without having tested anything.
pub(crate) fn report() {
    let folder = environment::test_data();
    if !folder.join("hostile").is_dir() {
        say::note(format_args!(
            "UNTESTED: the public hostile sets, as there is no `hostile` in {} \
             (SWITCHBOARD_TEST_DATA); our own set was tested",
            folder.display()
        ));
    }
}
