//! The program with its master key in the keyring of the operating system.
#![cfg(feature = "keyring")]

use std::path::Path;

use switchboard_testkit::keyring::session;

use crate::context::{Context, Ran};

const ASKED: &str = "[hub]\nmaster_key = \"keyring\"\n";

#[test]
fn the_key_is_kept_in_the_keyring_and_found_again() {
    let machine = Context::new().with("switchboard.toml", ASKED);
    let Some(ran) = run(&machine, &["agent", "add", "cto"]) else { return };
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!key_file(&machine).exists());
    for args in [&["vault", "rotate"][..], &["agent", "list"]] {
        let ran = run(&machine, args).unwrap();
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    }
    assert!(!key_file(&machine).exists());

    // Moved to a file, it is no longer looked for in the keyring.
    let moved = run(&machine, &["vault", "rotate", "--to", "file"]).unwrap();
    assert_eq!(moved.code, 0, "{}", moved.err);
    assert!(key_file(&machine).is_file());
    let wrong = run(&machine, &["agent", "list"]).unwrap();
    assert!(wrong.code != 0 && wrong.err.contains("keyring"), "{}", wrong.err);
    machine.write("switchboard.toml", "");
    assert!(machine.ok(&["agent", "list"]).out.contains("cto"));
}

#[test]
fn a_keyring_that_is_lost_is_a_clear_error() {
    let machine = Context::new().with("switchboard.toml", ASKED);
    let Some(ran) = run(&machine, &["agent", "add", "cto"]) else { return };
    assert_eq!(ran.code, 0, "{}", ran.err);
    std::fs::remove_dir_all(machine.home().join(".local/share/keyrings")).unwrap();
    let lost = run(&machine, &["agent", "list"]).unwrap();
    assert!(
        lost.code != 0 && lost.err.contains("master key is not at keyring entry"),
        "{}",
        lost.err
    );
}

/// Runs the program beside a keyring, if one can be had.
fn run(machine: &Context, args: &[&str]) -> Option<Ran> {
    let mut command = session(&machine.home(), program())?;
    machine.prepare(command.args(args)).env("XDG_RUNTIME_DIR", machine.home());
    Some(Ran::new(&command.output().unwrap()))
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_switchboard"))
}

fn key_file(machine: &Context) -> std::path::PathBuf {
    machine.home().join(".local/share/switchboard/master.key")
}
