//! The params of the requests that a hub routes by name: `tools/call`, `prompts/get`,
//! `resources/read`. Never looks into the arguments.

use std::borrow::Cow;

use crate::json::Json;
use crate::rewrite::Repeated;

/// What a call is about and what it carries. All of it stays raw.
#[derive(Clone, Debug, Default)]
pub struct CallParams<'a> {
    /// The tool's or the prompt's name.
    pub name: Option<Cow<'a, str>>,
    /// The resource's URI.
    pub uri: Option<Cow<'a, str>>,
    /// The arguments.
    pub arguments: Option<Json<'a>>,
    /// `_meta`, if it is an object.
    pub meta: Option<Json<'a>>,
    /// The answers to what an `input_required` result asked for.
    pub input_responses: Option<Json<'a>>,
    /// What an `input_required` result wanted back.
    pub request_state: Option<Json<'a>>,
    /// The wish for a task; revision 2025-11-25.
    pub task: Option<Json<'a>>,
}

impl<'a> CallParams<'a> {
    /// Reads them in one pass. A repeated one is an error: what was checked must be what is called.
    pub fn read(params: Json<'a>) -> Result<Self, Repeated> {
        let [name, uri, arguments, meta, input_responses, request_state, task] = params.pick([
            "name",
            "uri",
            "arguments",
            "_meta",
            "inputResponses",
            "requestState",
            "task",
        ])?;
        Ok(Self {
            name: name.and_then(Json::string),
            uri: uri.and_then(Json::string),
            arguments: arguments.filter(|arguments| !arguments.is_null()),
            meta: meta.filter(|meta| meta.is_object()),
            input_responses,
            request_state,
            task,
        })
    }
}
