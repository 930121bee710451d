//! A session's id: a sealed text that says all that another instance needs to go on with it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_wire::types::Capabilities;
use switchboard_wire::{Era, Json, JsonBuf, Revision, write};

use super::{Hello, Session};
use crate::auth::Principal;
use crate::door::Door;
use crate::seal::{Purpose, Seal, is_owner, put_owner};

/// Bytes of capabilities that an id carries. Of more, only what we act upon is remembered.
const CAPABILITIES: usize = 1024;

/// Bytes of an extension's settings that an id carries where it does not carry all capabilities.
const SETTINGS: usize = 128;

/// A new session's id.
pub(super) fn close(
    seal: &Seal,
    now: SystemTime,
    principal: &Principal,
    door: &Door,
    hello: Option<&Hello>,
) -> Option<Arc<str>> {
    let plain = write::object(|plain| {
        put_owner(plain, &principal.who);
        plain.text("d", &door.label());
        plain.integer("t", seconds(now));
        if let Some(hello) = hello {
            plain.text("r", hello.revision.as_str());
            plain.raw("c", short(&hello.capabilities).as_json());
        }
    });
    seal.close(Purpose::Session, plain.as_json()).map(Arc::from)
}

/// The session behind an id, and how long it is still good, if it is this caller's, of this door, and
/// not too old. One that lives on a single connection says nothing of the client, and cannot be
/// taken over.
pub(super) fn open(
    seal: &Seal,
    now: SystemTime,
    life: Duration,
    id: &str,
    principal: &Arc<Principal>,
    door: &Door,
) -> Option<(Session, Duration)> {
    let plain = seal.open(Purpose::Session, id)?;
    let plain = plain.as_json();
    let since = plain.get("t").and_then(Json::integer)?;
    let age = Duration::from_secs(u64::try_from(seconds(now).saturating_sub(since)).unwrap_or(0));
    let label = plain.get("d").and_then(Json::string)?;
    if !is_owner(plain, &principal.who) || label != door.label() || age >= life {
        return None;
    }
    let revision = Revision::parse(&plain.get("r").and_then(Json::string)?)?;
    if revision.era() != Era::Session {
        return None;
    }
    let session = Session::new(id.into(), door.clone(), principal.clone());
    session.greet(Hello { revision, capabilities: Capabilities::read(plain.get("c")) });
    Some((session, life.saturating_sub(age)))
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Whether an id says all of them.
pub(super) fn says_all(capabilities: &Capabilities) -> bool {
    capabilities.raw().as_bytes().len() <= CAPABILITIES
}

fn short(capabilities: &Capabilities) -> JsonBuf {
    if says_all(capabilities) {
        return capabilities.raw().into();
    }
    let known: [&[&str]; 6] = [
        &["elicitation", "form"],
        &["elicitation", "url"],
        &["sampling", "tools"],
        &["sampling", "context"],
        &["roots", "listChanged"],
        &["tasks", "requests"],
    ];
    write::object(|all| {
        for group in ["elicitation", "sampling", "roots", "tasks"] {
            if !capabilities.has(&[group]) {
                continue;
            }
            all.object(group, |inner| {
                for path in known.iter().filter(|path| path[0] == group) {
                    if capabilities.has(path) {
                        inner.raw(path[1], Json::EMPTY);
                    }
                }
            });
        }
        extensions(all, capabilities);
    })
}

/// Which extensions there are: servers of the stateless era offer some things only to clients that have them.
/// Settings that are long are left out, and so are names for which there is no room.
fn extensions(all: &mut write::Object<'_>, capabilities: &Capabilities) {
    let Some(declared) = capabilities.raw().get("extensions").filter(|all| all.is_object()) else {
        return;
    };
    all.object("extensions", |kept| {
        let mut room = CAPABILITIES / 2;
        for extension in declared.members().filter(|extension| extension.value.is_object()) {
            let Some(name) = extension.key.text() else { continue };
            let is_short = extension.value.as_bytes().len() <= SETTINGS;
            let settings = if is_short { extension.value } else { Json::EMPTY };
            // As it is written: with its escapes, and what stands around it.
            let written = write::object(|one| one.raw(&name, settings)).as_json().as_bytes().len();
            if let Some(left) = room.checked_sub(written) {
                kept.raw(&name, settings);
                room = left;
            }
        }
    });
}

#[cfg(test)]
mod tests;
