//! What a request is about, and the same request about something else.

use std::borrow::Cow;

use crate::json::Json;
use crate::method;
use crate::outline::{Params, ParamsBuf};
use crate::rewrite::Repeated;

use super::splice::Splice;

/// What a request is about, by the name that the caller has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aim<'a> {
    /// A tool, by name.
    Tool(Cow<'a, str>),
    /// A prompt, by name.
    Prompt(Cow<'a, str>),
    /// A resource, by URI.
    Resource(Cow<'a, str>),
    /// A family of resources, by its template, or a resource: what a completion is for.
    Family(Cow<'a, str>),
    /// A task, by id.
    Task(Cow<'a, str>),
    /// The params lack what would say so: this member, as text.
    Lacking(&'static str),
    /// Such requests are about nothing in particular.
    Nothing,
}

/// A request that names what it is about.
#[derive(Clone, Debug)]
pub struct Aimed<'a> {
    /// What it is about.
    pub aim: Aim<'a>,
    /// What it says to that, if it says anything.
    pub arguments: Option<Json<'a>>,
    params: Params<'a>,
    /// Where in the params that is.
    name: Place<'a>,
}

/// Where in params the name is of what they are about.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    /// In this member.
    Member(&'static str),
    /// Further inside.
    Inside(Json<'a>),
    Nowhere,
}

impl Aimed<'_> {
    /// The params of the same request about `to` instead. All other bytes stay.
    pub fn at(&self, to: &str) -> ParamsBuf {
        match self.name {
            Place::Member(key) => self.params.about(key, to),
            Place::Inside(name) => {
                let mut splice = Splice::of(self.params.json());
                splice.text(name, to);
                splice.end().unwrap_or_else(|| self.params.json().into()).into()
            }
            Place::Nowhere => ParamsBuf::from(self.params),
        }
    }
}

/// What a request is about. A repeated member is an error: what is checked must be what is called.
pub fn aim<'a>(method: &str, params: Params<'a>) -> Result<Aimed<'a>, Repeated> {
    params.once()?;
    let Some(key) = subject(method) else {
        return Ok(Aimed { aim: Aim::Nothing, arguments: None, params, name: Place::Nowhere });
    };
    if method == method::COMPLETE {
        let [found] = params.json().pick([key])?;
        return reference(params, found);
    }
    let arguments = params.arguments();
    let aim = match params.subject(key).and_then(Json::string) {
        None => Aim::Lacking(key),
        Some(text) => match method {
            method::TOOLS_CALL => Aim::Tool(text),
            method::PROMPTS_GET => Aim::Prompt(text),
            method::RESOURCES_READ | method::SUBSCRIBE | method::UNSUBSCRIBE => Aim::Resource(text),
            _ => Aim::Task(text),
        },
    };
    Ok(Aimed { aim, arguments, params, name: Place::Member(key) })
}

fn subject(method: &str) -> Option<&'static str> {
    match method {
        method::SUBSCRIBE | method::UNSUBSCRIBE => Some("uri"),
        method::TASKS_RESULT => Some("taskId"),
        method::COMPLETE => Some("ref"),
        other => method::subject(other),
    }
}

/// What a completion is for: `{"type": "ref/prompt", "name": …}` or
/// `{"type": "ref/resource", "uri": …}`.
fn reference<'a>(params: Params<'a>, found: Option<Json<'a>>) -> Result<Aimed<'a>, Repeated> {
    let Some(reference) = found.filter(|found| found.is_object()) else {
        let aim = Aim::Lacking("ref");
        return Ok(Aimed { aim, arguments: None, params, name: Place::Nowhere });
    };
    let [kind, name, uri] = reference.pick(["type", "name", "uri"])?;
    let text = |json: Option<Json<'a>>| json.and_then(Json::string);
    let (aim, name) = match text(kind).as_deref() {
        Some("ref/prompt") => (text(name).map_or(Aim::Lacking("name"), Aim::Prompt), name),
        Some("ref/resource") => (text(uri).map_or(Aim::Lacking("uri"), Aim::Family), uri),
        _ => (Aim::Lacking("type"), None),
    };
    let name = name.map_or(Place::Nowhere, Place::Inside);
    Ok(Aimed { aim, arguments: None, params, name })
}
