//! A keyring of the test's own: gnome-keyring, unlocked, on a bus that only one command sees. Never the
//! keyring of whoever runs the tests.

use std::path::Path;
use std::process::{Command, Stdio};

/// Unlocks the keyring, then becomes the command.
const SCRIPT: &str =
    "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 && exec \"$@\"";

/// A command that runs the given one on a bus and with a keyring, both kept in `home` and gone when it
/// ends; what was in the keyring is there again for the next command with that home. Nothing where
/// the programs for it are not installed.
pub fn session(home: &Path, program: impl AsRef<std::ffi::OsStr>) -> Option<Command> {
    let there = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok()
    };
    if !["dbus-run-session", "gnome-keyring-daemon"].into_iter().all(there) {
        eprintln!("UNTESTED: dbus-run-session and gnome-keyring are not installed");
        return None;
    }
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", SCRIPT, "sh"]).arg(program);
    command.env("HOME", home).env("XDG_RUNTIME_DIR", home);
    for other in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] {
        command.env_remove(other);
    }
    Some(command)
}
