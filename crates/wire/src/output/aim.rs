//! What a request is about, and the same request about something else.

use std::borrow::Cow;

use crate::json::{Json, JsonBuf};
use crate::method;
use crate::rewrite::{Edit, Repeated, edited};

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

/// What a request is about. A repeated member is an error: what is checked must be what is called.
pub fn aim<'a>(method: &str, params: Json<'a>) -> Result<Aim<'a>, Repeated> {
    let Some(key) = subject(method) else { return Ok(Aim::Nothing) };
    let [found] = params.pick([key])?;
    if method == method::COMPLETE {
        return reference(found);
    }
    let Some(text) = found.and_then(Json::string) else { return Ok(Aim::Lacking(key)) };
    Ok(match method {
        method::TOOLS_CALL => Aim::Tool(text),
        method::PROMPTS_GET => Aim::Prompt(text),
        method::RESOURCES_READ | method::SUBSCRIBE | method::UNSUBSCRIBE => Aim::Resource(text),
        _ => Aim::Task(text),
    })
}

/// The params of a request that is about `to` instead. All other bytes stay.
pub fn aimed(method: &str, params: Json<'_>, to: &str) -> Result<JsonBuf, Repeated> {
    let Some(key) = subject(method) else { return Ok(params.into()) };
    if method != method::COMPLETE {
        return edited(params, &[Edit::text(key, to)]);
    }
    let inner = match reference(params.get(key))? {
        Aim::Prompt(_) => [Edit::text("name", to)],
        _ => [Edit::text("uri", to)],
    };
    edited(params, &[Edit::inside(key, &inner)])
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
fn reference(found: Option<Json<'_>>) -> Result<Aim<'_>, Repeated> {
    let Some(reference) = found.filter(|found| found.is_object()) else {
        return Ok(Aim::Lacking("ref"));
    };
    let [kind, name, uri] = reference.pick(["type", "name", "uri"])?;
    Ok(match kind.and_then(Json::string).as_deref() {
        Some("ref/prompt") => name.and_then(Json::string).map_or(Aim::Lacking("name"), Aim::Prompt),
        Some("ref/resource") => uri.and_then(Json::string).map_or(Aim::Lacking("uri"), Aim::Family),
        _ => Aim::Lacking("type"),
    })
}
