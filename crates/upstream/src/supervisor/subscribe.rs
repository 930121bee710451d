//! The subscription to the changes of a server of the stateless era, which wants to be asked: asked anew
//! when others are wanted, or when it ends. What it does not agree to tell is looked at instead, and what
//! changed while it was not heard is found by looking.
//!
//! While it is asked anew it goes on being heard: the new stream is opened beside the old one. A server that
//! refuses that is asked anew when the old one is closed, and looked at once.

use std::collections::BTreeSet;
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_wire::code;
use switchboard_wire::types::Filter;
use tokio::time::Instant;

use super::streams::{Ended, News, Stream, Streams};
use super::told::Told;
use crate::channel::{Channel, Kinds};
use crate::connection::Connection;
use crate::server::Server;
use crate::transport::http;

/// Between two subscriptions: at first, and at most. One that lived for longer was a good one.
const RESUBSCRIBE: Duration = Duration::from_millis(200);
const RESUBSCRIBE_LATER: Duration = Duration::from_secs(5);
/// The most that is waited for an acknowledgement, however long one took.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is asked after a stream was closed for the next one, which a server may need a moment to see: after
/// [`RESUBSCRIBE`], and after twice as long each time. Together that is less than anybody waits who subscribes.
const TRIES: u32 = 4;

/// Listens for as long as there is a connection; `before` was subscribed to on an earlier one, and whoever
/// acknowledges nothing for `patience` is looked at until they do. Returns if the server cannot be listened to.
pub(super) async fn subscribe(
    server: &Server,
    connection: &Connection,
    before: Vec<String>,
    patience: Duration,
) {
    let mut listening = Listening {
        server,
        connection,
        channel: &connection.channel,
        streams: Streams::default(),
        told: Told { uris: BTreeSet::from_iter(before), missed: true },
        has_agreed: false,
        missed: false,
        bears: Bears::Unknown,
        gave_way: None,
        patience,
        again: None,
        pause: RESUBSCRIBE,
    };
    listening.ask();
    while listening.goes_on().await {}
    connection.channel.agreement.give_up();
    reckon(connection);
    listening.told.lose(server);
}

/// Whether a server can be asked anew while it is listened to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bears {
    Unknown,
    /// It refuses a stream until the one before is closed.
    One,
    Several,
}

/// The subscription to one server, on one connection.
struct Listening<'c> {
    server: &'c Server,
    connection: &'c Connection,
    channel: &'c Channel,
    streams: Streams<'c>,
    told: Told,
    /// Whether it has ever acknowledged anything.
    has_agreed: bool,
    /// Whether there was a time in which nobody heard of its lists.
    missed: bool,
    bears: Bears,
    /// A stream was closed so that it may agree to another, and so often it has refused that since.
    gave_way: Option<u32>,
    /// How long it may take to acknowledge something: twice as long as it once took, if that was too long.
    patience: Duration,
    /// When it is asked again.
    again: Option<Instant>,
    pause: Duration,
}

impl Listening<'_> {
    /// Takes in what happens next; `false` if it cannot be listened to.
    async fn goes_on(&mut self) -> bool {
        let agreement = &self.channel.agreement;
        match self.streams.news(self.server, agreement, self.again).await {
            News::Acknowledged => self.agree(),
            News::Passed(stream) => self.passed(&stream),
            News::Refused(stream, ended) => return self.refused(&stream, ended),
            News::Fell(stream) => {
                // Whatever it agrees to now, it is not because another was closed for that.
                self.gave_way = None;
                self.fell(&stream);
                match &self.streams.asked {
                    None => self.rest(&stream),
                    Some(asked) if asked.late.is_none() => self.give_up_hope(),
                    Some(_) => {}
                }
            }
            News::Late => self.late(),
            // One that was told off a moment ago is asked for everything, a moment later.
            News::Wanted if self.gave_way.is_some() && self.again.is_some() => {}
            News::Wanted | News::Due => self.ask(),
        }
        true
    }

    /// Asks for what is wanted now, unless it tells of just that, beside what stands if the server bears that.
    fn ask(&mut self) {
        let wanted = self.wanted();
        self.again = None;
        // What nobody wants is lost to nobody.
        self.told.uris.retain(|uri| wanted.uris.contains(uri));
        self.channel.agreement.forget(|uri| !wanted.uris.iter().any(|wanted| wanted == uri));
        if wanted == Filter::default() {
            self.let_go();
            self.streams = Streams::default();
            self.gave_way = None;
        } else if self.stands_for(&wanted) {
            self.told.uris = wanted.uris.into_iter().collect();
            self.streams.asked = None;
            self.gave_way = None;
        } else if self.bears == Bears::One && self.let_go() {
            self.give_way(0);
        } else {
            self.streams.asked = Some(Stream::open(self.connection, wanted, self.patience));
        }
    }

    /// Whether it tells of just that already. If so, that is the answer to whoever waits for one.
    fn stands_for(&self, wanted: &Filter) -> bool {
        let stands = self.streams.stands.as_ref().filter(|stands| stands.asked == *wanted);
        stands.is_some_and(|stands| self.channel.agreement.confirm(stands.number, wanted))
    }

    /// It has not acknowledged in time what it was asked for.
    fn late(&mut self) {
        // It may wait for the end of the other, and sees that only now.
        let is_let_go = self.bears == Bears::Unknown && self.let_go();
        self.gave_way = is_let_go.then_some(0);
        if let Some(asked) = &mut self.streams.asked {
            asked.late = is_let_go.then(|| Instant::now() + self.patience);
        }
        match is_let_go || self.streams.stands.is_some() {
            true => reckon(self.connection),
            false => self.give_up_hope(),
        }
    }

    /// It has acknowledged what it was asked for.
    fn agree(&mut self) {
        let Some(asked) = &self.streams.asked else { return };
        let uris = asked.asked.uris.clone();
        let took = asked.began.elapsed();
        if took > self.patience {
            self.patience = self.patience.max((took * 2).min(PATIENCE));
        }
        self.take_in(&uris);
        reckon(self.connection);
        match (&self.streams.stands, self.gave_way.take()) {
            (Some(_), _) => self.bears = Bears::Several,
            (None, Some(_)) => self.bears = Bears::One,
            (None, None) => {}
        }
        self.streams.promote(self.channel.link());
    }

    /// It has acknowledged what it was asked for, and ended before anybody could hear of anything.
    fn passed(&mut self, stream: &Stream<'_>) {
        self.gave_way = None;
        self.take_in(&stream.asked.uris);
        // What it agreed to before is forgotten with that, though its stream may be open.
        self.let_go();
        self.fell(stream);
        reckon(self.connection);
        self.rest(stream);
    }

    /// What it was asked for last, and agreed to or not. What was missed before is looked at.
    fn take_in(&mut self, uris: &[String]) {
        self.has_agreed = true;
        if std::mem::take(&mut self.missed) {
            self.channel.changed.note(Kinds::ALL);
        }
        self.told.reckon(self.server, uris, &self.channel.agreement.untold(uris));
    }

    /// It ended before it acknowledged anything; `false` if it cannot be listened to.
    fn refused(&mut self, stream: &Stream<'_>, ended: Ended) -> bool {
        // Whoever does not answer at all has refused nothing, nor who only wants to know who asks.
        let is_answered =
            !matches!(ended, Err(CallError::Lost { .. } | CallError::Unauthorized { .. }));
        if is_answered && let Some(tries) = self.tries(&ended) {
            self.give_way(tries);
            return true;
        }
        self.gave_way = None;
        self.channel.agreement.over(&ended);
        if self.streams.stands.is_none() {
            let is_more = stream.asked.uris.iter().any(|uri| !self.told.uris.contains(uri));
            // One that was asked for something more is asked once without that, if it ever was listened to: the refusal may
            // be of what is more alone.
            if is_never(&ended) && !(self.has_agreed && is_more) {
                return false;
            }
            if is_answered && !is_more {
                self.told.lose(self.server);
            }
            reckon(self.connection);
        }
        self.rest(stream);
        true
    }

    /// How often it has refused since a stream was closed for the one that it refuses, if it may yet agree.
    fn tries(&mut self, ended: &Ended) -> Option<u32> {
        if self.streams.dismiss() || (self.bears == Bears::Unknown && self.let_go()) {
            return Some(0);
        }
        let most = if is_of_request(ended) { 1 } else { TRIES };
        self.gave_way.map(|tries| tries + 1).filter(|tries| *tries < most)
    }

    /// Closes what stands; whether there was anything.
    fn let_go(&mut self) -> bool {
        let stands = self.streams.stands.take();
        stands.map(|stream| self.fell(&stream)).is_some()
    }

    /// What is told from now on reaches nobody.
    fn fell(&mut self, stream: &Stream<'_>) {
        self.channel.agreement.fell(stream.number);
        (self.told.missed, self.missed) = (true, true);
    }

    /// A stream was closed for another, and a server needs a moment to see it.
    fn give_way(&mut self, tries: u32) {
        self.gave_way = Some(tries);
        self.again = Some(Instant::now() + RESUBSCRIBE * (1 << tries));
    }

    /// Asks again later.
    fn rest(&mut self, after: &Stream<'_>) {
        if after.began.elapsed() > RESUBSCRIBE_LATER {
            self.pause = RESUBSCRIBE;
        }
        self.again = Some(Instant::now() + self.pause);
        self.pause = (self.pause * 2).min(RESUBSCRIBE_LATER);
    }

    /// Nobody knows when it will be heard again.
    fn give_up_hope(&mut self) {
        self.told.lose(self.server);
        reckon(self.connection);
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

/// It refuses what it was asked for, whatever else is open.
fn is_of_request(ended: &Ended) -> bool {
    let codes = [code::INVALID_PARAMS, code::RESOURCE_NOT_FOUND];
    let is_named = matches!(ended, Err(CallError::Rpc(error)) if codes.contains(&error.code));
    is_named || is_never(ended)
}

/// It does not have it; anything from 500 on is no answer to that, nor is that it has no time now.
fn is_never(ended: &Ended) -> bool {
    match ended {
        Err(CallError::Rpc(error)) => error.code == code::METHOD_NOT_FOUND,
        Err(CallError::Malformed(_) | CallError::Http { status: ..400, .. }) => true,
        Err(error) => http::is_final(error),
        Ok(_) => false,
    }
}
