//! What has to be remembered between an agent's pipe and a hub, so that the agent's session can go on
//! at another hub: its greeting, its level of logging, its subscriptions, and what is open. Reads
//! what passes and never changes it.

mod subscriptions;
#[cfg(test)]
mod tests;

use std::time::Instant;

use bytes::Bytes;
use switchboard_wire::types::Cancelled;
use switchboard_wire::{
    Id, IdBuf, IdKey, Incoming, Json, Limits, Message, Notification, Request, code, method, write,
};

use self::subscriptions::Subscriptions;

/// What is remembered of a session on a pipe.
#[derive(Default)]
pub struct Memory {
    /// How it began, once that was answered.
    hello: Option<Said>,
    /// The same before.
    greeting: Option<Said>,
    initialized: Option<Bytes>,
    level: Option<Said>,
    subscriptions: Subscriptions,
    /// What the agent asked and was not answered.
    open: Vec<(IdKey, IdBuf)>,
    /// What the hub asked and was not answered.
    asked: Vec<(IdKey, IdBuf)>,
    /// Requests whose answers the agent had before; those of subscriptions may come much later.
    repeated: Vec<IdKey>,
}

/// A request as it was sent, alone on its line.
#[derive(Clone)]
struct Said {
    id: IdKey,
    line: Bytes,
}

/// What becomes of something that the hub said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is the agent's.
    On,
    /// It answers what was said again: the agent has it.
    Over,
    /// It answers a subscription that was said again. What changed before that is not known, nor would a
    /// refusal be: the agent is told this instead, so that it looks once. One that is refused is asked for later.
    Instead(Vec<u8>),
    /// The new hub does not take the session.
    Refused,
}

impl Memory {
    /// The agent says something.
    pub fn from_agent(&mut self, line: &Bytes) {
        each(line, |message| match message {
            Message::Request(request) => self.agent_asks(&request, line),
            Message::Notification(notification) => self.agent_tells(&notification),
            Message::Response(response) => forget(&mut self.asked, response.id),
            Message::Failure(failure) => {
                failure.id.into_iter().for_each(|id| forget(&mut self.asked, id));
            }
        });
    }

    /// The hub says something.
    pub fn from_hub(&mut self, line: &Bytes, now: Instant) -> Pass {
        let mut pass = Pass::On;
        each(line, |message| {
            let (id, good) = match message {
                Message::Request(request) => {
                    return self.asked.push((request.id.key(), request.id.to_buf()));
                }
                Message::Notification(notification) => {
                    let gone = cancelled(&notification);
                    return self.asked.retain(|(id, _)| Some(id) != gone.as_ref());
                }
                Message::Response(response) => (Some(response.id), Ok(())),
                Message::Failure(failure) => (failure.id, Err(now)),
            };
            if let Some(id) = id {
                pass = self.answered(id, good);
            }
        });
        pass
    }

    /// The hub is gone: what the agent is told, so that it waits for nothing that will not come.
    pub fn lost(&mut self) -> Vec<Vec<u8>> {
        // What is told to have failed is not subscribed to.
        let open = &self.open;
        self.subscriptions.forget(|said| open.iter().any(|(id, _)| id == said));
        let text = "the hub stopped before it answered; the call may have been carried out: check \
                    before you repeat it";
        let failed = self.open.drain(..).map(|(_, id)| {
            let mut line = Vec::new();
            write::error(&mut line, Some(id.as_id()), code::INTERNAL_ERROR, text, None);
            line
        });
        let called_off = self.asked.drain(..).map(|(_, id)| {
            let params = write::object(|params| params.raw("requestId", id.as_json()));
            let mut line = Vec::new();
            write::notification(&mut line, method::CANCELLED, Some(params.as_json()));
            line
        });
        let all = failed.chain(called_off).collect();
        (self.greeting, self.repeated) = (None, Vec::new());
        all
    }

    /// What the next hub is told, so that it knows the session.
    pub fn again(&mut self) -> Vec<Bytes> {
        let Some(hello) = &self.hello else { return Vec::new() };
        let rest: Vec<&Said> = self.level.iter().chain(self.subscriptions.anew()).collect();
        self.repeated = std::iter::once(hello)
            .chain(rest.iter().copied())
            .map(|said| said.id.clone())
            .collect();
        let mut all = vec![hello.line.clone()];
        all.extend(self.initialized.clone());
        all.extend(rest.iter().map(|said| said.line.clone()));
        all
    }

    /// When the hub is to be asked again for something that it refused.
    pub fn next(&self) -> Option<Instant> {
        self.subscriptions.next()
    }

    /// What the hub is asked for again by now.
    pub fn due(&mut self, now: Instant) -> Vec<Bytes> {
        let due = self.subscriptions.due(now).into_iter();
        due.map(|(id, line)| {
            self.repeated.push(id);
            line
        })
        .collect()
    }

    /// Whether the next hub has not taken the session yet. What else was said again is not waited for: a
    /// subscription waits for its server.
    pub fn is_waiting(&self) -> bool {
        self.hello.as_ref().is_some_and(|hello| self.repeated.contains(&hello.id))
    }

    /// What the agent is told then: what it knows of lists may be old.
    pub fn news(&self) -> Vec<Vec<u8>> {
        if self.hello.is_none() {
            return Vec::new();
        }
        let lists = [method::TOOLS_CHANGED, method::RESOURCES_CHANGED, method::PROMPTS_CHANGED];
        let line = |told: &str| {
            let mut line = Vec::new();
            write::notification(&mut line, told, None);
            line
        };
        lists.map(line).into()
    }

    fn agent_asks(&mut self, request: &Request<'_>, line: &Bytes) {
        self.open.push((request.id.key(), request.id.to_buf()));
        let said = || Said { id: request.id.key(), line: alone(line, request) };
        let uri = || request.params.and_then(|params| params.get("uri")?.string());
        match &*request.method {
            method::INITIALIZE => self.greeting = Some(said()),
            method::SET_LEVEL => self.level = Some(said()),
            method::SUBSCRIBE => {
                self.subscriptions.add(uri().unwrap_or_default().into_owned(), said());
            }
            method::UNSUBSCRIBE => self.subscriptions.remove(&uri().unwrap_or_default()),
            _ => {}
        }
    }

    fn agent_tells(&mut self, notification: &Notification<'_>) {
        if notification.method == method::INITIALIZED {
            let mut alone = Vec::new();
            write::notification(&mut alone, method::INITIALIZED, notification.params);
            self.initialized = Some(alone.into());
        }
        if let Some(gone) = cancelled(notification) {
            self.open.retain(|(id, _)| *id != gone);
        }
    }

    fn again_answered(&mut self, key: &IdKey, good: Result<(), Instant>) -> Pass {
        let found = match good {
            Ok(()) => self.subscriptions.taken(key),
            Err(now) => self.subscriptions.refused(key, now),
        };
        found.map_or(Pass::Over, |uri| Pass::Instead(updated(uri)))
    }

    /// What the hub answers; a refusal comes with the time.
    fn answered(&mut self, id: Id<'_>, good: Result<(), Instant>) -> Pass {
        let key = id.key();
        if let Some(at) = self.repeated.iter().position(|other| *other == key) {
            self.repeated.remove(at);
            let greeting = self.hello.as_ref().is_some_and(|hello| hello.id == key);
            return match greeting && good.is_err() {
                true => Pass::Refused,
                false => self.again_answered(&key, good),
            };
        }
        if good.is_err() {
            self.subscriptions.forget(|said| *said == key);
        }
        forget(&mut self.open, id);
        if let Some(greeting) = self.greeting.take_if(|greeting| greeting.id == key)
            && good.is_ok()
        {
            self.hello = Some(greeting);
        }
        Pass::On
    }
}

/// A request without whatever else was on its line, which is not to be said again with it.
fn alone(line: &Bytes, request: &Request<'_>) -> Bytes {
    if line.trim_ascii_start().first() != Some(&b'[') {
        return line.clone();
    }
    let mut alone = Vec::new();
    write::request(&mut alone, request.id, &request.method, request.params);
    alone.into()
}

/// That a resource may be another by now.
fn updated(uri: &str) -> Vec<u8> {
    let params = write::object(|params| params.text("uri", uri));
    let mut line = Vec::new();
    write::notification(&mut line, method::RESOURCE_UPDATED, Some(params.as_json()));
    line
}

/// Every message of a line; what is none is left to the hub to judge.
fn each(line: &Bytes, mut act: impl FnMut(Message<'_>)) {
    match Incoming::parse(line, &Limits::DEFAULT) {
        Ok(Incoming::One(message)) => act(message),
        Ok(Incoming::Batch(messages)) => messages.into_iter().filter_map(Result::ok).for_each(act),
        Err(_) => {}
    }
}

/// What it calls off, if that is what it does.
pub(crate) fn cancelled(notification: &Notification<'_>) -> Option<IdKey> {
    if notification.method != method::CANCELLED {
        return None;
    }
    let cancelled = Cancelled::read(notification.params.unwrap_or(Json::EMPTY)).ok()?;
    Some(cancelled.request_id.key())
}

fn forget(open: &mut Vec<(IdKey, IdBuf)>, id: Id<'_>) {
    let key = id.key();
    open.retain(|(other, _)| *other != key);
}
