//! The subscription to the changes of a server of the stateless era, which wants to be asked: asked anew
//! when others are wanted, or when it ends. What it does not agree to tell is looked at instead, and what
//! changed while it was not heard is found by looking. What is done when, `machine` decides; here it is done.
//!
//! While it is asked anew it goes on being heard: the new stream is opened beside the old one. A server that
//! refuses that is asked anew when the old one is closed, and looked at once. For less than it tells already, no
//! stream is closed.

mod machine;
mod pace;
mod share;
mod step;

use std::time::Duration;

use switchboard_wire::types::Filter;
use tokio::time::Instant;

use self::machine::Machine;
use self::step::{Event, Step};
use super::refusal::Refusal;
use super::streams::{Ended, News, Stream, Streams};
use crate::channel::Kinds;
use crate::connection::Connection;
use crate::server::Server;

/// Listens for as long as there is a connection; `before` was subscribed to on an earlier one, and whoever
/// acknowledges nothing for `patience` is looked at until they do. Returns if the server cannot be listened to.
pub(super) async fn subscribe(
    server: &Server,
    connection: &Connection,
    before: Vec<String>,
    patience: Duration,
) {
    let streams = Streams::default();
    let mut listening = Listening { server, connection, streams, began: Instant::now() };
    let mut machine = Machine::new(before, patience);
    let mut happened = (Event::Wanted, None);
    loop {
        let (event, ended) = happened;
        let (now, wanted) = (listening.began.elapsed(), listening.wanted());
        connection.channel.agreement.forget(|uri, _| !server.watched.has(uri));
        happened = match listening.carry_out(machine.next(now, wanted, event), ended.as_ref()) {
            Outcome::Done => listening.happens(&machine).await,
            Outcome::Overtaken => (Event::Fell, None),
            Outcome::Over => break,
        };
    }
    connection.channel.agreement.give_up();
    reckon(connection);
}

/// The subscription to one server, on one connection.
struct Listening<'c> {
    server: &'c Server,
    connection: &'c Connection,
    streams: Streams<'c>,
    /// Moments are counted from here.
    began: Instant,
}

/// What becomes of some steps.
enum Outcome {
    Done,
    /// It has acknowledged in the same moment what it is not asked for any more: what stood is none of its promises.
    Overtaken,
    /// It cannot be listened to.
    Over,
}

impl<'c> Listening<'c> {
    /// What happens next, and how it ended if it is a refusal.
    async fn happens(&mut self, machine: &Machine) -> (Event, Option<Ended>) {
        let agreement = &self.connection.channel.agreement;
        let due = machine.due().map(|due| self.began + due);
        let news = self.streams.news(self.server, agreement, due, machine.takes_wishes()).await;
        let untold = |stream: &Stream<'_>| {
            agreement.untold(&stream.asked.uris).into_iter().cloned().collect::<Vec<_>>()
        };
        let event = match news {
            News::Acknowledged => {
                let untold = self.streams.asked.as_ref().map(untold);
                Event::Acknowledged { untold: untold.unwrap_or_default() }
            }
            News::Passed(stream) => {
                let untold = untold(&stream);
                agreement.fell(stream.number);
                Event::Passed { untold }
            }
            News::Refused(ended) => {
                let (refusal, leaving) = (Refusal::of(&ended), self.streams.is_left());
                return (Event::Refused { refusal, leaving }, Some(ended));
            }
            News::Fell(stream) => {
                agreement.fell(stream.number);
                Event::Fell
            }
            News::Wanted => Event::Wanted,
            News::Due => Event::Time,
        };
        (event, None)
    }

    /// Does what is to be done, in that order.
    fn carry_out(&mut self, steps: Vec<Step>, ended: Option<&Ended>) -> Outcome {
        for step in steps {
            match self.step(step, ended) {
                Outcome::Done => {}
                other => return other,
            }
        }
        Outcome::Done
    }

    fn step(&mut self, step: Step, ended: Option<&Ended>) -> Outcome {
        let (server, channel) = (self.server, &self.connection.channel);
        let agreement = &channel.agreement;
        match step {
            Step::Open(asked) => self.streams.asked = Some(Stream::open(self.connection, asked)),
            Step::Drop => self.streams.asked = None,
            Step::Promote => self.streams.promote(channel.link()),
            Step::Close => {
                if let Some(stream) = self.streams.stands.take() {
                    agreement.fell(stream.number);
                }
            }
            Step::Dismiss => self.streams.dismiss(),
            Step::Confirm(wanted) => {
                let stands = self.streams.stands.as_ref();
                if !stands.is_some_and(|stands| agreement.confirm(stands.number, &wanted)) {
                    agreement.fell(agreement.round());
                    self.streams = Streams::default();
                    return Outcome::Overtaken;
                }
            }
            Step::Refuse(more) => {
                agreement.answers(more.into_iter());
                ended.into_iter().for_each(|ended| agreement.over(ended));
            }
            Step::Remark(uri) => {
                server.journal.remark(&format!("it does not tell of changes of {uri}"));
            }
            Step::Lose(uri) => server.lose(&uri),
            Step::Look(uri) => server.tell_to_look(&uri),
            Step::Read => channel.changed.note(Kinds::ALL),
            Step::Reckon => reckon(self.connection),
            Step::End => return Outcome::Over,
        }
        Outcome::Done
    }

    fn wanted(&self) -> Filter {
        let has = |kind: &str| self.connection.peer().capabilities.has(&[kind, "listChanged"]);
        Filter {
            tools: has("tools"),
            prompts: has("prompts"),
            resources: has("resources"),
            uris: self.server.watched.all(),
            ..Filter::default()
        }
    }
}

/// Takes over which lists nobody will hear of. Those are read at once: how long they hold is another
/// matter from here on.
fn reckon(connection: &Connection) {
    let channel = &connection.channel;
    let unheard = channel.agreement.unheard();
    let before = channel.changed.set_unheard(unheard);
    if before != unheard {
        channel.changed.note(before.with(unheard));
    }
}
