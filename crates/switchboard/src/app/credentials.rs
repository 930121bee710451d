//! Which credentials there are and whether they are good, so that a connection is made anew when its own
//! changes or runs out. And what a connection gets. The credentials themselves stay in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_model::resolve::bearer;
use switchboard_model::server::KeyPlace;
use switchboard_model::{Auth, Scope, Secret, ServerKey, ServerSpec, UserId};
use switchboard_store::{Credential, CredentialKind, Error, ServerRow, Store, target_hash};
use switchboard_upstream::Held;

/// Clocks are set; nobody sleeps longer than this before looking at one again.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Credentials as they stand at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing(BTreeMap<(ServerKey, Option<UserId>), (Credential, bool)>);

impl Standing {
    pub(super) fn of(credentials: Vec<Credential>, now: SystemTime) -> Self {
        let standing = credentials.into_iter().map(|credential| {
            let good = is_good(&credential, now);
            ((credential.server.clone(), credential.owner.clone()), (credential, good))
        });
        Self(standing.collect())
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Credential> {
        self.0.values().map(|(credential, _)| credential)
    }

    /// The servers for whom something is another than it was before.
    pub(super) fn changed(&self, before: &Self) -> BTreeSet<ServerKey> {
        let keys = self.0.keys().chain(before.0.keys());
        let other = keys.filter(|key| self.0.get(key) != before.0.get(key));
        other.map(|(server, owner)| reached(server, owner.as_ref())).collect()
    }

    /// How long until the next one runs out, or must be looked at again.
    pub(super) fn next(&self, now: SystemTime) -> Option<Duration> {
        let good = self.0.values().filter(|(_, good)| *good);
        let ends = good.filter_map(|(credential, _)| credential.expires_at);
        ends.min().map(|end| end.duration_since(now).unwrap_or_default().min(LONGEST))
    }
}

/// Every credential. Those of which nobody said to where they were given were given before that counted: for what is
/// declared now. Where a file hides the store's server, for that one: the file came later, and is not sent what it
/// may not have been given.
pub(super) async fn read(
    store: &Store,
    files: &BTreeMap<ServerKey, Arc<ServerSpec>>,
    rows: &[Arc<ServerRow>],
) -> Result<Vec<Credential>, Error> {
    let mut all = store.credentials().list().await?;
    for credential in all.iter_mut().filter(|credential| credential.target.is_none()) {
        let (server, owner) = (&credential.server, credential.owner.as_ref());
        let row = rows.iter().find(|row| row.key == *server).map(|row| &row.spec);
        let Some(spec) = row.or_else(|| files.get(server)) else { continue };
        let target = target_hash(spec);
        store.credentials().bind(server, owner, &target).await?;
        credential.target = Some(target);
    }
    Ok(all)
}

/// What a connection gets of the credential that was found for it.
pub(super) fn held(
    spec: &ServerSpec,
    found: Option<(Credential, Secret)>,
    now: SystemTime,
) -> Held {
    let auth = &spec.auth;
    let place = match auth {
        Auth::ApiKey { place, key: None } => place.clone(),
        Auth::Bearer { token: None } => KeyPlace::Header("authorization".to_owned()),
        Auth::None | Auth::Bearer { .. } | Auth::ApiKey { .. } | Auth::OAuth { .. } => {
            return Held::Nothing;
        }
    };
    let wanted = CredentialKind::wanted(auth);
    match found {
        None => Held::Lacking("none is stored for it yet".to_owned()),
        Some((credential, _)) if wanted != Some(credential.kind) => {
            let (is, wanted) =
                (credential.kind.as_str(), wanted.map_or("", CredentialKind::as_str));
            Held::Lacking(format!("the one that is stored is of the kind {is}, not {wanted}"))
        }
        Some((credential, _)) if credential.target != Some(target_hash(spec)) => {
            let text = "the one that is stored was given for another address or command line, and is not \
                        sent to this one; it has to be given again";
            Held::Lacking(text.to_owned())
        }
        Some((credential, _)) if !is_good(&credential, now) => {
            let end = credential.expires_at.map(humantime::format_rfc3339_seconds);
            let end = end.map(|end| format!(" at {end}")).unwrap_or_default();
            Held::Lacking(format!("the one that is stored expired{end}"))
        }
        Some((_, value)) => Held::Credential(
            place,
            match auth {
                Auth::Bearer { .. } => bearer(&value),
                _ => value,
            },
        ),
    }
}

/// The server that is reached with a credential.
fn reached(server: &ServerKey, owner: Option<&UserId>) -> ServerKey {
    let own =
        |user: &UserId| ServerKey { scope: Scope::User(user.clone()), name: server.name.clone() };
    owner.map_or_else(|| server.clone(), own)
}

fn is_good(credential: &Credential, now: SystemTime) -> bool {
    credential.expires_at.is_none_or(|end| now < end)
}

#[cfg(test)]
mod tests;
