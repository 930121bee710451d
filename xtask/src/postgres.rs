//! Sees to it that the tests of the store find PostgreSQL: Debian's package where it is missing and
//! may be installed. Never starts a server; each test starts its own.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{environment, process, say};

/// Where Debian keeps the programs of every version.
const HOME: &str = "/usr/lib/postgresql";

/// Installs what is missing; nothing where a database is given.
pub(crate) fn install() -> Result<()> {
    if environment::has_test_postgres() || is_there() {
        return Ok(());
    }
    let mut whoami = Command::new("id");
    whoami.arg("-u");
    if !process::output(whoami).is_ok_and(|id| id.trim() == "0") {
        bail!(
            "there is no PostgreSQL, which the tests of the store need; install it \
             (Debian: `sudo apt-get install postgresql`), or set {} to the URL of one",
            environment::TEST_POSTGRES
        );
    }
    say::note("postgresql: installing Debian's package");
    let install = || apt(&["install", "--yes", "--no-install-recommends", "postgresql"]);
    // A fresh machine has no lists of packages yet, or old ones.
    install().or_else(|_| apt(&["update"]).and_then(|()| install())).context(
        "postgresql could not be installed; try `apt-get update && apt-get install postgresql` by hand",
    )
}

fn is_there() -> bool {
    let versions = fs::read_dir(HOME).into_iter().flatten().flatten();
    let mut programs = versions.map(|version| version.path().join("bin/postgres"));
    programs.any(|program| program.is_file())
}

fn apt(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    process::output(command).map(drop)
}
