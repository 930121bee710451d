//! The subscription to the changes of a server of the stateless era, which wants to be asked: asked anew
//! when others are wanted, or when it ends. What it does not agree to tell is looked at instead, and what
//! changed while it was not heard is found by looking.
//!
//! While it is asked anew it goes on being heard: the new stream is opened beside the old one. A server that
//! refuses that is asked anew when the old one is closed, and looked at once. For less than it tells already, no
//! stream is closed.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use switchboard_wire::types::Filter;
use tokio::time::Instant;

use super::refusal::Refusal;
use super::streams::{Bears, Ended, News, Stream, Streams};
use super::told::Told;
use crate::channel::{Channel, Kinds};
use crate::connection::Connection;
use crate::server::Server;

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
        plain: false,
        singly: VecDeque::new(),
        patience,
        again: None,
        refusals: 0,
        ends: 0,
    };
    listening.ask();
    while listening.goes_on().await {}
    connection.channel.agreement.give_up();
    reckon(connection);
    listening.told.lose(server);
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
    /// It has refused more while nothing stood: it is asked for what it told before, and for nothing new until it has
    /// answered that.
    plain: bool,
    /// New resources that it has refused all together: each is asked for alone, until it agrees to one.
    singly: VecDeque<String>,
    /// How long it may take to acknowledge something: twice as long as it once took, if that was too long.
    patience: Duration,
    /// When it is asked again.
    again: Option<Instant>,
    /// How often in a row it has refused what it told before, and how many streams in a row were over soon.
    refusals: u32,
    ends: u32,
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
                    None => self.rest_after_end(),
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
        let asked = self.narrowed(&wanted);
        if asked == Filter::default() {
            self.let_go();
            self.streams = Streams::default();
            self.gave_way = None;
        } else if self.stands_for(&wanted) || (self.bears == Bears::One && self.is_enough(&asked)) {
            self.streams.asked = None;
            self.gave_way = None;
        } else if self.bears == Bears::One && self.let_go() {
            self.give_way(0);
        } else {
            self.streams.asked = Some(Stream::open(self.connection, asked, self.patience));
        }
    }

    /// What is asked for now of what is wanted.
    fn narrowed(&mut self, wanted: &Filter) -> Filter {
        let is_new = |uri: &String| !self.told.uris.contains(uri) && wanted.uris.contains(uri);
        self.singly.retain(is_new);
        let before = self.before();
        self.plain &= before != Filter::default();
        match self.singly.front() {
            _ if self.plain => before,
            Some(alone) => {
                let uris = before.uris.into_iter().chain([alone.clone()]);
                Filter { uris: BTreeSet::from_iter(uris).into_iter().collect(), ..before }
            }
            None => wanted.clone(),
        }
    }

    /// What it told before, and its lists.
    fn before(&self) -> Filter {
        Filter { uris: self.told.uris.iter().cloned().collect(), ..self.wanted() }
    }

    /// Whether it tells of just that already. If so, that is the answer to whoever waits for one.
    fn stands_for(&mut self, wanted: &Filter) -> bool {
        let stands = self.streams.stands.as_ref();
        stands.is_some_and(|stands| stands.asked == *wanted) && self.is_enough(wanted)
    }

    /// Whether it tells of all that is wanted, or was asked for, and perhaps of more. What is too much goes with the
    /// next question.
    fn is_enough(&mut self, asked: &Filter) -> bool {
        let (wanted, agreement) = (self.wanted(), &self.channel.agreement);
        let Some(stands) = &self.streams.stands else { return false };
        let is_enough = [&wanted, asked].into_iter().any(|it| agreement.confirm(stands.number, it));
        if is_enough {
            let told = wanted.uris.into_iter().filter(|uri| agreement.tells(uri));
            self.told.uris = told.collect();
        }
        is_enough
    }

    /// Whether what stands is enough without what was asked for, which is let go if so.
    fn keeps(&mut self, asked: &Filter) -> bool {
        let is_enough = self.is_enough(asked);
        if is_enough {
            self.streams.asked = None;
            (self.again, self.gave_way) = (None, None);
        }
        is_enough
    }

    /// It has not acknowledged in time what it was asked for.
    fn late(&mut self) {
        let Some(asked) = self.streams.asked.as_ref().map(|asked| asked.asked.clone()) else {
            return;
        };
        if self.keeps(&asked) {
            return;
        }
        // It may wait for the end of the other, and sees that only now.
        let is_let_go = self.bears == Bears::Unknown && self.let_go();
        self.gave_way = is_let_go.then_some(0);
        if let Some(asked) = &mut self.streams.asked {
            asked.late = is_let_go.then(|| Instant::now() + self.patience);
        }
        if is_let_go {
            return reckon(self.connection);
        }
        // With whatever is wanted next, all is asked for again.
        self.plain = false;
        self.singly.clear();
        match self.streams.stands {
            Some(_) => reckon(self.connection),
            None => self.give_up_hope(),
        }
    }

    /// It has acknowledged what it was asked for.
    fn agree(&mut self) {
        let Some(asked) = &self.streams.asked else { return };
        let took = asked.began.elapsed();
        if took > self.patience {
            self.patience = self.patience.max((took * 2).min(PATIENCE));
        }
        let (uris, is_plain) = (asked.asked.uris.clone(), self.plain);
        let pause = if self.singly.is_empty() { RESUBSCRIBE } else { Duration::ZERO };
        self.take_in(&uris);
        reckon(self.connection);
        match (&self.streams.stands, self.gave_way.take()) {
            (Some(_), _) => self.bears = Bears::Several,
            // What it is asked for then it may only have refused because of something else.
            (None, Some(_)) if !is_plain => self.bears = Bears::One,
            (None, _) => {}
        }
        self.streams.promote(self.channel.link());
        // What was left out comes next. Whoever was told no meanwhile may need a moment to see it.
        let wanted = self.wanted();
        let is_more = wanted.uris.iter().any(|uri| !uris.contains(uri));
        self.again = is_more.then(|| Instant::now() + pause);
    }

    /// It has acknowledged what it was asked for, and ended before anybody could hear of anything.
    fn passed(&mut self, stream: &Stream<'_>) {
        self.gave_way = None;
        self.take_in(&stream.asked.uris);
        // What it agreed to before is forgotten with that, though its stream may be open.
        self.let_go();
        self.fell(stream);
        reckon(self.connection);
        self.rest_after_end();
    }

    /// What it was asked for last, and agreed to or not. What was missed before is looked at.
    fn take_in(&mut self, uris: &[String]) {
        self.has_agreed = true;
        self.plain = false;
        self.refusals = 0;
        if self.singly.front().is_some_and(|alone| uris.contains(alone)) {
            self.singly.clear();
        }
        if std::mem::take(&mut self.missed) {
            self.channel.changed.note(Kinds::ALL);
        }
        self.told.reckon(self.server, uris, &self.channel.agreement.untold(uris));
    }

    /// It ended before it acknowledged anything; `false` if it cannot be listened to.
    fn refused(&mut self, stream: &Stream<'_>, ended: Ended) -> bool {
        if self.keeps(&stream.asked) {
            return true;
        }
        let refusal = Refusal::of(&ended);
        if let Some(tries) = self.tries(refusal) {
            self.give_way(tries);
            return true;
        }
        let new = stream.asked.uris.iter().filter(|uri| !self.told.uris.contains(*uri));
        let new: Vec<_> = new.cloned().collect();
        if !new.is_empty() && (self.has_agreed || refusal != Refusal::Never) {
            self.refused_more(new, &ended);
            return true;
        }
        self.refused_all(&ended, refusal);
        refusal != Refusal::Never
    }

    /// It refuses what it has told before: that is its answer to everybody.
    fn refused_all(&mut self, ended: &Ended, refusal: Refusal) {
        self.gave_way = None;
        self.plain = false;
        self.channel.agreement.answers(self.singly.drain(..));
        self.channel.agreement.over(ended);
        if refusal != Refusal::Away {
            self.told.lose(self.server);
        }
        reckon(self.connection);
        self.rest_after_refusal();
    }

    /// It refuses what is new, or that there is so much of it: whoever waits for one of several is told nothing yet. If it
    /// is not heard any more, what it told before comes first.
    fn refused_more(&mut self, new: Vec<String>, ended: &Ended) {
        match &new[..] {
            [alone] => {
                self.singly.retain(|uri| uri != alone);
                self.channel.agreement.over(ended);
                self.server.lose(alone);
            }
            _ => self.singly = VecDeque::from(new),
        }
        let is_heard = self.streams.stands.is_some();
        self.gave_way = self.gave_way.filter(|_| !is_heard).map(|tries| tries + 1);
        self.plain = !is_heard && self.before() != Filter::default();
        reckon(self.connection);
        match self.plain || !self.singly.is_empty() {
            true => self.ask(),
            false => self.rest_after_refusal(),
        }
    }

    /// How often it has refused since a stream was closed for the one that it refuses, if it may yet agree.
    fn tries(&mut self, refusal: Refusal) -> Option<u32> {
        let most = match refusal {
            Refusal::Away => return None,
            Refusal::Now => TRIES,
            Refusal::Request | Refusal::Never => 1,
        };
        if self.streams.dismiss() || (self.bears == Bears::Unknown && self.let_go()) {
            return Some(0);
        }
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
        if stream.began.elapsed() > RESUBSCRIBE_LATER {
            self.ends = 0;
        }
        (self.told.missed, self.missed) = (true, true);
    }

    /// A stream was closed for another, and a server needs a moment to see it.
    fn give_way(&mut self, tries: u32) {
        self.gave_way = Some(tries);
        self.again = Some(Instant::now() + RESUBSCRIBE * (1 << tries));
    }

    /// A stream was over that it had acknowledged: asks again, later and later if they last for a moment.
    fn rest_after_end(&mut self) {
        self.again = Some(Instant::now() + pause(self.ends));
        self.ends = self.ends.saturating_add(1);
    }

    /// It has refused something: asks again, later and later if it agrees to nothing.
    fn rest_after_refusal(&mut self) {
        self.again = Some(Instant::now() + pause(self.refusals));
        self.refusals = self.refusals.saturating_add(1);
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

/// Before it is asked again, after so many times.
fn pause(times: u32) -> Duration {
    RESUBSCRIBE.saturating_mul(1 << times.min(10)).min(RESUBSCRIBE_LATER)
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
