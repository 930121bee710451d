//! Where the hub's store is and what opens it, by what is declared and what the environment says.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_config::environment;
use switchboard_model::{Clock, HubSpec, MasterKeyPlace, StoreSpec, UserId};
use switchboard_store::{Address, KeySource, Options, Role, Store, User};

/// The database in the data directory.
const FILE: &str = "switchboard.db";

/// The variable that holds the master key, for whoever keeps it elsewhere than in a file.
const MASTER_KEY: &str = "SWITCHBOARD_MASTER_KEY";

/// The one that holds the next master key, for a rotation.
const NEW_MASTER_KEY: &str = "SWITCHBOARD_NEW_MASTER_KEY";

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// There is no home to put it in.
    #[error("there is no place for the database; set SWITCHBOARD_DATA_DIR or HOME")]
    Nowhere,
    /// The URL names variables that are not set.
    #[error("the URL of the store needs {}, which is not set", .0.join(", "))]
    Variables(Vec<String>),
    /// A rotation has no key to go to.
    #[error(
        "the master key comes from {MASTER_KEY}; put the next one into {NEW_MASTER_KEY}, \
         such as `openssl rand -base64 32` makes"
    )]
    NoNextKey,
    /// The keyring is asked for and this program knows none.
    #[cfg(not(feature = "keyring"))]
    #[error(
        "this program was built without the keyring; set `master_key = \"file\"` in [hub], \
         or build it with `--features keyring`"
    )]
    NoKeyring,
    /// It does not open.
    #[error("the store cannot be opened")]
    Open(#[from] switchboard_store::Error),
}

/// Opens the store that is declared.
pub async fn open(
    spec: &HubSpec,
    data: Option<PathBuf>,
    clock: Arc<dyn Clock>,
) -> Result<Store, StorageError> {
    let address = match &spec.store {
        StoreSpec::Sqlite { path: Some(path) } => Address::Sqlite(path.clone()),
        StoreSpec::Sqlite { path: None } => {
            let directory = data.clone().ok_or(StorageError::Nowhere)?;
            Address::Sqlite(directory.join(FILE))
        }
        StoreSpec::Postgres { url } => {
            let mut missing = Vec::new();
            let mut note = |name: &str, _: &_| missing.push(name.to_owned());
            let url = url.expose().resolve(&environment::variable, &mut note);
            if !missing.is_empty() {
                return Err(StorageError::Variables(missing));
            }
            Address::Postgres(url)
        }
    };
    let key = match environment::variable(MASTER_KEY) {
        Some(key) => KeySource::Value { key, place: MASTER_KEY.to_owned() },
        None => kept(spec.master_key, data)?,
    };
    Ok(Store::open(Options { address, key, clock }).await?)
}

/// The store that is declared, if there is one yet: whoever only looks makes none.
pub async fn existing(
    spec: &HubSpec,
    data: Option<PathBuf>,
    clock: Arc<dyn Clock>,
) -> Result<Option<Store>, StorageError> {
    if let StoreSpec::Sqlite { path } = &spec.store {
        let path = path.clone().or_else(|| data.as_ref().map(|data| data.join(FILE)));
        if !path.is_some_and(|path| path.exists()) {
            return Ok(None);
        }
    }
    open(spec, data, clock).await.map(Some)
}

/// Whether a running hub finds a new master key by itself, as it reads the place of the old one again.
pub fn key_can_be_read_again() -> bool {
    environment::variable(MASTER_KEY).is_none()
}

/// Where the master key will be after a rotation: where it is now, unless it is to move.
pub fn next_key(
    spec: &HubSpec,
    data: Option<PathBuf>,
    to: Option<MasterKeyPlace>,
) -> Result<KeySource, StorageError> {
    if to.is_some() || environment::variable(MASTER_KEY).is_none() {
        return kept(to.unwrap_or(spec.master_key), data);
    }
    let key = environment::variable(NEW_MASTER_KEY).ok_or(StorageError::NoNextKey)?;
    Ok(KeySource::Value { key, place: NEW_MASTER_KEY.to_owned() })
}

/// A key that the hub makes and keeps by itself, one for each data directory.
fn kept(place: MasterKeyPlace, data: Option<PathBuf>) -> Result<KeySource, StorageError> {
    let directory = data.ok_or(StorageError::Nowhere)?;
    match place {
        MasterKeyPlace::File => Ok(KeySource::File(directory.join("master.key"))),
        #[cfg(feature = "keyring")]
        MasterKeyPlace::Keyring => Ok(KeySource::Keyring {
            service: "switchboard".to_owned(),
            account: format!("master key of {}", directory.display()),
        }),
        #[cfg(not(feature = "keyring"))]
        MasterKeyPlace::Keyring => Err(StorageError::NoKeyring),
    }
}

/// The administrator: whoever first started the hub. Made if there is nobody yet, and made one again
/// if nobody is: this machine's user can do anything here, and a hub without one could not start.
pub async fn administrator(store: &Store) -> Result<User, switchboard_store::Error> {
    let users = store.users();
    let first = administrator_id();
    if let Some(made) = users.first(&first, "Administrator").await? {
        return Ok(made);
    }
    if let Some(user) = local(users.list().await?, &first) {
        return Ok(user);
    }
    tracing::warn!("the store has no administrator; `{first}` is one from now on");
    users.restore(&first, "Administrator").await
}

/// Of the administrators the first one, or whoever has been there for longest: never somebody who was made one
/// later, whose id only comes first in the alphabet.
fn local(users: Vec<User>, first: &UserId) -> Option<User> {
    let all = users.into_iter().filter(|user| user.role == Role::Administrator);
    all.min_by_key(|user| (user.id != *first, user.created_at, user.id.clone()))
}

#[expect(clippy::expect_used, reason = "the name is a constant, and a test reads it")]
fn administrator_id() -> UserId {
    UserId::parse("admin").expect("it is a name")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_local_administrator_is_the_first_one_or_the_oldest() {
        use Role::{Administrator, Member};
        type Users<'a> = &'a [(&'a str, Role, u64)];
        let cases: [(Users<'_>, Option<&str>); 4] = [
            (&[("aaron", Administrator, 2), ("admin", Administrator, 1)], Some("admin")),
            (&[("aaron", Administrator, 2), ("zoe", Administrator, 1)], Some("zoe")),
            (&[("aaron", Administrator, 2), ("admin", Member, 1)], Some("aaron")),
            (&[("aaron", Member, 2)], None),
        ];
        for (users, wanted) in cases {
            let user = |(id, role, at): &(&str, Role, u64)| User {
                id: UserId::parse(id).unwrap(),
                name: String::new(),
                role: *role,
                has_password: false,
                created_at: UNIX_EPOCH + Duration::from_secs(*at),
            };
            let found = local(users.iter().map(user).collect(), &administrator_id());
            assert_eq!(found.as_ref().map(|user| user.id.as_str()), wanted, "{users:?}");
        }
    }
}
