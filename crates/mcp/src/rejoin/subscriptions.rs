//! What an agent on a pipe has subscribed to, and when a hub that did not take one of those over is asked for it
//! again. Never tells anybody anything: that is `rejoin`.

use std::time::Instant;

use bytes::Bytes;
use switchboard_wire::{Id, IdKey, Json, Limits, Message, method, write};

use super::Said;
use crate::patience::wait;

/// All of them, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Subscriptions {
    rows: Vec<Row>,
    /// How often something was asked again: each time is a request of its own.
    asked: u64,
}

/// One that the agent believes to have.
struct Row {
    uri: String,
    said: Said,
    /// Since the hub refused it.
    again: Option<Again>,
}

/// What the hub is asked for again.
#[derive(Default)]
struct Again {
    tries: u32,
    /// When, unless it is being asked.
    due: Option<Instant>,
    /// Under which it is being asked.
    id: Option<IdKey>,
}

impl Subscriptions {
    /// The agent asks for one, whatever it had before.
    pub(super) fn add(&mut self, uri: String, said: Said) {
        self.remove(&uri);
        self.rows.push(Row { uri, said, again: None });
    }

    /// The agent wants to hear of it no more.
    pub(super) fn remove(&mut self, uri: &str) {
        self.rows.retain(|row| row.uri != uri);
    }

    /// None of those that the agent asked for so.
    pub(super) fn forget(&mut self, goes: impl Fn(&IdKey) -> bool) {
        self.rows.retain(|row| !goes(&row.said.id));
    }

    /// All of them, as they were asked for; whatever the last hub said to them.
    pub(super) fn anew(&mut self) -> impl Iterator<Item = &Said> {
        self.rows.iter_mut().map(|row| {
            row.again = None;
            &row.said
        })
    }

    /// The resource that is subscribed to by what was said again under this id.
    pub(super) fn taken(&mut self, id: &IdKey) -> Option<&str> {
        let row = self.rows.iter_mut().find(|row| row.is_said(id))?;
        row.again = None;
        Some(&row.uri)
    }

    /// What was said again under this id is refused, and is asked for later. The resource, if that is new.
    pub(super) fn refused(&mut self, id: &IdKey, now: Instant) -> Option<&str> {
        let row = self.rows.iter_mut().find(|row| row.is_said(id))?;
        let is_new = row.again.is_none();
        let again = row.again.get_or_insert_default();
        again.id = None;
        again.due = Some(now + wait(again.tries));
        again.tries = again.tries.saturating_add(1);
        is_new.then_some(&row.uri)
    }

    /// When the next one is to be asked for again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.rows.iter().filter_map(|row| row.again.as_ref()?.due).min()
    }

    /// What is to be asked for again by now, each under an id that no agent gives.
    pub(super) fn due(&mut self, now: Instant) -> Vec<(IdKey, Bytes)> {
        let mut all = Vec::new();
        for row in &mut self.rows {
            let again = row.again.as_mut().filter(|again| again.due.is_some_and(|due| due <= now));
            let Some(again) = again else { continue };
            again.due = None;
            self.asked += 1;
            if let Some(said) = row.said.under(&format!("switchboard:again:{}", self.asked)) {
                again.id = Some(said.id.clone());
                all.push((said.id, said.line));
            }
        }
        all
    }
}

impl Row {
    fn is_said(&self, id: &IdKey) -> bool {
        let again = self.again.as_ref();
        again.map_or(self.said.id == *id, |again| again.id.as_ref() == Some(id))
    }
}

impl Said {
    /// The same request under another id.
    fn under(&self, id: &str) -> Option<Self> {
        let Ok(Message::Request(request)) = Message::parse(&self.line, &Limits::DEFAULT) else {
            return None;
        };
        let mut text = Vec::new();
        write::string(&mut text, id);
        let id = Id::parse(Json::parse(&text, &Limits::DEFAULT).ok()?)?;
        let mut line = Vec::new();
        write::request(&mut line, id, method::SUBSCRIBE, request.params);
        Some(Self { id: id.key(), line: line.into() })
    }
}
