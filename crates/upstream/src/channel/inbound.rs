//! What a server sends: answers to their rows, questions to the client behind the call that caused
//! them, changes to whoever refreshes. Never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use bytes::Bytes;
use switchboard_core::port::{CallError, RpcError};
use switchboard_model::{EventKind, LogSource};
use switchboard_wire::types::{Cancelled, LogMessage, Progress};
use switchboard_wire::{
    Edit, Era, Fault, Id, Incoming, Json, JsonBuf, Message, Notification, Refusal, Request, code,
    method, peek, rewrite,
};
use tokio::sync::Notify;

use super::{Channel, LIMITS, Related, Waiting, question};
use crate::pulse::Tell;

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
        Some(pending) => {
            pending.answer(Err(CallError::Malformed(refusal.fault.to_string())), Tell::Wake);
        }
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
        Some(pending) => {
            if let Err(CallError::Rpc(error)) = &answer {
                channel.pages.note_refusal(error, pending.waiting.port.as_ref());
            }
            if let (Some(call), true, Ok(result)) = (row, pending.waiting.begins, &answer) {
                let token = pending.waiting.token.clone();
                channel.lasting.note(call, token, result.as_json());
            }
            if let (Some(task), Ok(_)) = (&pending.waiting.task, &answer) {
                channel.lasting.forget(task);
            }
            // On its own stream it is read by whoever waits for it.
            let own = row.is_some_and(|id| related == Related::To(id));
            pending.answer(answer, if own { Tell::Nobody } else { Tell::Wake });
        }
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
    let params = request.params.unwrap_or(Json::EMPTY);
    let found = caused(channel, params, related).and_then(|id| channel.table.find(id));
    let found = found.and_then(|(pulse, waiting)| {
        let port = waiting.port.clone()?;
        Some((pulse, waiting, port))
    });
    match found {
        Some((pulse, waiting, port)) if question::is_one(&request.method) => {
            channel.pages.note(params, &port);
            question::put(channel, request, (pulse, &waiting, port));
        }
        _ => question::unasked(channel, request),
    }
}

/// The request that a message has to do with. What names its task is for whoever waits for that task's
/// result: nobody else's call has anything to do with it, though it be the only one.
fn caused(channel: &Channel, params: Json<'_>, related: Related) -> Option<u64> {
    match related {
        Related::To(id) => Some(id),
        Related::Unknown => match peek::related_task(params) {
            Some(task) => channel.table.awaits(&task),
            None => channel.table.likely(),
        },
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
        method::ACKNOWLEDGED => heard(channel, method::ACKNOWLEDGED, params, related),
        method::TASK_CHANGED => heard(channel, method::TASK_CHANGED, params, related),
        method::TASK_STATUS => {
            channel.lasting.stands(params);
            channel.journal.tell(EventKind::TaskChanged { task: params.as_str().into() });
        }
        method::RESOURCE_UPDATED => {
            if let Some(uri) = params.get("uri").and_then(Json::string) {
                channel.journal.tell(EventKind::ResourceUpdated { uri: (&*uri).into() });
            }
        }
        method::ELICITATION_COMPLETE => {
            for client in channel.pages.done(params) {
                client.notify(method::ELICITATION_COMPLETE, params.into());
            }
        }
        // Nothing here depends on the others.
        _ => {}
    }
}

/// Something that belongs to a subscription, for whoever asked for it.
fn heard(channel: &Channel, told: &'static str, params: Json<'_>, related: Related) {
    let named = peek::subscription_id(params).and_then(Id::parse);
    let named = named.and_then(|id| u64::try_from(id.number()?).ok());
    let on = match related {
        Related::To(id) => Some(id),
        Related::Unknown => None,
    };
    let found = named.or(on).and_then(|id| channel.table.find(id));
    if let Some(listener) = found.and_then(|(_, waiting)| waiting.listener) {
        listener.notify(told, params.into());
    }
}

fn progress(channel: &Arc<Channel>, params: Json<'_>) {
    let Ok(progress) = Progress::read(params) else { return };
    let Some(id) = progress.token.number().and_then(|id| u64::try_from(id).ok()) else { return };
    let towards = |token: JsonBuf| {
        rewrite::edited(params, &[Edit::set("progressToken", token.as_json())]).ok()
    };
    let Some((pulse, waiting)) = channel.table.find(id) else {
        // The token of a call that began a task is good for as long as that lasts.
        if let Some((task, token)) = channel.lasting.find(id)
            && let Some(params) = towards(token)
        {
            let awaits = channel.table.awaits(&task).and_then(|id| channel.table.find(id));
            if let Some((_, Waiting { port: Some(port), unaware: true, .. })) = awaits {
                return port.notify(method::PROGRESS, params);
            }
            let params = params.as_json().as_str().into();
            channel.journal.tell(EventKind::TaskProgressed { task, params });
        }
        return;
    };
    pulse.beat();
    if let (Some(port), Some(token)) = (waiting.port, waiting.token)
        && let Some(params) = towards(token)
    {
        port.notify(method::PROGRESS, params);
    }
}

fn log(channel: &Arc<Channel>, params: Json<'_>, related: Related) {
    if let Ok(message) = LogMessage::read(params) {
        let data = message.data.string_lossy();
        let data = data.as_deref().unwrap_or(message.data.as_str());
        let text = format!("{}: {data}", message.level.as_str());
        channel.journal.push(LogSource::Message, text.as_bytes());
    }
    match caused(channel, params, related) {
        Some(id) => {
            if let Some(port) = channel.table.find(id).and_then(|(_, waiting)| waiting.port) {
                port.notify(method::LOG_MESSAGE, params.into());
            }
        }
        // What names its task is for whoever waits for that.
        None if peek::related_task(params).is_some() => {}
        None => {
            for client in channel.alone.sessions() {
                client.notify(method::LOG_MESSAGE, params.into());
            }
        }
    }
}

/// A server gives something up. In the session era that is a question of its own, and so is the number: it
/// may be that of a request of ours all the same. In the stateless era, in which it asks nothing, it is a
/// request of ours: a subscription that ends, for one.
fn cancelled(channel: &Arc<Channel>, params: Json<'_>) {
    let Ok(cancelled) = Cancelled::read(params) else { return };
    if channel.era.get() == Some(&Era::Session) {
        return channel.questions.take_back(&cancelled.request_id.key());
    }
    let id = cancelled.request_id.number().and_then(|id| u64::try_from(id).ok());
    if let Some(pending) = id.and_then(|id| channel.table.remove(id)) {
        let reason = cancelled.reason.as_deref().unwrap_or("it gave no reason");
        let text = format!("the server cancelled the request: {reason}");
        pending.answer(Err(RpcError::new(code::INTERNAL_ERROR, &text).into()), Tell::Wake);
    }
}

/// Which lists have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const TOOLS: Self = Self(1);
    pub(crate) const RESOURCES: Self = Self(2);
    pub(crate) const PROMPTS: Self = Self(4);
    pub(crate) const ALL: Self = Self(7);

    pub(crate) fn with(self, kind: Self) -> Self {
        Self(self.0 | kind.0)
    }

    pub(crate) fn without(self, kinds: Self) -> Self {
        Self(self.0 & !kinds.0)
    }

    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}

/// Changes that nobody has looked at yet; a storm of them is one.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    kinds: AtomicU8,
    bell: Notify,
    /// Lists of which the server does not agree to tell, whatever it declares, or cannot.
    unheard: AtomicU8,
    /// There was a time in which nobody heard what it told.
    missed: AtomicBool,
}

impl Changed {
    pub(crate) fn note(&self, kinds: Kinds) {
        self.kinds.fetch_or(kinds.0, Ordering::AcqRel);
        self.bell.notify_one();
    }

    /// Nobody heard the server for a while: whatever it tells of may have changed, resources too.
    pub(crate) fn note_missed(&self) {
        self.missed.store(true, Ordering::Release);
        self.note(Kinds::ALL);
    }

    /// Whether something was missed since this was last asked.
    pub(crate) fn take_missed(&self) -> bool {
        self.missed.swap(false, Ordering::AcqRel)
    }

    /// Returns when there may be something to take.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Lists of which nobody will hear; which they were before.
    pub(crate) fn set_unheard(&self, kinds: Kinds) -> Kinds {
        Kinds(self.unheard.swap(kinds.0, Ordering::AcqRel))
    }

    pub(crate) fn unheard(&self) -> Kinds {
        Kinds(self.unheard.load(Ordering::Acquire))
    }

    pub(crate) fn take(&self) -> Kinds {
        Kinds(self.kinds.swap(0, Ordering::AcqRel))
    }
}
