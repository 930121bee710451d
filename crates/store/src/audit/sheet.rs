//! Rows that are about to be written, sorted by their words once, for the log and for the counts. Nothing is
//! copied out of a call but its words, and those once for all calls that are alike.

use std::collections::HashMap;

use switchboard_model::{AgentId, Scope, ServerKey, UserId};

use super::line::Pen;
use super::words::Words;
use super::{CALL, Entry};
use crate::db::{micros, millis};
use crate::error::Result;
use crate::usage::{CallRecord, Shape};

/// A row that is about to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noted<'r> {
    Call(&'r CallRecord),
    Entry(&'r Entry),
}

/// Rows in their order, each with the place of its words in the list of those that occur.
#[derive(Default)]
pub(crate) struct Sheet<'r> {
    places: HashMap<Words, u32>,
    words: Vec<Words>,
    rows: Vec<(u32, Noted<'r>)>,
    scratch: Words,
}

impl<'r> Sheet<'r> {
    pub(crate) fn of(rows: impl Iterator<Item = Noted<'r>>) -> Self {
        let mut sheet = Self::default();
        rows.for_each(|row| sheet.add(row));
        sheet
    }

    pub(crate) fn add(&mut self, row: Noted<'r>) {
        self.scratch.clear();
        row.words(&mut self.scratch);
        let last = self.rows.last().map(|(place, _)| *place);
        let place = match last {
            // Calls come in runs.
            Some(place) if self.words.get(place as usize) == Some(&self.scratch) => place,
            _ => match self.places.get(&self.scratch) {
                Some(place) => *place,
                None => {
                    let place = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
                    self.places.insert(self.scratch.clone(), place);
                    self.words.push(self.scratch.clone());
                    place
                }
            },
        };
        self.rows.push((place, row));
    }

    /// Every row with the place of its words.
    pub(super) fn rows(&self) -> &[(u32, Noted<'r>)] {
        &self.rows
    }

    /// The words that occur.
    pub(super) fn words(&self) -> &[Words] {
        &self.words
    }

    /// Every call with the place of its words: calls of one place are alike in whose they are, where they
    /// went and how they ended.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (u32, &'r CallRecord)> {
        self.rows.iter().filter_map(|(place, row)| match row {
            Noted::Call(call) => Some((*place, *call)),
            Noted::Entry(_) => None,
        })
    }
}

impl Noted<'_> {
    pub(super) fn at(self) -> i64 {
        let at = match self {
            Self::Call(call) => millis(call.at),
            Self::Entry(entry) => millis(entry.at),
        };
        // The greatest number stands for no limit.
        at.min(i64::MAX - 1)
    }

    fn words(self, to: &mut Words) {
        match self {
            Self::Call(call) => {
                to.put(&[CALL]);
                to.put(&["mcp:", call.server.name.as_str()]);
                to.put_if(call.user.as_ref().map(UserId::as_str));
                to.put_if(call.agent.as_ref().map(AgentId::as_str));
                put_key(to, &call.server);
                to.put_any(&call.tool);
                to.put(&[call.origin.as_str()]);
                to.put(&[call.decision.as_str()]);
                to.put_if(call.outcome.map(|outcome| outcome.as_str()));
            }
            Self::Entry(entry) => {
                to.put_any(&entry.action);
                to.put_any(&entry.source);
                to.put_if(entry.user.as_ref().map(UserId::as_str));
                to.put_if(entry.agent.as_ref().map(AgentId::as_str));
                match &entry.server {
                    Some(key) => put_key(to, key),
                    None => to.skip(),
                }
                match &entry.tool {
                    Some(tool) => to.put_any(tool),
                    None => to.skip(),
                }
                to.put_if(entry.origin.map(|origin| origin.as_str()));
                to.put_if(entry.decision.map(|decision| decision.as_str()));
                to.put_if(entry.outcome.map(|outcome| outcome.as_str()));
            }
        }
    }

    /// Writes its line at the end of a body.
    pub(super) fn write(self, subject: i64, to: &mut Vec<u8>) -> Result<()> {
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let mut pen = Pen(to);
        pen.begin(self.at(), subject);
        match self {
            Self::Call(call) => {
                pen.count(Some(micros(call.duration)));
                pen.count(Some(count(call.bytes_in)));
                pen.count(Some(count(call.bytes_out)));
                pen.json(call.trace.as_deref())?;
                pen.comma();
                let mut open = b'{';
                pen.raw_member(&mut open, "shape", call.shape.as_ref().map(Shape::as_str));
                pen.member(&mut open, "arguments", call.arguments.as_ref())?;
                pen.member(&mut open, "error", call.error.as_deref())?;
                pen.close(open);
            }
            Self::Entry(entry) => {
                pen.count(entry.duration.map(micros));
                pen.count(entry.bytes_in.map(count));
                pen.count(entry.bytes_out.map(count));
                pen.json(entry.trace.as_deref())?;
                pen.json(entry.detail.as_ref())?;
            }
        }
        pen.end();
        Ok(())
    }
}

/// As `write_key` writes it.
fn put_key(to: &mut Words, key: &ServerKey) {
    let name = key.name.as_str();
    match &key.scope {
        Scope::Global => to.put(&["global/", name]),
        Scope::User(user) => to.put(&["user:", user.as_str(), "/", name]),
        Scope::Agent(agent) => to.put(&["agent:", agent.as_str(), "/", name]),
    }
}
