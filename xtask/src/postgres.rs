//! Sees to it that the tests of the store find PostgreSQL: Debian's package where it is missing and
//! may be installed. Never starts a server; each test starts its own.

use std::fs;

use anyhow::{Result, bail};

use crate::{debian, environment};

/// Where Debian keeps the programs of every version.
const HOME: &str = "/usr/lib/postgresql";

/// Installs what is missing; nothing where a database is given.
pub(crate) fn install() -> Result<()> {
    if environment::has_test_postgres() || is_there() {
        return Ok(());
    }
    if !debian::may_install() {
        bail!(
            "there is no PostgreSQL, which the tests of the store need; install it \
             (Debian: `sudo apt-get install postgresql`), or set {} to the URL of one",
            environment::TEST_POSTGRES
        );
    }
    debian::install(&["postgresql"])
}

fn is_there() -> bool {
    let versions = fs::read_dir(HOME).into_iter().flatten().flatten();
    let mut programs = versions.map(|version| version.path().join("bin/postgres"));
    programs.any(|program| program.is_file())
}
