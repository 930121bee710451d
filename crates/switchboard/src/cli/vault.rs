//! `switchboard vault`: the key that everything secret is sealed with.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use switchboard_config::Loader;
use switchboard_model::{MasterKeyPlace, SystemClock};

use super::out::{DIM, GOOD, Out};
use crate::state_dir::{Claim, StateDir, StateError};
use crate::storage;

/// Keep the key that everything secret is sealed with.
#[derive(Debug, Args)]
pub(super) struct Vault {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take a new master key and seal everything anew; the hub may run meanwhile.
    ///
    /// The new key is made and put where the old one is, and a running hub finds it there. Where the key
    /// comes from SWITCHBOARD_MASTER_KEY, the new one is read from SWITCHBOARD_NEW_MASTER_KEY; `--to`
    /// moves the key. A running hub could not follow either, so both want the hub stopped, and started
    /// again with the new SWITCHBOARD_MASTER_KEY, or with `master_key` set in [hub]. Where several hubs
    /// share a database, stop the others before any rotation and give them the new key.
    Rotate {
        /// Put the new key there instead of where the old one is.
        #[arg(long, value_name = "PLACE")]
        to: Option<Place>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    /// A file of mode 0600 in the data directory.
    File,
    /// The keyring of the operating system.
    Keyring,
}

impl Vault {
    pub(super) fn run(&self, out: &Out) -> Result<ExitCode> {
        match self.command {
            Command::Rotate { to } => rotate(to, out),
        }
    }
}

fn rotate(to: Option<Place>, out: &Out) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let place = runtime.block_on(async {
        let data = super::places().data;
        let loaded = Loader::new(super::selection(&[]), Arc::new(SystemClock)).load();
        let spec = &loaded.desired.hub;
        let to = to.map(|to| match to {
            Place::File => MasterKeyPlace::File,
            Place::Keyring => MasterKeyPlace::Keyring,
        });
        let is_seen_by_hubs = to.is_none() && storage::key_can_be_read_again();
        let to = storage::next_key(spec, data.clone(), to)?;
        let place = to.place();
        let _alone = match is_seen_by_hubs {
            true => None,
            false => Some(alone()?),
        };
        let store = storage::open(spec, data, Arc::new(SystemClock)).await?;
        store.rotate(to).await?;
        store.close().await?;
        anyhow::Ok(place)
    })?;
    out.json(&json!({"key": place}));
    out.line(format!("{GOOD}Everything is sealed anew.{GOOD:#} The key is in {place}."));
    out.note(format!("{DIM}Backups of the database from before need the old key.{DIM:#}"));
    Ok(ExitCode::SUCCESS)
}

/// No hub runs, and none starts as long as this is kept.
fn alone() -> Result<Claim> {
    StateDir::open(super::places().state)?.claim().map_err(|error| match error {
        StateError::Taken { .. } => anyhow::Error::new(error).context(
            "the running hub cannot take over this key; stop it, rotate, and start it again with the new key",
        ),
        error => error.into(),
    })
}
