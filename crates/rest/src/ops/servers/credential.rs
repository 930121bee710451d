//! Whose credential is meant: the server's, with which everybody reaches it, or one's own. What setting and
//! forgetting one have in common.

use switchboard_model::{Scope, ServerKey, UserId};

use super::{Found, find};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::port::Source;
use crate::who::Caller;

/// A credential that somebody meant.
pub(super) struct Meant {
    /// The server that it is kept for.
    pub(super) found: Found,
    /// Whose it is; the server's, if nobody's.
    pub(super) owner: Option<UserId>,
}

/// `server` is the server's, `me` one's own; unless given, whichever the caller may change.
pub(super) fn meant(api: &Api, caller: &Caller, id: &str, word: Option<&str>) -> Result<Meant> {
    let found = find(api, caller, id)?;
    // Somebody's own connection to what everybody has is theirs by its credential.
    if let (Source::Credential { shared, of }, Scope::User(user)) =
        (&found.source, &found.key.scope)
    {
        let owner = Some(user.clone());
        let shared = Found { key: shared.clone(), source: (**of).clone(), shadowed: false };
        return match word {
            None | Some("me") => Ok(Meant { found: shared, owner }),
            Some(_) => meant_of(api, caller, shared, word),
        };
    }
    meant_of(api, caller, found, word)
}

fn meant_of(api: &Api, caller: &Caller, found: Found, word: Option<&str>) -> Result<Meant> {
    let (all, may) = (found.key.scope == Scope::Global, caller.may_change(&found.key, api.store()));
    match word {
        None | Some("server") if may => Ok(Meant { found, owner: None }),
        None | Some("me") if all => Ok(Meant { found, owner: Some(caller.user.clone()) }),
        Some("me") => {
            let text = format!("{} is one person's already: it has one credential", found.key);
            Err(Problem::invalid(text).remedy("Leave `for` out."))
        }
        None | Some("server") => {
            let text = format!("only an administrator changes {}", found.key);
            Err(Problem::forbidden(text).remedy("`for` is `me` for a credential of your own."))
        }
        Some(_) => Err(Problem::invalid("`for` is `server` or `me`")),
    }
}

impl Meant {
    /// The server that is reached with it.
    pub(super) fn reached(&self, api: &Api) -> Found {
        let Some(user) = &self.owner else { return self.found.clone() };
        let own = ServerKey { scope: Scope::User(user.clone()), name: self.found.key.name.clone() };
        let source = api.hub().declared().sources.get(&own).cloned();
        match source {
            Some(source) => Found { key: own, source, shadowed: false },
            None => self.found.clone(),
        }
    }
}
