//! The `requestState` that a client gets to keep: bound to who they are, the door, the request, the
//! server that it leads to, and a time. Keeps nothing: what it says is looked at again on return.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use sha2::{Digest as _, Sha256};
use switchboard_core::Request;
use switchboard_model::{CallOrigin, ServerKey};
use switchboard_wire::{Json, JsonBuf, write};

use crate::endpoint::Inner;
use crate::guests::Pass;
use crate::running::Asker;
use crate::seal::{Purpose, is_owner, put_owner};

/// What a state that came back is.
pub(super) enum State {
    /// A waiting call's.
    Parked(u128),
    /// That of a call which ended with so many pages that its client was sent to.
    Sent(usize),
    /// A server's own, as it gave it.
    Passed(JsonBuf),
}

impl Inner {
    /// Seals what `write` says for whoever makes this request; `None` if it cannot be bound to all of
    /// that.
    pub(super) fn close_state(
        &self,
        asker: &Asker,
        method: &str,
        params: Json<'_>,
        write: impl FnOnce(&mut write::Object<'_>),
    ) -> Option<String> {
        let pass = asker.pass.as_ref()?;
        let server = self.leads(asker, method, params)?;
        let until = seconds(self.clock.now() + self.limits.input);
        let plain = write::object(|plain| {
            put_owner(plain, &pass.principal.who);
            plain.text("d", &pass.door.label());
            plain.text("n", server.name.as_str());
            plain.text("o", &server.scope.to_string());
            plain.integer("e", until);
            plain.text("h", &digest(method, params));
            write(plain);
        });
        self.seal.close(Purpose::State, plain.as_json())
    }

    /// What was sealed, if it was for this caller, at this door, for this request, and the request
    /// leads to the same server today.
    pub(super) fn open_state(
        &self,
        asker: &Asker,
        method: &str,
        params: Json<'_>,
        state: Json<'_>,
    ) -> Option<State> {
        let pass = asker.pass.as_ref()?;
        let plain = self.seal.open(Purpose::State, &state.string()?)?;
        let json = plain.as_json();
        let until = json.get("e").and_then(Json::integer)?;
        let same = json.get("h").and_then(Json::string)? == digest(method, params);
        if !is_of(json, pass) || until <= seconds(self.clock.now()) || !same {
            return None;
        }
        if !is_to(json, &self.leads(asker, method, params)?) {
            return None;
        }
        if let Some(number) = json.get("p").and_then(Json::string) {
            return u128::from_str_radix(&number, 16).ok().map(State::Parked);
        }
        if let Some(count) = json.get("w").and_then(Json::integer) {
            return usize::try_from(count).ok().map(State::Sent);
        }
        json.get("s").map(|own| State::Passed(plain.part(own)))
    }

    /// The server that a request leads to, in what its caller sees now.
    pub(crate) fn leads(&self, asker: &Asker, method: &str, params: Json<'_>) -> Option<ServerKey> {
        let (view, who, origin) = (&*asker.view, &*asker.who, CallOrigin::Mcp);
        self.router.leads(&Request {
            view,
            who,
            origin,
            method,
            params: params.into(),
            trace: None,
        })
    }
}

/// Whether it was given to this caller at this door.
fn is_of(plain: Json<'_>, pass: &Pass) -> bool {
    let door = plain.get("d").and_then(Json::string);
    is_owner(plain, &pass.principal.who) && door.is_some_and(|door| door == pass.door.label())
}

/// Whether it is of a call of this server.
fn is_to(plain: Json<'_>, server: &ServerKey) -> bool {
    let text = |key| plain.get(key).and_then(Json::string).unwrap_or_default();
    text("n") == server.name.as_str() && text("o") == server.scope.to_string()
}

/// What a request is, whatever it says of itself and brings back.
fn digest(method: &str, params: Json<'_>) -> String {
    let mut members: Vec<(&[u8], Json<'_>)> = params
        .members()
        .filter(|member| {
            let key = member.key;
            !(key.is("_meta") || key.is("inputResponses") || key.is("requestState"))
        })
        .map(|member| (member.key.raw(), member.value))
        .collect();
    members.sort_by_key(|(key, _)| *key);
    let mut hash = Sha256::new();
    for part in [method.as_bytes()]
        .into_iter()
        .chain(members.iter().flat_map(|(key, value)| [*key, value.as_bytes()]))
    {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    BASE64.encode(&hash.finalize()[..16])
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
