//! The JSON-RPC envelope around a payload that stays raw. Never looks into the payload, and knows
//! no method.

mod envelope;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::fault::{Fault, Refusal};
use crate::id::Id;
use crate::json::{Checker, Json};
use crate::limits::Limits;
use crate::outline::{Outline, Params};

/// One message, borrowed from the bytes it came in. Members of the envelope that JSON-RPC does not
/// know are passed over.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Notification<'a>),
    /// A good answer.
    Response(Response<'a>),
    /// A bad answer.
    Failure(Failure<'a>),
}

/// A call of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// Under which it is answered.
    pub id: Id<'a>,
    /// The method.
    pub method: Cow<'a, str>,
    /// An object, if there is one.
    pub params: Option<Json<'a>>,
    /// Where its members are.
    pub(crate) outline: Outline,
}

impl<'a> Request<'a> {
    /// The params, `{}` if there are none, with where their members are.
    pub fn outlined(&self) -> Params<'a> {
        Params::found(self.params.unwrap_or(Json::EMPTY), self.outline)
    }
}

/// A message that is not answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// An object, if there is one.
    pub params: Option<Json<'a>>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response<'a> {
    /// The request's id.
    pub id: Id<'a>,
    /// Any JSON.
    pub result: Json<'a>,
}

/// The error of a request, or of a message that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure<'a> {
    /// The request's id, if the other side could read it.
    pub id: Option<Id<'a>>,
    /// What went wrong.
    pub error: ErrorObject<'a>,
}

/// The `error` of a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorObject<'a> {
    /// The whole object, byte for byte.
    pub raw: Json<'a>,
    /// Its code; 0 if there is none that 64 bits hold.
    pub code: i64,
    /// Its message; empty if there is none.
    pub message: Cow<'a, str>,
    /// Its data.
    pub data: Option<Json<'a>>,
}

/// What one HTTP body or one line can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming<'a> {
    /// One message.
    One(Message<'a>),
    /// A batch of revision 2025-03-26: at least one, each good or refused by itself.
    Batch(Vec<Result<Message<'a>, Refusal<'a>>>),
}

impl<'a> Message<'a> {
    /// Reads one message; a batch is refused.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, Refusal<'a>> {
        let mut checker = Checker::new(bytes, limits)?;
        if checker.peek() == Some(b'[') {
            return Err(Fault::UnexpectedBatch.into());
        }
        let message = envelope::read(&mut checker)?;
        checker.end()?;
        message
    }

    /// The id of a request or an answer.
    pub fn id(&self) -> Option<Id<'a>> {
        match self {
            Self::Request(request) => Some(request.id),
            Self::Notification(_) => None,
            Self::Response(response) => Some(response.id),
            Self::Failure(failure) => failure.id,
        }
    }

    /// The method of a request or a notification.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Request(request) => Some(&request.method),
            Self::Notification(notification) => Some(&notification.method),
            Self::Response(_) | Self::Failure(_) => None,
        }
    }
}

impl<'a> Incoming<'a> {
    /// Reads a message or a batch of them.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, Refusal<'a>> {
        let mut checker = Checker::new(bytes, limits)?;
        if checker.peek() == Some(b'[') {
            let messages = batch(&mut checker, limits)?;
            checker.end()?;
            return Ok(Self::Batch(messages));
        }
        let message = envelope::read(&mut checker)?;
        checker.end()?;
        message.map(Self::One)
    }
}

fn batch<'a>(
    checker: &mut Checker<'a>,
    limits: &Limits,
) -> Result<Vec<Result<Message<'a>, Refusal<'a>>>, Fault> {
    let mut messages = Vec::new();
    while checker.element(messages.len())? {
        if messages.len() == limits.max_batch {
            return Err(Fault::BatchTooLarge { limit: limits.max_batch });
        }
        messages.push(envelope::read(checker)?);
    }
    if messages.is_empty() { Err(Fault::EmptyBatch) } else { Ok(messages) }
}
