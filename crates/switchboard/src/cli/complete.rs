//! `switchboard completions`, `man` and `schema`: what shells, manuals and editors read.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use clap_complete::Shell;

use super::out::Out;

/// Print completions for a shell.
///
/// For example: switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "switchboard", &mut text);
        std::io::stdout().write_all(&text).context("the completions could not be printed")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the JSON schema of switchboard.toml, for editors.
///
/// For example: switchboard schema > switchboard.schema.json, and `#:schema ./switchboard.schema.json` as
/// the first line of switchboard.toml.
#[derive(Debug, Args)]
pub(super) struct Schema {}

impl Schema {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let schema = switchboard_config::schema::native();
        std::io::stdout()
            .write_all(schema.as_bytes())
            .context("the schema could not be printed")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Write the man pages into a directory.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The directory, such as ~/.local/share/man/man1.
    directory: PathBuf,
}

impl Man {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        let directory = &self.directory;
        std::fs::create_dir_all(directory)
            .with_context(|| format!("{} could not be made", directory.display()))?;
        clap_mangen::generate_to(super::command(), directory).with_context(|| {
            format!("the pages could not be written to {}", directory.display())
        })?;
        out.line(format!("Man pages are in {}; try `man switchboard`.", directory.display()));
        Ok(ExitCode::SUCCESS)
    }
}
