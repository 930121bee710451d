//! Sees to it that the tests of the keyring find one: a bus and gnome-keyring, by Debian's packages
//! where they are missing and may be installed. Never starts either; each test starts its own.

use crate::{debian, environment, say};

/// What the tests run, and the packages that bring it.
const PROGRAMS: [&str; 2] = ["dbus-run-session", "gnome-keyring-daemon"];
const PACKAGES: [&str; 2] = ["dbus", "gnome-keyring"];

/// Installs what is missing. Where that cannot be, the tests run without.
pub(crate) fn install() {
    if is_there() || !debian::may_install() {
        return;
    }
    if let Err(error) = debian::install(&PACKAGES) {
        say::note(format_args!("{error:#}"));
    }
}

/// Said where the tests have nothing to run against: they pass then without having tested anything.
pub(crate) fn untested() -> Option<String> {
    (!is_there()).then(|| {
        format!(
            "UNTESTED: the keyring of the operating system, as {} are not installed \
             (Debian: `sudo apt-get install {}`)",
            PROGRAMS.join(" and "),
            PACKAGES.join(" ")
        )
    })
}

fn is_there() -> bool {
    let places = environment::search_path();
    PROGRAMS.iter().all(|program| places.iter().any(|place| place.join(program).is_file()))
}
