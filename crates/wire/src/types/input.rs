//! A result that asks back (`input_required`), and what it asks. Never answers.

use std::borrow::Cow;

use crate::json::Json;

/// What a server needs before it can go on.
#[derive(Clone, Debug)]
pub struct InputRequired<'a> {
    /// What it asks, by the key under which it wants each answer.
    pub requests: Vec<InputRequest<'a>>,
    /// What it wants back as it is.
    pub request_state: Option<Json<'a>>,
}

/// One question.
#[derive(Clone, Debug)]
pub struct InputRequest<'a> {
    /// Under which the answer is expected.
    pub key: Cow<'a, str>,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`; empty if it has none.
    pub method: Cow<'a, str>,
    /// The params of that method.
    pub params: Option<Json<'a>>,
}

impl<'a> InputRequired<'a> {
    /// Reads it from a result or, with the same members, from a task. Questions whose key is no
    /// text are left out: they could not be answered.
    pub fn read(result: Json<'a>) -> Self {
        let requests = result.get("inputRequests").into_iter().flat_map(Json::members);
        let requests = requests.filter_map(|member| {
            let method = member.value.get("method").and_then(Json::string).unwrap_or_default();
            Some(InputRequest {
                key: member.key.text()?,
                method,
                params: member.value.get("params"),
            })
        });
        let request_state = result.get("requestState").filter(|state| !state.is_null());
        Self { requests: requests.collect(), request_state }
    }
}
