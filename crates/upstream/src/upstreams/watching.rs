//! Subscriptions to resources. They outlive the connection, and each era has its own way to ask; in both,
//! nothing is agreed upon before the server says so.

use std::time::Duration;

use switchboard_core::port::{CallError, Caller, Delivery, RpcError};
use switchboard_model::ServerKey;
use switchboard_wire::{Era, Json, JsonBuf, code, method};
use tokio::time::timeout;

use super::Upstreams;
use crate::connection::Connection;
use crate::server::Server;
use crate::supervisor::unheard;
use crate::watched::Watched;

/// `resources/subscribe` and `resources/unsubscribe` at a server of either era.
pub(super) async fn watch(
    upstreams: &Upstreams,
    key: &ServerKey,
    name: &str,
    params: Option<Json<'_>>,
    caller: &Caller,
) -> Result<JsonBuf, CallError> {
    let server = upstreams.find(key).ok_or(CallError::Unknown)?;
    let uri = params.and_then(|params| params.get("uri")?.string());
    let Some(uri) = uri else {
        return Err(RpcError::new(code::INVALID_PARAMS, "`uri` is missing").into());
    };
    let connection = upstreams.connected(key).await?;
    let answer = match (connection.peer().era(), name) {
        (Era::Session, _) => connection.call(name, params, caller).await?,
        (Era::Stateless, method::SUBSCRIBE) => {
            agree(&server, &connection, &uri).await?;
            JsonBuf::from(Json::EMPTY)
        }
        // It is asked anew, without this one; nobody has to wait for that.
        (Era::Stateless, _) => JsonBuf::from(Json::EMPTY),
    };
    if name != method::SUBSCRIBE {
        server.watched.remove(&uri);
        return Ok(answer);
    }
    let wish = Wish::of(&server.watched, &uri);
    if connection.peer().era() == Era::Session {
        unheard::note(&server, &connection, &uri).await;
    }
    wish.grant();
    Ok(answer)
}

/// Has the server asked for one more resource, and waits for what it acknowledges.
async fn agree(server: &Server, connection: &Connection, uri: &str) -> Result<(), CallError> {
    let channel = &connection.channel;
    let last = channel.agreement.round();
    let wish = Wish::of(&server.watched, uri);
    // What is wanted already was asked for before; of a new one no earlier round knows anything.
    let after = if wish.is_new { last } else { 0 };
    channel.agreement.forget(|other, round| wish.is_new && other == uri && round <= last);
    let limit: Duration = server.spec.load().timing.call;
    let agreed = tokio::select! {
        agreed = timeout(limit, channel.agreement.covers(uri, after)) => agreed,
        reason = channel.closed() => Ok(Err(CallError::lost(reason, Delivery::Perhaps))),
    };
    match agreed {
        Ok(Ok(())) => wish.grant(),
        Ok(Err(error)) => {
            wish.refuse();
            return Err(error);
        }
        Err(_) => return Err(CallError::TimedOut { after: limit }),
    }
    Ok(())
}

/// A resource that nobody hears of unless the server agrees and somebody still waits for that, or was heard of
/// before.
struct Wish<'w> {
    watched: &'w Watched,
    uri: &'w str,
    is_new: bool,
    is_answered: bool,
}

impl<'w> Wish<'w> {
    fn of(watched: &'w Watched, uri: &'w str) -> Self {
        Self { watched, uri, is_new: watched.wish(uri), is_answered: false }
    }

    fn grant(mut self) {
        self.is_answered = true;
        self.watched.grant(self.uri);
    }

    fn refuse(mut self) {
        self.is_answered = true;
        self.watched.refuse(self.uri);
    }
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.watched.give_up(self.uri);
        }
    }
}
