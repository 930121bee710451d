//! What a POST says: of which era it is, whether its headers say the same, and what it leads to.
//! Never answers a method: that is `serve`.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::port::{LONGEST_TRACE, RpcError};
use switchboard_wire::header::{self, Mirror, Mismatch};
use switchboard_wire::peek::RequestMeta;
use switchboard_wire::types::{Cancelled, Progress};
use switchboard_wire::{
    Era, Fault, IdBuf, Incoming, Json, JsonBuf, Message, Notification, Params, Request, Revision,
    code, method,
};

use crate::endpoint::Inner;
use crate::gate::Refused;
use crate::guests::Pass;
use crate::head::{self, Head};
use crate::http::Way;
use crate::introduced::{hello, introduced, supported};
use crate::listeners::Listening;
use crate::options::Limits;
use crate::outbox::{Keep, Outbox};
use crate::port::Speech;
use crate::reply::Reply;
use crate::running::{Asker, Task};
use crate::serve::{Later, Work};
use crate::session::Session;

/// What a POST leads to.
pub(crate) enum Posted {
    /// This answer.
    Reply(Reply),
    /// A new session, and this answer.
    Opened(Reply, Arc<Session>),
    /// Nothing to be said.
    Accepted,
    /// An error with this status, code and text that answers no request.
    Refused(u16, i64, String),
    /// A call.
    Call(Box<Task>),
    /// An answer that takes a moment.
    Watch(Later),
    /// A stream of changes.
    Listen(Listening),
    /// Several requests of a session.
    Batch(Vec<Exchange>, Arc<Session>),
}

/// One request of a batch.
pub(crate) struct Exchange {
    pub(crate) out: Arc<Outbox>,
    /// Of which request, if it can be told.
    pub(crate) id: Option<IdBuf>,
    work: Work,
}

impl Exchange {
    pub(crate) fn is_call(&self) -> bool {
        self.work.is_call()
    }

    pub(crate) async fn finish(self) -> Option<Reply> {
        self.work.finish().await
    }
}

impl Inner {
    /// Reads a body and begins what it asks for.
    pub(crate) fn exchange(self: &Arc<Self>, way: Way, head: &Head<'_>, body: &Bytes) -> Posted {
        let message = match Incoming::parse(body, &self.limits.message) {
            Ok(Incoming::One(message)) => message,
            Ok(Incoming::Batch(messages)) => return self.batch(&way, head, body, messages),
            Err(refusal) => {
                let text = refusal.fault.to_string();
                let reply = Reply::refused(refusal.id, refusal.fault.code(), &text, None);
                let large = matches!(refusal.fault, Fault::TooLarge { .. });
                return Posted::Reply(if large { reply.with_status(413) } else { reply });
            }
        };
        match message {
            Message::Request(request) => self.request(way, head, body, &request),
            Message::Notification(notification) => self.notification(&way, head, &notification),
            Message::Response(response) => self.with_session(&way, head, |session| {
                session.answer(response.id, Ok(JsonBuf::within(body, response.result)));
            }),
            Message::Failure(failure) => self.with_session(&way, head, |session| {
                if let Some(id) = failure.id {
                    session.answer(id, Err(RpcError::from(&failure.error)));
                }
            }),
        }
    }

    fn request(
        self: &Arc<Self>,
        way: Way,
        head: &Head<'_>,
        body: &Bytes,
        request: &Request<'_>,
    ) -> Posted {
        let params = request.outlined();
        if let Err(repeated) = params.once() {
            return refuse(request, code::INVALID_PARAMS, &repeated.to_string());
        }
        let meta = params.meta();
        if meta.protocol_version.is_some() || is_stateless(head) {
            return match stateless(&head.mirror(), request, &params, &meta, &self.limits) {
                Err(reply) => Posted::Reply(reply),
                Ok((speech, subject)) => {
                    let who = way.door.who(&way.principal);
                    let Way { door, principal, turn, view } = way;
                    let pass = Some(Pass { principal, door, turn });
                    let asker = Asker { who, view, speech, pass, trace: trace(head) };
                    let checked = check_params(&asker, head, request, &params, subject.as_deref());
                    if let Err(reply) = checked {
                        return Posted::Reply(reply);
                    }
                    let out = Arc::new(Outbox::new(Keep::UntilRead(self.limits.replay)));
                    self.serve(asker, request, body, out).into()
                }
            };
        }
        if request.method == method::INITIALIZE {
            return self.initialize(&way, request);
        }
        let session = match self.find_session(&way, head) {
            Ok(session) => session,
            Err(refused) => return refused.into(),
        };
        let (who, view, trace) = (session.who.clone(), way.view, trace(head));
        let asker = Asker { who, view, speech: Speech::Session(session), pass: None, trace };
        let out = Arc::new(Outbox::new(Keep::ForReplay(self.limits.replay)));
        self.serve(asker, request, body, out).into()
    }

    /// A session begins.
    fn initialize(self: &Arc<Self>, way: &Way, request: &Request<'_>) -> Posted {
        let hello = match hello(request, &self.limits) {
            Ok(hello) => hello,
            Err(reply) => return Posted::Reply(reply),
        };
        let revision = hello.revision;
        let Ok(session) = self.sessions.open(&way.principal, &way.door, Some(hello)) else {
            let text = "too many sessions are open; end some of them first";
            return Posted::Reply(
                Reply::refused(Some(request.id), code::INTERNAL_ERROR, text, None).with_status(429),
            );
        };
        let reply = self.greet(&session, &way.view, revision, request.id);
        Posted::Opened(reply, session)
    }

    fn notification(
        self: &Arc<Self>,
        way: &Way,
        head: &Head<'_>,
        notification: &Notification<'_>,
    ) -> Posted {
        // In the stateless era a closed stream says all that a notification could.
        let meta = RequestMeta::read(notification.params).unwrap_or_default();
        if meta.protocol_version.is_some() || is_stateless(head) {
            return Posted::Accepted;
        }
        self.with_session(way, head, |session| note(session, notification))
    }

    fn batch(
        self: &Arc<Self>,
        way: &Way,
        head: &Head<'_>,
        body: &Bytes,
        messages: Vec<Result<Message<'_>, switchboard_wire::Refusal<'_>>>,
    ) -> Posted {
        let session = match self.find_session(way, head) {
            Ok(session) => session,
            Err(refused) => return refused.into(),
        };
        if !session.revision().has_batches() {
            let fault = Fault::UnexpectedBatch;
            return Posted::Refused(400, fault.code(), fault.to_string());
        }
        let out = Arc::new(Outbox::new(Keep::ForReplay(self.limits.replay)));
        let mut exchanges = Vec::new();
        for message in messages {
            let id = match &message {
                Ok(Message::Request(request)) => Some(request.id.to_buf()),
                Ok(_) => None,
                Err(refusal) => refusal.id.map(|id| id.to_buf()),
            };
            let work = match message {
                Ok(Message::Request(request)) => {
                    let asker = Asker {
                        who: session.who.clone(),
                        view: way.view.clone(),
                        speech: Speech::Session(session.clone()),
                        pass: None,
                        trace: trace(head),
                    };
                    self.serve(asker, &request, body, out.clone())
                }
                Ok(other) => {
                    take(&session, body, other);
                    continue;
                }
                Err(refusal) => Work::Reply(Reply::refused(
                    refusal.id,
                    refusal.fault.code(),
                    &refusal.fault.to_string(),
                    None,
                )),
            };
            exchanges.push(Exchange { out: out.clone(), id, work });
        }
        if exchanges.is_empty() { Posted::Accepted } else { Posted::Batch(exchanges, session) }
    }

    fn with_session(&self, way: &Way, head: &Head<'_>, act: impl FnOnce(&Session)) -> Posted {
        match self.find_session(way, head) {
            Ok(session) => {
                act(&session);
                Posted::Accepted
            }
            Err(refused) => refused.into(),
        }
    }
}

/// What a session's client says besides requests.
pub(crate) fn take(session: &Session, body: &Bytes, message: Message<'_>) {
    match message {
        Message::Notification(notification) => note(session, &notification),
        Message::Response(response) => {
            session.answer(response.id, Ok(JsonBuf::within(body, response.result)));
        }
        Message::Failure(failure) => {
            if let Some(id) = failure.id {
                session.answer(id, Err(RpcError::from(&failure.error)));
            }
        }
        Message::Request(_) => {}
    }
}

/// A notification of a session's client: it gives up a call, or is so far with an answer. Roots are asked
/// for whenever a server wants them, so that they changed is no news to anybody.
pub(crate) fn note(session: &Session, notification: &Notification<'_>) {
    let params = notification.params.unwrap_or(Json::EMPTY);
    match &*notification.method {
        method::CANCELLED => {
            if let Ok(cancelled) = Cancelled::read(params) {
                session.cancel(&cancelled.request_id.key());
            }
        }
        method::PROGRESS => {
            if let Ok(progress) = Progress::read(params) {
                session.progressed(progress.token, params);
            }
        }
        _ => {}
    }
}

/// The trace that whoever sent the request is in, as HTTP clients tell it.
fn trace(head: &Head<'_>) -> Option<Arc<str>> {
    let trace = head.trace.text()?;
    (trace.len() <= LONGEST_TRACE).then(|| Arc::from(trace))
}

/// Whether the headers speak of a revision of the stateless era.
fn is_stateless(head: &Head<'_>) -> bool {
    let revision = head.version.text().and_then(Revision::parse);
    revision.is_some_and(|revision| revision.era() == Era::Stateless)
}

/// A request of the stateless era, whose headers say what it says; also what it is about.
fn stateless<'a>(
    mirror: &Mirror<'_>,
    request: &Request<'a>,
    params: &Params<'a>,
    meta: &RequestMeta<'_>,
    limits: &Limits,
) -> Result<(Speech, Option<Cow<'a, str>>), Reply> {
    let (version, speech) = introduced(request, meta, limits)?;
    let checked = header::check(mirror, &request.method, &version, params);
    let subject = checked.map_err(|mismatch| {
        Reply::refused(Some(request.id), mismatch.code(), &mismatch.to_string(), None)
    })?;
    supported(request, &version)?;
    Ok((speech, subject))
}

/// Whether the headers that mirror a tool's arguments say what the arguments say.
fn check_params(
    asker: &Asker,
    head: &Head<'_>,
    request: &Request<'_>,
    params: &Params<'_>,
    subject: Option<&str>,
) -> Result<(), Reply> {
    if request.method != method::TOOLS_CALL || !asker.view.mirrors() {
        return Ok(());
    }
    let Some(tool) = subject.and_then(|name| asker.view.tool(name)) else { return Ok(()) };
    let wanted = tool.entry.mirrored();
    if wanted.is_empty() {
        return Ok(());
    }
    // Two of one kind say nothing, whether or not the argument is there.
    let several = wanted.iter().find(|param| head.all.of(&param.header).len() > 1);
    let find = |name: &str| head.all.of(name).first().copied().and_then(head::text);
    let checked = match several {
        Some(param) => Err(Mismatch::Malformed(param.header.clone())),
        None => header::check_params(wanted, params.arguments(), find),
    };
    checked.map_err(|mismatch| {
        Reply::refused(Some(request.id), mismatch.code(), &mismatch.to_string(), None)
    })
}

fn refuse(request: &Request<'_>, code: i64, text: &str) -> Posted {
    Posted::Reply(Reply::refused(Some(request.id), code, text, None))
}

impl From<Refused> for Posted {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused.status.as_u16(), code::INVALID_REQUEST, refused.reason.to_owned())
    }
}

impl From<Work> for Posted {
    fn from(work: Work) -> Self {
        match work {
            Work::Reply(reply) => Self::Reply(reply),
            Work::Call(task) => Self::Call(task),
            Work::Later(later) => Self::Watch(later),
            Work::Listen(listening) => Self::Listen(listening),
        }
    }
}
