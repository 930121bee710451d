//! The guardian: this program beside the hub, so that nothing the hub started outlives it.

use std::process::ExitCode;

use clap::Args;

use crate::servers;

/// Waits beside a hub; only a hub starts it.
#[derive(Debug, Args)]
pub(super) struct Guardian {
    /// The hub's mark.
    mark: String,
}

impl Guardian {
    pub(super) fn run(&self) -> ExitCode {
        servers::guard(&self.mark);
        ExitCode::SUCCESS
    }
}
