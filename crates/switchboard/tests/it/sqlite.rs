//! The hub's SQLite database, seen by another program: Python's own SQLite. Never changes anything in it.

use std::path::Path;
use std::process::Command;

use switchboard_testkit::Tools;

/// Whether the database is sound, by its own check.
pub(crate) fn is_sound(database: &Path) -> bool {
    const CHECK: &str = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchone()[0])";
    run(CHECK, &[database]) == "ok"
}

/// Copies it by SQLite's online backup, as an operator does while the hub runs.
pub(crate) fn back_up(database: &Path, to: &Path) {
    const COPY: &str =
        "import sqlite3, sys; sqlite3.connect(sys.argv[1]).backup(sqlite3.connect(sys.argv[2]))";
    run(COPY, &[database, to]);
}

fn run(script: &str, paths: &[&Path]) -> String {
    let mut command = Command::new(Tools::find().python("servers"));
    let ran = command.args(["-c", script]).args(paths).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
