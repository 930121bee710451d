//! What a server sends: answers to their rows, questions to the client behind the call that caused
//! them, changes to whoever refreshes. Never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use switchboard_core::port::{CallError, RpcError};
use switchboard_model::{EventKind, LogSource};
use switchboard_wire::types::{Cancelled, Filter, LogMessage, Progress};
use switchboard_wire::{
    Edit, Fault, Incoming, Json, JsonBuf, Message, Notification, Refusal, Request, code, method,
    rewrite, write,
};
use tokio::sync::Notify;

use super::{Channel, LIMITS, Related};

pub(super) fn dispatch(channel: &Arc<Channel>, bytes: &Bytes, related: Related) {
    match Message::parse(bytes, &LIMITS) {
        Ok(message) => take(channel, bytes, message, related),
        Err(refusal) if refusal.fault == Fault::UnexpectedBatch => batch(channel, bytes, related),
        Err(refusal) => refuse(channel, bytes, &refusal),
    }
}

fn batch(channel: &Arc<Channel>, bytes: &Bytes, related: Related) {
    match Incoming::parse(bytes, &LIMITS) {
        Ok(Incoming::One(message)) => take(channel, bytes, message, related),
        Ok(Incoming::Batch(messages)) => {
            for message in messages {
                match message {
                    Ok(message) => take(channel, bytes, message, related),
                    Err(refusal) => refuse(channel, bytes, &refusal),
                }
            }
        }
        Err(refusal) => refuse(channel, bytes, &refusal),
    }
}

/// What is no message is logged; if it names a request of ours, that one ends.
fn refuse(channel: &Arc<Channel>, bytes: &Bytes, refusal: &Refusal<'_>) {
    let pending = refusal.id.and_then(|id| u64::try_from(id.number()?).ok());
    match pending.and_then(|id| channel.table.remove(id)) {
        Some(pending) => pending.answer(Err(CallError::Malformed(refusal.fault.to_string()))),
        None => channel.journal.push(LogSource::Stdout, bytes),
    }
}

fn take(channel: &Arc<Channel>, bytes: &Bytes, message: Message<'_>, related: Related) {
    let (id, answer) = match message {
        Message::Response(response) => {
            (Some(response.id), Ok(JsonBuf::within(bytes, response.result)))
        }
        Message::Failure(failure) => (failure.id, Err(RpcError::from(&failure.error).into())),
        Message::Request(message) => return request(channel, &message, related),
        Message::Notification(message) => return notification(channel, &message, related),
    };
    let row = id.and_then(|id| u64::try_from(id.number()?).ok());
    match row.and_then(|id| channel.table.remove(id)) {
        Some(pending) => pending.answer(answer),
        None => {
            channel.stray.fetch_add(1, Ordering::Relaxed);
            if let (None, Err(error)) = (id, &answer) {
                channel.journal.remark(&format!("it could not read a message: {error}"));
            }
        }
    }
}

fn request(channel: &Arc<Channel>, request: &Request<'_>, related: Related) {
    if request.method == method::PING {
        return channel.respond(request.id, Ok(Json::EMPTY));
    }
    let found = caused(channel, related).and_then(|id| channel.table.find(id));
    let found = found.and_then(|(pulse, waiting)| Some((pulse, waiting.port?)));
    let asks =
        matches!(&*request.method, method::ELICIT | method::CREATE_MESSAGE | method::ROOTS_LIST);
    match found {
        Some((pulse, port)) if asks => {
            let (id, name) = (request.id.to_buf(), request.method.to_string());
            let params = request.params.map(JsonBuf::from);
            let held = channel.clone();
            channel.tasks.spawn(async move {
                let hold = pulse.hold();
                let answer = tokio::select! {
                    answer = port.request(&name, params) => answer,
                    () = held.end.cancelled() => return,
                };
                drop(hold);
                held.respond(id.as_id(), answer.as_ref().map(JsonBuf::as_json));
            });
        }
        _ => {
            let answer = nobody(&request.method);
            channel.respond(request.id, answer.as_ref().map(JsonBuf::as_json));
        }
    }
}

/// The request that a message has to do with.
fn caused(channel: &Channel, related: Related) -> Option<u64> {
    match related {
        Related::To(id) => Some(id),
        Related::Unknown => channel.table.likely(),
    }
}

/// The answer where nobody is there to be asked.
fn nobody(name: &str) -> Result<JsonBuf, RpcError> {
    match name {
        method::ELICIT => Ok(write::object(|result| result.text("action", "cancel"))),
        method::ROOTS_LIST => Ok(write::object(|result| result.raws("roots", []))),
        method::CREATE_MESSAGE => {
            Err(RpcError::new(-1, "there is no model behind this call to sample from"))
        }
        _ => Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found")),
    }
}

fn notification(channel: &Arc<Channel>, message: &Notification<'_>, related: Related) {
    let params = message.params.unwrap_or(Json::EMPTY);
    match &*message.method {
        method::PROGRESS => progress(channel, params),
        method::LOG_MESSAGE => log(channel, params, related),
        method::CANCELLED => cancelled(channel, params),
        method::TOOLS_CHANGED => channel.changed.note(Kinds::TOOLS),
        method::RESOURCES_CHANGED => channel.changed.note(Kinds::RESOURCES),
        method::PROMPTS_CHANGED => channel.changed.note(Kinds::PROMPTS),
        method::ACKNOWLEDGED => {
            if let Ok(filter) = Filter::read(params) {
                tracing::debug!(?filter, "subscribed");
            }
        }
        method::RESOURCE_UPDATED => {
            if let Some(uri) = params.get("uri").and_then(Json::string) {
                channel.journal.tell(EventKind::ResourceUpdated { uri: (&*uri).into() });
            }
        }
        // Nothing here depends on the others.
        _ => {}
    }
}

fn progress(channel: &Arc<Channel>, params: Json<'_>) {
    let Ok(progress) = Progress::read(params) else { return };
    let Some(id) = progress.token.number().and_then(|id| u64::try_from(id).ok()) else { return };
    let Some((pulse, waiting)) = channel.table.find(id) else { return };
    pulse.beat();
    if let (Some(port), Some(token)) = (waiting.port, waiting.token) {
        let theirs = [Edit::set("progressToken", token.as_json())];
        if let Ok(params) = rewrite::edited(params, &theirs) {
            port.notify(method::PROGRESS, params);
        }
    }
}

fn log(channel: &Arc<Channel>, params: Json<'_>, related: Related) {
    if let Ok(message) = LogMessage::read(params) {
        let data = message.data.string_lossy();
        let data = data.as_deref().unwrap_or(message.data.as_str());
        let text = format!("{}: {data}", message.level.as_str());
        channel.journal.push(LogSource::Message, text.as_bytes());
    }
    if let Some(id) = caused(channel, related)
        && let Some((_, waiting)) = channel.table.find(id)
        && let Some(port) = waiting.port
    {
        port.notify(method::LOG_MESSAGE, params.into());
    }
}

/// A server gives up a request of ours: a subscription that ends, for one.
fn cancelled(channel: &Arc<Channel>, params: Json<'_>) {
    let Ok(cancelled) = Cancelled::read(params) else { return };
    let id = cancelled.request_id.number().and_then(|id| u64::try_from(id).ok());
    if let Some(pending) = id.and_then(|id| channel.table.remove(id)) {
        let reason = cancelled.reason.as_deref().unwrap_or("it gave no reason");
        let text = format!("the server cancelled the request: {reason}");
        pending.answer(Err(RpcError::new(code::INTERNAL_ERROR, &text).into()));
    }
}

/// Which lists have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const TOOLS: Self = Self(1);
    pub(crate) const RESOURCES: Self = Self(2);
    pub(crate) const PROMPTS: Self = Self(4);
    pub(crate) const ALL: Self = Self(7);

    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}

/// Changes that nobody has looked at yet; a storm of them is one.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    kinds: AtomicU8,
    bell: Notify,
}

impl Changed {
    pub(crate) fn note(&self, kinds: Kinds) {
        self.kinds.fetch_or(kinds.0, Ordering::AcqRel);
        self.bell.notify_one();
    }

    /// Returns when there may be something to take.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    pub(crate) fn take(&self) -> Kinds {
        Kinds(self.kinds.swap(0, Ordering::AcqRel))
    }
}
