//! Changes of servers: each is written to the store, made so by the hub, and waited for. What the
//! operations and the origins' paths have in common. Never starts anything by itself.

use std::time::Duration;

use switchboard_model::{Scope, ServerKey, ServerSpec, ServerState, Transport, UserId, mask};
use switchboard_store::command_hash;

use super::{Found, by_key, shown};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::port::Source;
use crate::view::server::ServerView;
use crate::who::Caller;

/// How long an answer waits for a server to settle.
const SETTLE: Duration = Duration::from_secs(10);

/// Whether a command line is approved together with the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approve {
    /// By the administrator who makes the change.
    Now,
    /// By whoever approves it later.
    Later,
}

impl Approve {
    /// As it was asked for; only administrators may.
    pub(crate) fn asked(wanted: Option<bool>, caller: &Caller) -> Result<Self> {
        match wanted {
            Some(true) if caller.is_administrator() => Ok(Self::Now),
            Some(true) => Err(Problem::forbidden("only an administrator approves command lines")),
            Some(false) | None => Ok(Self::Later),
        }
    }
}

/// What a try of a server came to.
pub(crate) struct Tried {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) tools: Vec<String>,
    pub(crate) view: ServerView,
}

/// Whose a new server is.
pub(crate) fn scope(
    api: &Api,
    caller: &Caller,
    word: Option<&str>,
    owner: Option<&str>,
) -> Result<Scope> {
    match word {
        None | Some("user") => self::owner(api, caller, owner).map(Scope::User),
        Some("global") if owner.is_some() => {
            Err(Problem::invalid("`owner` is for the scope `user`: what is global is everybody's"))
        }
        Some("global") if caller.is_administrator() => Ok(Scope::Global),
        Some("global") => Err(Problem::forbidden("only an administrator adds servers for all")),
        Some(word) => {
            let text = format!("`scope` is `user` or `global`, and not `{word}`");
            Err(Problem::invalid(text))
        }
    }
}

fn owner(api: &Api, caller: &Caller, owner: Option<&str>) -> Result<UserId> {
    let Some(id) = owner.filter(|id| *id != caller.user.as_str()) else {
        return Ok(caller.user.clone());
    };
    if !caller.is_administrator() {
        return Err(Problem::forbidden("only an administrator adds servers for others"));
    }
    let user = UserId::parse(id).ok().filter(|user| api.store().access().user(user).is_some());
    user.ok_or_else(|| Problem::invalid(format!("there is no user `{id}`")))
}

/// Whether a name is free: no internal server has it, whoever's the new one is, and neither a file nor
/// the store.
pub(crate) fn free(api: &Api, key: &ServerKey) -> Result<()> {
    let declared = api.hub().declared();
    if declared.reserved.contains(&key.name) {
        let text = format!("`{}` is the name of an internal server", key.name);
        return Err(Problem::conflict("reserved_name", text).remedy("Give it another name."));
    }
    if let Some(found) = by_key(&declared, key) {
        // Where a file declares it, the problem names the file.
        found.row()?;
        return Err(Problem::conflict("exists", format!("there is a server {key} already")));
    }
    Ok(())
}

/// Adds a server.
pub(crate) async fn create(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    spec: &ServerSpec,
    approve: Approve,
) -> Result<()> {
    let actor = caller.actor();
    api.store().servers().create(key, spec, &actor).await?;
    self::approve(api, caller, key, spec, approve).await
}

/// Declares a server anew.
pub(crate) async fn update(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    spec: &ServerSpec,
    (expected, approve): (Option<i64>, Approve),
) -> Result<ServerView> {
    api.store().servers().update(key, spec, expected, &caller.actor()).await?;
    self::approve(api, caller, key, spec, approve).await?;
    applied(api, key).await
}

/// Deletes a server with what hangs on it; returns when nothing of it runs any more.
pub(crate) async fn remove(api: &Api, caller: &Caller, key: &ServerKey) -> Result<()> {
    api.store().servers().remove(key, &caller.actor()).await?;
    api.apply().await
}

/// Connects anew.
pub(crate) async fn reconnect(api: &Api, found: &Found) -> Result<ServerView> {
    if !found.shadowed {
        api.upstreams().reconnect(&found.key).await;
        api.upstreams().settled(&found.key, SETTLE).await;
    }
    shown(api, found).await
}

/// Really asks the server: over the connection that there is, which is not torn down for a test, or
/// over a new one.
pub(crate) async fn test(api: &Api, found: &Found) -> Result<Tried> {
    let upstreams = api.upstreams();
    let answers = match upstreams.get(&found.key) {
        Some(connection) => connection.check(SETTLE).await.is_ok(),
        None => false,
    };
    let state = upstreams.status_of(&found.key).map(|status| status.state);
    if !answers && !matches!(state, None | Some(ServerState::Connecting { .. })) {
        upstreams.reconnect(&found.key).await;
    }
    let state = upstreams.settled(&found.key, SETTLE).await.unwrap_or(ServerState::START);
    let tools = match state.is_connected() {
        true => upstreams.catalog(&found.key),
        false => None,
    };
    let tools: Option<Vec<String>> =
        tools.map(|offered| offered.tools.iter().map(|tool| tool.name.clone()).collect());
    let message = match &tools {
        Some(tools) => format!("It answers and has {} tools.", tools.len()),
        None => mask::text(&state.sentence()),
    };
    let (count, error) = (tools.as_ref().map(Vec::len), tools.is_none().then_some(&*message));
    api.store().servers().note_status(&found.key, state.code(), count, error).await?;
    let view = shown(api, found).await?;
    Ok(Tried { success: tools.is_some(), message, tools: tools.unwrap_or_default(), view })
}

/// Makes the change of a server so, waits until it stands, and shows it.
pub(crate) async fn applied(api: &Api, key: &ServerKey) -> Result<ServerView> {
    api.apply().await?;
    settled(api, key).await
}

/// A server of the store as it stands when it has settled.
pub(crate) async fn settled(api: &Api, key: &ServerKey) -> Result<ServerView> {
    let declared = api.hub().declared();
    let row = match declared.sources.get(key) {
        Some(Source::Store(row)) => Some((row, false)),
        Some(Source::File { .. }) | None => declared.shadowed.get(key).map(|row| (row, true)),
    };
    let (row, shadowed) = row.ok_or_else(|| Problem::not_found("server", key.name.as_str()))?;
    if !shadowed {
        let state = api.upstreams().status_of(key).map(|status| status.state);
        if row.may_start() && matches!(state, Some(ServerState::NeedsApproval)) {
            // Its declaration is the same as before, and only now may it start.
            api.upstreams().reconnect(key).await;
        }
        api.upstreams().settled(key, SETTLE).await;
    }
    shown(api, &Found { key: key.clone(), source: Source::Store(row.clone()), shadowed }).await
}

async fn approve(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    spec: &ServerSpec,
    approve: Approve,
) -> Result<()> {
    let command = matches!(spec.transport, Transport::Stdio(_));
    if approve == Approve::Now && command {
        let hash = command_hash(spec);
        api.store().servers().approve(key, &hash, &caller.actor()).await?;
    }
    Ok(())
}
