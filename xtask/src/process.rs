//! Starts child processes in the repository root with the shared target directory.
//! Never captures what a child prints, except where the answer itself is wanted.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::environment;

/// A cargo command in the repository root.
pub(crate) fn cargo(arguments: &[&str]) -> Result<Command> {
    let mut command = program(Path::new("cargo"))?;
    command.args(arguments);
    Ok(command)
}

/// Any program in the repository root, with the same target directory as cargo.
pub(crate) fn program(path: &Path) -> Result<Command> {
    let mut command = Command::new(path);
    command.current_dir(environment::root());
    // Build scripts that look at the same names would run again whenever somebody turns from
    // `cargo xtask` to `cargo build` and back, and with them half the build.
    for name in environment::own_package() {
        command.env_remove(name);
    }
    if let Some(target) = environment::target()? {
        command.env("CARGO_TARGET_DIR", target);
    }
    Ok(command)
}

/// Runs to the end with the terminal as it is; anything but success is an error that names the command.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let shown = shown(&command);
    let status = command.status().with_context(|| format!("`{shown}` did not start"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs to the end and returns what it wrote to stdout; stderr goes into the error.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let shown = shown(&command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{shown}` did not start"))?;
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` did not print UTF-8"))
}

fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
