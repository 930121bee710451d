//! Changes of servers: each is written to the store, made so by the hub, and waited for. What the
//! operations and the origins' paths have in common. Never starts anything by itself.

use std::time::Duration;

use switchboard_model::{Scope, ServerKey, ServerSpec, ServerState, Transport, UserId, mask};
use switchboard_store::{Approve, InFiles, command_hash};
use tokio::time::{Instant, timeout_at};

use super::{Found, by_key, entry, is_live, shown};
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::port::Source;
use crate::view::server::ServerView;
use crate::who::Caller;

/// How long an answer waits for a server to settle.
const SETTLE: Duration = Duration::from_secs(10);

/// Whether a command line is approved together with the change, as it was asked for; only administrators may.
pub(crate) fn approval(wanted: Option<bool>, caller: &Caller) -> Result<Approve> {
    match wanted {
        Some(true) if caller.is_administrator() => Ok(Approve::Now),
        Some(true) => Err(Problem::forbidden("only an administrator approves command lines")),
        Some(false) | None => Ok(Approve::Later),
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
    // One of one's own takes the place of everybody's that one has a credential for.
    let found = by_key(&declared, key);
    if let Some(found) = found.filter(|found| !matches!(found.source, Source::Credential { .. })) {
        // Where a file declares it, the problem names the file.
        found.row()?;
        return Err(Problem::conflict("exists", format!("there is a server {key} already")));
    }
    Ok(())
}

/// Declares a server anew.
pub(crate) async fn update(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    spec: &ServerSpec,
    (expected, approve): (Option<i64>, Approve),
) -> Result<ServerView> {
    forget_credentials(api, caller, key, spec, expected).await?;
    api.store().servers().update(key, spec, expected, &caller.actor()).await?;
    self::approve(api, caller, key, spec, approve).await?;
    applied(api, caller, key).await
}

/// Deletes a server with what hangs on it; returns when nothing of it runs any more.
pub(crate) async fn remove(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    expected: Option<i64>,
) -> Result<()> {
    let (in_files, by) = (in_files(api, key), caller.actor());
    api.store().servers().remove_if(key, expected, in_files, &by).await?;
    api.apply().await
}

/// Connects anew.
pub(crate) async fn reconnect(api: &Api, caller: &Caller, found: &Found) -> Result<ServerView> {
    if !found.shadowed {
        api.upstreams().reconnect(&found.key).await;
        settle(api, &found.key).await;
        note(api, &found.key).await?;
    }
    shown(api, caller, found).await
}

/// After its credential was changed and that was made so: the hub connects it anew.
pub(crate) async fn credited(api: &Api, caller: &Caller, found: &Found) -> Result<ServerView> {
    if !found.shadowed {
        settle(api, &found.key).await;
        note(api, &found.key).await?;
    }
    shown(api, caller, found).await
}

/// Really asks the server: over the connection that there is, which is not torn down for a test, or
/// over a new one. Takes ten seconds at most, whatever is tried.
pub(crate) async fn test(api: &Api, caller: &Caller, found: &Found) -> Result<Tried> {
    if let Some(message) = hidden(api, found) {
        let view = shown(api, caller, found).await?;
        return Ok(Tried { success: false, message, tools: Vec::new(), view });
    }
    let until = Instant::now() + SETTLE;
    let upstreams = api.upstreams();
    // What a connection does not answer by half of the time leaves the rest for another one.
    let answers = match upstreams.get(&found.key) {
        Some(connection) => connection.check(SETTLE / 2).await.is_ok(),
        None => false,
    };
    let state = upstreams.status_of(&found.key).map(|status| status.state);
    let mut fresh = true;
    if !answers && !matches!(state, None | Some(ServerState::Connecting { .. })) {
        fresh = timeout_at(until, upstreams.reconnect(&found.key)).await.is_ok();
    }
    let left = until.saturating_duration_since(Instant::now());
    let state = upstreams.settled(&found.key, left).await.unwrap_or(ServerState::START);
    let tools = match state.is_connected() && fresh {
        true => upstreams.catalog(&found.key),
        false => None,
    };
    let tools: Option<Vec<String>> =
        tools.map(|offered| offered.tools.iter().map(|tool| tool.name.clone()).collect());
    let message = match &tools {
        Some(tools) => format!("It answers and has {} tools.", tools.len()),
        None if state.is_connected() => "It does not answer; it is connected anew.".to_owned(),
        None => mask::text(&state.sentence()),
    };
    // That it is switched off, or waits for somebody, is no failure of its own.
    let error = match &state {
        ServerState::Failed { error, .. } => Some(mask::text(&error.message)),
        _ => None,
    };
    let count = tools.as_ref().map(Vec::len);
    api.store().servers().note_status(&found.key, state.code(), count, error.as_deref()).await?;
    let view = shown(api, caller, found).await?;
    Ok(Tried { success: tools.is_some(), message, tools: tools.unwrap_or_default(), view })
}

/// Why one of the store's does not run, if a file's of the same name counts instead.
pub(crate) fn hidden(api: &Api, found: &Found) -> Option<String> {
    let declared = api.hub().declared();
    let path = match declared.sources.get(&found.key) {
        Some(Source::File { path, .. }) if found.shadowed => path.display().to_string(),
        _ => return None,
    };
    let name = &found.key.name;
    Some(format!("It does not run: `{name}` is declared in {path} too, and the file counts."))
}

/// What files declare by the name of one of the store's.
fn in_files(api: &Api, key: &ServerKey) -> InFiles {
    let (for_all, declared) = (ServerKey::global(key.name.clone()), api.hub().declared());
    match declared.sources.get(&for_all) {
        _ if declared.shadowed.contains_key(key) => InFiles::Same,
        Some(Source::File { .. }) => InFiles::ForAll,
        Some(Source::Store(_) | Source::Credential { .. }) | None => InFiles::Nothing,
    }
}

/// Makes the change of a server so, waits until it stands, and shows it.
pub(crate) async fn applied(api: &Api, caller: &Caller, key: &ServerKey) -> Result<ServerView> {
    api.apply().await?;
    settled(api, caller, key).await
}

/// A server of the store as it stands when it has settled.
pub(crate) async fn settled(api: &Api, caller: &Caller, key: &ServerKey) -> Result<ServerView> {
    let declared = api.hub().declared();
    let row = match declared.sources.get(key) {
        Some(Source::Store(row)) => Some((row, false)),
        Some(Source::File { .. } | Source::Credential { .. }) | None => {
            declared.shadowed.get(key).map(|row| (row, true))
        }
    };
    let (row, shadowed) = row.ok_or_else(|| Problem::not_found("server", key.name.as_str()))?;
    if !shadowed {
        let state = api.upstreams().status_of(key).map(|status| status.state);
        if row.may_start() && matches!(state, Some(ServerState::NeedsApproval)) {
            // Its declaration is the same as before, and only now may it start.
            api.upstreams().reconnect(key).await;
        }
        settle(api, key).await;
        note(api, key).await?;
    }
    let found = Found { key: key.clone(), source: Source::Store(row.clone()), shadowed };
    shown(api, caller, &found).await
}

/// Waits until a server stands and, where it is connected, until what it offers can be called: whoever reads
/// that it is connected calls it next.
async fn settle(api: &Api, key: &ServerKey) {
    let until = Instant::now() + SETTLE;
    let state = api.upstreams().settled(key, SETTLE).await;
    if !state.is_some_and(|state| state.is_connected()) {
        return;
    }
    let mut changes = api.registry().changes();
    let offered = async { while !is_live(api, key) && changes.changed().await.is_ok() {} };
    let _ = timeout_at(until, offered).await;
}

/// Writes down how it stands, before it is shown: others do so too, but later.
async fn note(api: &Api, key: &ServerKey) -> Result<()> {
    let Some(status) = api.upstreams().status_of(key) else { return Ok(()) };
    let error = match &status.state {
        ServerState::Failed { error, .. } => Some(mask::text(&error.message)),
        _ => None,
    };
    let tools = status.state.is_connected().then_some(status.counts.tools);
    let servers = api.store().servers();
    Ok(servers.note_status(key, status.state.code(), tools, error.as_deref()).await?)
}

/// What was given for one address or command is not sent to another: whoever may change where a server
/// is need not be who lent it a credential.
async fn forget_credentials(
    api: &Api,
    caller: &Caller,
    key: &ServerKey,
    new: &ServerSpec,
    expected: Option<i64>,
) -> Result<()> {
    // What is kept by that key is the file's then.
    if in_files(api, key) == InFiles::Same {
        return Ok(());
    }
    let old = api.store().servers().get(key).await?;
    let stale = |revision| expected.is_some_and(|expected| expected != revision);
    if old.is_none_or(|old| entry::same_target(&old.spec, new) || stale(old.revision)) {
        return Ok(());
    }
    let credentials = api.store().credentials();
    for known in credentials.list().await?.iter().filter(|known| known.server == *key) {
        credentials.remove(key, known.owner.as_ref(), &caller.actor()).await?;
    }
    Ok(())
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
