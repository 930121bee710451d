//! What the hub proves itself with to a server: taken in, never given out.

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use switchboard_model::{Auth, Secret, ServerKey, UserId};
use switchboard_store::{CredentialKind, NewCredential, target_hash};
use utoipa::ToSchema;

use super::{change, credential, spec};
use crate::answers::{BadBody, Conflict, Guarded, Missing};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::input::{Body, Id, moment};
use crate::view::server::ServerView;
use crate::who::Caller;

/// A credential to keep.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenCredential {
    /// `bearer` or `api_key`, as the server's `auth` says.
    kind: String,
    /// The credential; kept encrypted and never shown again.
    #[schema(write_only)]
    value: String,
    /// Until when it is good (RFC 3339); from then on it is not sent, and the server waits for another.
    expires_at: Option<String>,
    /// `server`: for everybody who uses it. `me`: one's own, for a server that everybody has; one's agents then
    /// reach it over a connection of their own. Unless given, the server's if the caller may change it.
    #[serde(rename = "for")]
    whose: Option<String>,
}

/// Sets a server's credential
///
/// Over what was there; the server is connected anew with it. It cannot be read again. It goes where the
/// server's `auth` says, and is refused where that says nowhere.
#[utoipa::path(
    put,
    path = "/api/v1/servers/{id}/credential",
    tag = "servers",
    params(("id" = String, Path, description = "The server.")),
    request_body = GivenCredential,
    responses((status = 200, body = ServerView), BadBody, Conflict, Guarded, Missing)
)]
pub(super) async fn set_credential(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(given): Body<GivenCredential>,
) -> Result<Json<ServerView>> {
    let meant = credential::meant(&api, &caller, &id, given.whose.as_deref())?;
    // Kept by name and owner, it would be the file's.
    if let Some(text) = change::hidden(&api, &meant.found) {
        return Err(Problem::conflict("hidden_by_file", text).remedy("Rename one of the two."));
    }
    let kind = [CredentialKind::Bearer, CredentialKind::ApiKey];
    let kind = kind.into_iter().find(|kind| kind.as_str() == given.kind);
    let kind = kind.ok_or_else(|| Problem::invalid("`kind` is `bearer` or `api_key`"))?;
    if given.value.is_empty() {
        return Err(Problem::invalid("`value` is empty"));
    }
    let key = &meant.found.key;
    let spec = spec(&api, &meant.found)?;
    fits(key, &spec.auth, meant.owner.as_ref(), kind)?;
    let expires_at = moment("expires_at", given.expires_at.as_deref())?;
    let value = Secret::new(given.value);
    let target = target_hash(&spec);
    let new = NewCredential { kind, value, issuer: None, scopes: None, expires_at, target };
    let (credentials, owner) = (api.store().credentials(), meant.owner.as_ref());
    credentials.set(key, owner, &new, &caller.actor()).await?;
    api.apply().await?;
    change::credited(&api, &caller, &meant.reached(&api)).await.map(Json)
}

/// Whether the server would ever be sent it: what has no effect is not taken in.
fn fits(key: &ServerKey, auth: &Auth, owner: Option<&UserId>, kind: CredentialKind) -> Result<()> {
    // One's own counts before what the declaration has for everybody.
    let own = match auth {
        Auth::Bearer { .. } => Some(CredentialKind::Bearer),
        Auth::ApiKey { .. } => Some(CredentialKind::ApiKey),
        Auth::None | Auth::OAuth { .. } => None,
    };
    match (owner.map_or_else(|| CredentialKind::wanted(auth), |_| own), auth) {
        (Some(wanted), _) if wanted == kind => Ok(()),
        (Some(wanted), _) => {
            let (is, wanted) = (kind.as_str(), wanted.as_str());
            let text = format!("{key} takes a credential of the kind `{wanted}`, not `{is}`");
            Err(Problem::invalid(text))
        }
        (None, Auth::Bearer { .. } | Auth::ApiKey { .. }) => {
            let text = format!("the declaration of {key} has its own credential, which counts");
            Err(Problem::conflict("takes_no_credential", text)
                .remedy("Change it there, or leave `token` or `key` out of `auth` first."))
        }
        (None, Auth::OAuth { .. }) => {
            let text = format!("{key} wants a person to sign in, not a token or a key");
            Err(Problem::conflict("takes_no_credential", text))
        }
        (None, Auth::None) => {
            let text = format!("the declaration of {key} says of no credential where it goes");
            let remedy = "Declare `auth`: `bearer`, or `api_key` with the `header` or the `variable` \
                          that takes it.";
            Err(Problem::conflict("takes_no_credential", text).remedy(remedy))
        }
    }
}
