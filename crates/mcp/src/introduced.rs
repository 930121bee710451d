//! What a client says of itself: its revision and what it can do, in either era, within bounds. Never
//! opens a session.

use std::borrow::Cow;

use switchboard_wire::peek::RequestMeta;
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::types::{Capabilities, InitializeParams};
use switchboard_wire::{Era, Json, Request, Revision, code, write};

use crate::options::Limits;
use crate::port::Speech;
use crate::reply::Reply;
use crate::session::Hello;

/// What a client says of itself in `initialize`.
pub(crate) fn hello(request: &Request<'_>, limits: &Limits) -> Result<Hello, Reply> {
    match InitializeParams::read(request.params.unwrap_or(Json::EMPTY)) {
        Ok(params) => {
            can_be_kept(request, params.capabilities.raw(), limits)?;
            let revision = Revision::answer(&params.protocol_version);
            Ok(Hello { revision, capabilities: params.capabilities })
        }
        Err(missing) => {
            Err(Reply::refused(Some(request.id), code::INVALID_PARAMS, &missing.to_string(), None))
        }
    }
}

/// What a client can do is kept with its session, or with what waits for it.
fn can_be_kept(
    request: &Request<'_>,
    capabilities: Json<'_>,
    limits: &Limits,
) -> Result<(), Reply> {
    let (bytes, most) = (capabilities.as_bytes().len(), limits.capabilities);
    if bytes <= most {
        return Ok(());
    }
    let text = format!(
        "the capabilities have {bytes} bytes, and at most {most} are taken: declare less of them"
    );
    Err(Reply::refused(Some(request.id), code::INVALID_PARAMS, &text, None))
}

/// What a request of the stateless era says of itself: its revision and its client.
pub(crate) fn introduced<'a>(
    request: &Request<'_>,
    meta: &RequestMeta<'a>,
    limits: &Limits,
) -> Result<(Cow<'a, str>, Speech), Reply> {
    let lacks = |key: &str| {
        let text = format!("`_meta` lacks `{key}`, or it is of the wrong type");
        Reply::refused(Some(request.id), code::INVALID_PARAMS, &text, None)
    };
    let newest = Revision::LATEST_STATELESS.as_str();
    let version = match meta.protocol_version {
        // What nearly all say; no text has to be made of it.
        Some(version) if version.is_plainly(newest) => Some(Cow::Borrowed(newest)),
        version => version.and_then(Json::string),
    };
    let version = version.ok_or_else(|| lacks(switchboard_wire::meta::PROTOCOL_VERSION))?;
    let capabilities = meta.client_capabilities.filter(|json| json.is_object());
    let capabilities =
        capabilities.ok_or_else(|| lacks(switchboard_wire::meta::CLIENT_CAPABILITIES))?;
    can_be_kept(request, capabilities, limits)?;
    let level = meta.log_level.and_then(Json::string);
    let level = level.and_then(|level| LogLevel::parse(&level));
    let capabilities = Capabilities::read(Some(capabilities));
    Ok((version, Speech::Stateless { capabilities, level }))
}

/// Whether a revision is one of the stateless era that is spoken here.
pub(crate) fn supported(request: &Request<'_>, version: &str) -> Result<(), Reply> {
    let revision = Revision::parse(version);
    if revision.is_some_and(|revision| revision.era() == Era::Stateless) {
        return Ok(());
    }
    let data = write::object(|data| {
        data.texts("supported", Revision::supported());
        data.text("requested", version);
    });
    let text = match revision {
        Some(_) => "that revision begins with `initialize`",
        None => "Unsupported protocol version",
    };
    let data = Some(data.as_json());
    Err(Reply::refused(Some(request.id), code::UNSUPPORTED_VERSION, text, data))
}
