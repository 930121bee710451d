//! Which server a request is for, and what it is called there. By table; never by taking a name
//! apart.

use std::borrow::Cow;

use switchboard_wire::output::{self, Aim, Aimed};
use switchboard_wire::types::ToolEntry;
use switchboard_wire::{Json, Params, ParamsBuf};

use super::{Request, Router};
use crate::naming::READ_RESULT;
use crate::port::{Call, CallError, LONGEST_NAME, Thing};
use crate::registry::{Home, Part, Place, View};
use crate::results;

/// Where a request leads.
pub(super) enum Way<'r> {
    /// To a server.
    Server(Target<'r>),
    /// To a result that was kept for the caller.
    Kept(Kept<'r>),
}

/// A kept result.
pub(crate) enum Kept<'r> {
    /// Through the tool.
    Tool,
    /// Through the resource of this URI.
    Resource(Cow<'r, str>),
}

/// A server, and the request in its words.
pub(super) struct Target<'r> {
    pub(super) part: &'r Part,
    pub(super) published: Cow<'r, str>,
    pub(super) subject: Cow<'r, str>,
    tool: Option<&'r ToolEntry>,
    arguments: Option<Json<'r>>,
    /// `None` if the params can stay as they are.
    params: Option<ParamsBuf>,
}

impl<'r> Target<'r> {
    /// The params in the server's words.
    pub(super) fn params<'c>(&'c self, request: &Request<'c>) -> Params<'c> {
        self.params.as_ref().map_or(request.params, ParamsBuf::as_params)
    }

    /// The call as the ports see it.
    pub(super) fn call<'c>(&'c self, request: &Request<'c>) -> Call<'c> {
        Call {
            who: request.who,
            origin: request.origin,
            server: &self.part.key,
            offer: &self.part.offer,
            method: request.method,
            subject: &self.subject,
            published: &self.published,
            tool: self.tool,
            params: self.params(request).json(),
            arguments: self.arguments,
            trace: request.trace(),
        }
    }
}

impl Router {
    /// Finds the way.
    pub(super) fn resolve<'r>(&'r self, request: &Request<'r>) -> Result<Way<'r>, CallError> {
        let view = request.view;
        let none =
            |thing, name: Cow<'_, str>| Err(CallError::NotFound { thing, name: name.into_owned() });
        let aimed = aimed(request)?;
        let (published, part, subject, tool) = match aimed.aim.clone() {
            Aim::Tool(name) => match view.tool_at(&name) {
                Some((part, _)) if is_own(part, &name) => return Ok(Way::Kept(Kept::Tool)),
                Some((part, tool)) => (name, part, Cow::Borrowed(tool.name.as_str()), Some(tool)),
                None if name == READ_RESULT => return Ok(Way::Kept(Kept::Tool)),
                None => match view.tool_of_page(&name) {
                    Some((published, part, tool)) => {
                        let own = Cow::Borrowed(tool.name.as_str());
                        (Cow::Borrowed(published), part, own, Some(tool))
                    }
                    None => return none(Thing::Tool, name),
                },
            },
            Aim::Prompt(name) => match view.prompt_at(&name) {
                Some((part, prompt)) => (name, part, Cow::Borrowed(prompt.name.as_str()), None),
                None => return none(Thing::Prompt, name),
            },
            Aim::Resource(uri) if self.0.results.keeps(request.who, &uri) => {
                return Ok(Way::Kept(Kept::Resource(uri)));
            }
            // What is not kept here may be at a server that is a hub itself.
            Aim::Resource(uri) => match view.place(&uri) {
                Some(place) if is_result(&place) => {
                    return Ok(Way::Kept(Kept::Resource(Cow::Owned(place.uri))));
                }
                None if results::is_uri(&uri) => return Ok(Way::Kept(Kept::Resource(uri))),
                Some(place) => (uri, place.part, Cow::Owned(place.uri), None),
                None => return Err(no_resource(view, &uri)),
            },
            Aim::Family(uri) => match view.template(&uri).or_else(|| view.place(&uri)) {
                Some(place) => (uri, place.part, Cow::Owned(place.uri), None),
                None => return Err(no_resource(view, &uri)),
            },
            Aim::Task(id) => match self.0.seal.open(view, request.who, &id) {
                Some(task) => {
                    let own = Cow::Owned(task.id.to_owned());
                    let part = view.part(&task.part.key).ok_or(CallError::Unknown)?;
                    (id, part, own, None)
                }
                None => return none(Thing::Task, id),
            },
            Aim::Lacking(member) => return Err(CallError::Lacks(member)),
            Aim::Nothing => return Err(CallError::NoMethod(request.method.to_owned())),
        };
        let params = (published != subject).then(|| aimed.at(&subject));
        let arguments = aimed.arguments;
        Ok(Way::Server(Target { part, published, subject, tool, arguments, params }))
    }
}

/// What is meant, within bounds.
fn aimed<'r>(request: &Request<'r>) -> Result<Aimed<'r>, CallError> {
    let aimed = output::aim(request.method, request.params)?;
    let (thing, name) = match &aimed.aim {
        Aim::Tool(name) => (Thing::Tool, name),
        Aim::Prompt(name) => (Thing::Prompt, name),
        Aim::Resource(uri) | Aim::Family(uri) => (Thing::Resource, uri),
        Aim::Task(id) => (Thing::Task, id),
        Aim::Lacking(_) | Aim::Nothing => return Ok(aimed),
    };
    bounded(thing, name)?;
    Ok(aimed)
}

/// Whether a name is short enough to be kept.
pub(super) fn bounded(thing: Thing, name: &str) -> Result<(), CallError> {
    match name.len() {
        ..=LONGEST_NAME => Ok(()),
        bytes => Err(CallError::TooLong { thing, bytes, most: LONGEST_NAME }),
    }
}

/// Why a URI leads nowhere.
pub(super) fn no_resource(view: &View, uri: &str) -> CallError {
    if let Err(error) = bounded(Thing::Resource, uri) {
        return error;
    }
    match view.is_ambiguous(uri) {
        true => CallError::Ambiguous { uri: uri.to_owned() },
        false => CallError::NotFound { thing: Thing::Resource, name: uri.to_owned() },
    }
}

/// Whether one of the hub's own results is meant.
fn is_result(place: &Place<'_>) -> bool {
    place.part.offer.home == Home::Hub && results::is_uri(&place.uri)
}

/// Whether the hub's own tool for kept results is meant.
fn is_own(part: &Part, name: &str) -> bool {
    part.offer.home == Home::Hub && name == READ_RESULT
}
