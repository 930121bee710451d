//! The first words: `initialize` in the session era, `server/discover` in the stateless one, each
//! with its negotiation of the revision.

use std::sync::Arc;

use switchboard_core::port::{CallError, RpcError};
use switchboard_wire::types::{DiscoverResult, InitializeResult};
use switchboard_wire::{Era, Json, Revision, code, method, write};

use crate::channel::Channel;
use crate::context::Identity;
use crate::error::ConnectError;
use crate::peer::{Peer, abilities, client_info, stamped};
use crate::pulse::Patience;
use crate::transport::Headers;

/// Opens a session, at the newest revision that both speak.
pub(crate) async fn initialize(
    channel: &Arc<Channel>,
    identity: &Identity,
    patience: Patience,
) -> Result<Peer, ConnectError> {
    let mut asked = Revision::LATEST_SESSION;
    let result = loop {
        match ask_initialize(channel, identity, asked, patience).await {
            Ok(result) => break result,
            Err(CallError::Rpc(error)) => match older(asked, &error) {
                Some(next) => asked = next,
                None => return Err(ConnectError::handshake("initialize", error.into())),
            },
            Err(error) => return Err(ConnectError::handshake("initialize", error)),
        }
    };
    let spoken = Revision::parse(&result.protocol_version);
    let Some(revision) = spoken.filter(|revision| revision.era() == Era::Session) else {
        return Err(ConnectError::Revision(result.protocol_version));
    };
    channel.settle(revision);
    channel
        .notify(method::INITIALIZED, None, &Headers::default())
        .await
        .map_err(|error| ConnectError::handshake("initialized", error))?;
    Ok(Peer::from_initialize(result, revision, identity))
}

async fn ask_initialize(
    channel: &Arc<Channel>,
    identity: &Identity,
    revision: Revision,
    patience: Patience,
) -> Result<InitializeResult, CallError> {
    let params = write::object(|params| {
        params.text("protocolVersion", revision.as_str());
        params.raw("capabilities", abilities(revision).as_json());
        params.raw("clientInfo", client_info(identity).as_json());
    });
    let headers = Headers::default();
    let answer = channel.ask(method::INITIALIZE, params.as_json(), headers, patience).await?;
    InitializeResult::read(answer.as_json())
        .map_err(|error| CallError::Malformed(error.to_string()))
}

/// What to ask for next when a revision was refused: what the server offers, or the next older one
/// if its error is about that at all.
fn older(asked: Revision, error: &RpcError) -> Option<Revision> {
    if let Some(offered) = offered(error) {
        return Some(offered).filter(|it| it.era() == Era::Session && *it < asked);
    }
    let versions = error.message.to_ascii_lowercase().contains("version");
    let mut older = Revision::SUPPORTED.into_iter().filter(|revision| *revision < asked);
    versions.then(|| older.next()).flatten()
}

/// What a probe found.
pub(crate) enum Found {
    /// It speaks the stateless era.
    Stateless(Box<Peer>),
    /// It answered, and does not.
    Session,
}

/// Asks what the server speaks. An error of the stateless era is evidence for it.
pub(crate) async fn discover(
    channel: &Arc<Channel>,
    identity: &Identity,
    patience: Patience,
) -> Result<Found, CallError> {
    let mut asked = ask_discover(channel, identity, Revision::LATEST_STATELESS, patience).await;
    if let Err(CallError::Rpc(error)) = &asked
        && error.code == code::UNSUPPORTED_VERSION
    {
        // It reads `_meta`, so it is of that era; what it offers there is what it is asked in.
        match offered(error).filter(|revision| revision.era() == Era::Stateless) {
            Some(revision) => asked = ask_discover(channel, identity, revision, patience).await,
            None => return Ok(Found::Session),
        }
    }
    match asked {
        Ok(result) => {
            let names = result.supported_versions.iter().map(String::as_str);
            let newest = Revision::choose(names).filter(|it| it.era() == Era::Stateless);
            let Some(revision) = newest else { return Ok(Found::Session) };
            channel.settle(revision);
            Ok(Found::Stateless(Box::new(Peer::from_discover(result, revision, identity))))
        }
        Err(CallError::Rpc(error)) if code::is_stateless_era(error.code) => {
            Err(CallError::Rpc(error))
        }
        // An answer without versions comes from a server that answers anything.
        Err(CallError::Rpc(_) | CallError::Malformed(_)) => Ok(Found::Session),
        Err(error) => Err(error),
    }
}

/// The newest revision that a refusal offers.
fn offered(error: &RpcError) -> Option<Revision> {
    let names = error.data()?.get("supported")?;
    let names: Vec<_> = names.elements().filter_map(Json::string).collect();
    Revision::choose(names.iter().map(|name| &**name))
}

async fn ask_discover(
    channel: &Arc<Channel>,
    identity: &Identity,
    revision: Revision,
    patience: Patience,
) -> Result<DiscoverResult, CallError> {
    let params = stamped(Json::EMPTY, revision, &client_info(identity));
    let headers = Headers::mirror(revision, method::DISCOVER, None);
    let answer = channel.ask(method::DISCOVER, params.as_json(), headers, patience).await?;
    DiscoverResult::read(answer.as_json()).map_err(|error| CallError::Malformed(error.to_string()))
}
