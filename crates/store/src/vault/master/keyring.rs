//! The master key in the keyring of the operating system: the Secret Service, the Keychain, the
//! Credential Manager. Beside it, as long as a rotation lasts, the next one.

use ::keyring::{Entry, Error as KeyringError};
use zeroize::Zeroizing;

use super::MasterKey;
use crate::error::{Error, Result};

/// The keys that may be the right one.
pub(super) fn load(service: &str, account: &str, place: &str) -> Result<Vec<MasterKey>> {
    let found = [account.to_owned(), next(account)].map(|account| read(service, &account, place));
    found.into_iter().filter_map(Result::transpose).collect()
}

/// Keeps a key beside the present one.
pub(super) fn prepare(service: &str, account: &str, key: &MasterKey) -> Result<()> {
    write(service, &next(account), key)
}

/// This one is the key from now on.
pub(super) fn settle(service: &str, account: &str, key: &MasterKey, place: &str) -> Result<()> {
    let present = read(service, account, place)?;
    if present.is_none_or(|present| present.0.bytes() != key.0.bytes()) {
        write(service, account, key)?;
    }
    match entry(service, &next(account))?.delete_credential() {
        Ok(()) | Err(KeyringError::NoEntry) => Ok(()),
        Err(error) => Err(refused(error)),
    }
}

fn read(service: &str, account: &str, place: &str) -> Result<Option<MasterKey>> {
    match entry(service, account)?.get_password() {
        Ok(text) => MasterKey::parse(&Zeroizing::new(text), place).map(Some),
        Err(KeyringError::NoEntry) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

fn write(service: &str, account: &str, key: &MasterKey) -> Result<()> {
    entry(service, account)?.set_password(&key.written()).map_err(refused)
}

fn entry(service: &str, account: &str) -> Result<Entry> {
    Entry::new(service, account).map_err(refused)
}

fn next(account: &str) -> String {
    format!("{account}.next")
}

/// Only what kind of error it is: some carry what was stored.
fn refused(error: KeyringError) -> Error {
    Error::Keyring(match error {
        KeyringError::NoDefaultStore => "none is running".to_owned(),
        KeyringError::NoStorageAccess(_) => "it is locked, or access was refused".to_owned(),
        KeyringError::Ambiguous(_) => "there are two entries of that name".to_owned(),
        KeyringError::BadEncoding(_) | KeyringError::BadDataFormat(..) => {
            "the entry is not a text".to_owned()
        }
        other => other.to_string(),
    })
}
