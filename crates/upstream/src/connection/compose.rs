//! The small edits that a request gets on its way: whose progress it is, what the era wants said,
//! and the answers to what the server asked back. Everything else stays byte for byte.

use switchboard_core::port::{CallError, ClientPort, RpcError};
use switchboard_wire::outline::{About, Stamp};
use switchboard_wire::types::InputRequired;
use switchboard_wire::{Edit, Era, Json, JsonBuf, Params, code, method, rewrite, write};

use crate::peer::Peer;

/// What a request has to say about itself.
pub(super) struct Wanted<'a> {
    pub(super) peer: &'a Peer,
    pub(super) capabilities: Json<'a>,
    pub(super) progress: bool,
}

impl Wanted<'_> {
    /// Appends the params of the request with that id.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        params: &Params<'_>,
        id: u64,
    ) -> Result<(), CallError> {
        let about = match self.peer.era() {
            Era::Session => None,
            Era::Stateless => Some(About {
                version: self.peer.revision.as_str(),
                capabilities: self.capabilities,
                info: self.peer.client.as_json(),
            }),
        };
        let progress = self.progress.then_some(id);
        Ok(params.stamped(out, &Stamp { progress, about })?)
    }
}

/// Asks the client everything that the server wants to know, one after another, and returns the params
/// of the repeated call.
pub(super) async fn answers(
    port: &dyn ClientPort,
    params: Json<'_>,
    asked: &InputRequired<'_>,
) -> Result<JsonBuf, CallError> {
    let mut answers = Vec::with_capacity(asked.requests.len());
    for request in &asked.requests {
        let known = matches!(
            &*request.method,
            method::ELICIT | method::CREATE_MESSAGE | method::ROOTS_LIST
        );
        if !known {
            let text =
                format!("the server asked for `{}`, which nobody can answer", request.method);
            return Err(RpcError::new(code::INTERNAL_ERROR, &text).into());
        }
        let answer = port.request(&request.method, request.params.map(JsonBuf::from)).await?;
        answers.push((&*request.key, answer));
    }
    let responses = write::object(|responses| {
        for (key, answer) in &answers {
            responses.raw(key, answer.as_json());
        }
    });
    let state = match asked.request_state {
        Some(state) => Edit::set("requestState", state),
        None => Edit::remove("requestState"),
    };
    Ok(rewrite::edited(params, &[Edit::set("inputResponses", responses.as_json()), state])?)
}
