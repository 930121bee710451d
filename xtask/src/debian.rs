//! Debian's packages, for what the tests run and the project neither builds nor brings. Never installs
//! anything for anybody but root.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{process, say};

/// Whether packages can be installed by whoever runs this.
pub(crate) fn may_install() -> bool {
    let said = |program: &str, argument: &str| {
        let mut command = Command::new(program);
        command.arg(argument);
        process::output(command)
    };
    said("id", "-u").is_ok_and(|id| id.trim() == "0") && said("apt-get", "--version").is_ok()
}

/// Installs packages, with lists of packages that are fetched anew if those at hand are not enough.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    say::note(format_args!("{names}: installing from Debian"));
    let install = || {
        let fixed = ["install", "--yes", "--no-install-recommends"];
        apt(fixed.iter().chain(packages))
    };
    // A fresh machine has no lists of packages yet, or old ones.
    install().or_else(|_| apt(&["update"]).and_then(|()| install())).with_context(|| {
        format!(
            "{names} could not be installed; try `apt-get update && apt-get install {names}` by hand"
        )
    })
}

fn apt<'a>(arguments: impl IntoIterator<Item = &'a &'a str>) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    process::output(command).map(drop)
}
