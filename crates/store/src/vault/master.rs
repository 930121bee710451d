//! The master key and where it is kept: a file of its own, a value handed in, the keyring of the
//! operating system. Never in the database.

#[cfg(feature = "keyring")]
mod keyring;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use switchboard_model::Secret;
use zeroize::Zeroizing;

use super::cipher::Key;
use crate::db::make_directory;
use crate::error::{Error, Result};

/// Where the master key is kept.
#[derive(Clone, Debug)]
pub enum KeySource {
    /// A file of mode 0600, made at the first start.
    File(PathBuf),
    /// Handed in: 32 bytes in base64 or hexadecimal, from an environment variable.
    Value {
        /// The key.
        key: Secret,
        /// Where it came from, for people.
        place: String,
    },
    /// An entry in the operating system's keyring, made at the first start.
    #[cfg(feature = "keyring")]
    Keyring {
        /// Under which service.
        service: String,
        /// Under which account.
        account: String,
    },
}

/// What wraps the data keys.
#[derive(Clone)]
pub(super) struct MasterKey(Key);

impl MasterKey {
    pub(super) fn wrap(&self, id: i64, key: &Key) -> Result<Vec<u8>> {
        self.0.seal(key.bytes(), &bound_to(id))
    }

    pub(super) fn unwrap(&self, id: i64, wrapped: &[u8]) -> Option<Key> {
        Key::from_bytes(&self.0.open(wrapped, &bound_to(id))?)
    }

    fn parse(text: &str, place: &str) -> Result<Self> {
        let text = text.trim();
        let bytes = match text.len() {
            64 => hexadecimal(text),
            _ => STANDARD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok(),
        };
        let key = bytes.map(Zeroizing::new).and_then(|bytes| Key::from_bytes(&bytes));
        key.map(Self).ok_or_else(|| Error::KeyMalformed { place: place.to_owned() })
    }

    fn written(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0.bytes()))
    }
}

impl KeySource {
    /// Where it is, for people.
    pub fn place(&self) -> String {
        match self {
            Self::File(path) => format!("`{}`", path.display()),
            Self::Value { place, .. } => place.clone(),
            #[cfg(feature = "keyring")]
            Self::Keyring { service, account } => format!("keyring entry {service}/{account}"),
        }
    }

    /// The keys that may be the right one: after a rotation that was cut short, the new one too.
    pub(super) async fn load(self) -> Result<Vec<MasterKey>> {
        blocking(move || match &self {
            Self::File(path) => {
                let found = [path.clone(), next(path)].map(|path| read(&path));
                found.into_iter().filter_map(Result::transpose).collect()
            }
            Self::Value { key, place } => Ok(vec![MasterKey::parse(key.expose(), place)?]),
            #[cfg(feature = "keyring")]
            Self::Keyring { service, account } => keyring::load(service, account, &self.place()),
        })
        .await
    }

    pub(super) async fn load_or_create(self) -> Result<MasterKey> {
        if let Some(found) = self.clone().load().await?.into_iter().next() {
            return Ok(found);
        }
        let made = self.clone().prepare().await?;
        self.settle(made.clone()).await?;
        Ok(made)
    }

    /// A key to rotate to, kept beside the present one until it is settled. A value handed in is
    /// its own.
    pub(super) async fn prepare(self) -> Result<MasterKey> {
        blocking(move || match &self {
            Self::File(path) => {
                let key = MasterKey(Key::random()?);
                write(&next(path), key.written().as_bytes())?;
                Ok(key)
            }
            Self::Value { key, place } => MasterKey::parse(key.expose(), place),
            #[cfg(feature = "keyring")]
            Self::Keyring { service, account } => {
                let key = MasterKey(Key::random()?);
                keyring::prepare(service, account, &key)?;
                Ok(key)
            }
        })
        .await
    }

    /// This one is the key from now on; what lay beside it goes.
    pub(super) async fn settle(self, key: MasterKey) -> Result<()> {
        blocking(move || match &self {
            Self::File(path) => settle_file(path, &key),
            Self::Value { .. } => Ok(()),
            #[cfg(feature = "keyring")]
            Self::Keyring { service, account } => {
                keyring::settle(service, account, &key, &self.place())
            }
        })
        .await
    }
}

/// Whatever lies there, the key that opens the store must be there afterwards.
fn settle_file(path: &Path, key: &MasterKey) -> Result<()> {
    let settled = read(path)?.is_some_and(|found| found.0.bytes() == key.0.bytes());
    if !settled {
        write(path, key.written().as_bytes())?;
    }
    match fs::remove_file(next(path)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { path: next(path), source })
        }
        _ => Ok(()),
    }
}

fn next(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".next");
    PathBuf::from(name)
}

fn read(path: &Path) -> Result<Option<MasterKey>> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let text = match fs::read_to_string(path) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(Error::KeyExposed { path: path.to_owned(), mode });
        }
    }
    MasterKey::parse(&text, &format!("`{}`", path.display())).map(Some)
}

/// Written aside, synced and renamed: a crash leaves the whole key or none.
fn write(path: &Path, text: &[u8]) -> Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let aside = path.with_extension("part");
    let written = directory.map_or(Ok(()), make_directory).and_then(|()| {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&aside)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&aside, path)?;
        sync_directory(path)
    });
    written.map_err(|source| Error::File { path: path.to_owned(), source })
}

fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if cfg!(unix) => fs::File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

fn bound_to(id: i64) -> Vec<u8> {
    [&b"data_keys"[..], &id.to_be_bytes()].concat()
}

/// Files and keyrings make one wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
