//! What a server of the stateless era is asked to tell, and when: what happens in, what is to be done out. Pure: never
//! asks, never waits, never looks at a clock.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::mem::take;
use std::time::Duration;

use switchboard_wire::types::Filter;

use super::pace::{self, Pace};
use super::share::Share;
use super::step::{Event, Step};
use crate::supervisor::refusal::Refusal;

/// The subscription to one server, on one connection. Moments are counted from its begin.
#[derive(Debug)]
pub(super) struct Machine {
    stands: Option<Stands>,
    asked: Option<Asked>,
    share: Share,
    /// Whether there was a time in which nobody heard of what it told, and of its lists.
    unseen: bool,
    unread: bool,
    /// Whether it has ever acknowledged anything.
    has_agreed: bool,
    bears: Bears,
    /// A stream was closed so that it may agree to another, and so often it has refused that since.
    gave_way: Option<u32>,
    /// When another took the place of a stream last, which it may not have seen to be closed.
    replaced: Option<Duration>,
    pace: Pace,
    /// When it is asked again.
    again: Option<Duration>,
    /// The event that is being decided: when, what is wanted by then, and what follows.
    now: Duration,
    wanted: Filter,
    steps: Vec<Step>,
}

/// A stream that is acknowledged, and heard.
#[derive(Debug)]
struct Stands {
    asked: Filter,
    agreed: BTreeSet<String>,
    began: Duration,
}

/// A stream that is not acknowledged yet.
#[derive(Debug)]
struct Asked {
    asked: Filter,
    began: Duration,
    /// When it is late, unless it is already.
    late: Option<Duration>,
}

/// Whether a server can be asked anew while it is listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bears {
    Unknown,
    /// It refuses a stream until the one before is closed.
    One,
    Several,
}

impl Machine {
    /// These were subscribed to on an earlier connection; whoever acknowledges nothing for `patience` is late.
    pub(super) fn new(before: Vec<String>, patience: Duration) -> Self {
        Self {
            stands: None,
            asked: None,
            share: Share::new(before),
            unseen: true,
            unread: false,
            has_agreed: false,
            bears: Bears::Unknown,
            gave_way: None,
            replaced: None,
            pace: Pace::new(patience),
            again: None,
            now: Duration::ZERO,
            wanted: Filter::default(),
            steps: Vec::new(),
        }
    }

    /// When it is time for the next step, whatever happens.
    pub(super) fn due(&self) -> Option<Duration> {
        self.asked.as_ref().map_or(self.again, |asked| asked.late)
    }

    /// Whether it matters now that something else is wanted: while an answer is on its way, nothing else is asked for.
    pub(super) fn takes_wishes(&self) -> bool {
        self.asked.as_ref().is_none_or(|asked| asked.late.is_none())
    }

    /// Takes in what happens, and all that is wanted by then.
    pub(super) fn next(&mut self, now: Duration, wanted: Filter, event: Event) -> Vec<Step> {
        (self.now, self.wanted) = (now, wanted);
        match event {
            // One that was told off a moment ago is asked for everything, a moment later.
            Event::Wanted if self.gave_way.is_some() && self.again.is_some() => {}
            Event::Wanted => self.ask(),
            Event::Time if self.asked.is_some() => self.late(),
            Event::Time => self.ask(),
            Event::Acknowledged { untold } => self.agreed(&untold),
            Event::Passed { untold } => self.passed(&untold),
            Event::Refused { refusal, leaving } => self.refused(refusal, leaving),
            Event::Fell => self.fell(),
        }
        take(&mut self.steps)
    }

    /// Asks for what is wanted now, unless it tells of just that, beside what stands if the server bears that.
    fn ask(&mut self) {
        self.again = None;
        let asked = self.share.of(&self.wanted);
        if asked == Filter::default() {
            self.let_go();
            self.drop_asked();
            self.do_next(Step::Dismiss);
            self.gave_way = None;
        } else if self.stands_for_all() || (self.bears == Bears::One && self.is_enough(&asked)) {
            self.drop_asked();
            self.gave_way = None;
        } else if self.bears == Bears::One && self.let_go() {
            self.give_way(0);
        } else {
            self.do_next(Step::Open(asked.clone()));
            let late = Some(self.pace.late(self.now));
            self.asked = Some(Asked { asked, began: self.now, late });
        }
    }

    /// Whether it tells of just that already. If so, that is the answer to whoever waits for one.
    fn stands_for_all(&mut self) -> bool {
        let is_it = self.stands.as_ref().is_some_and(|stands| stands.asked == self.wanted);
        is_it && self.is_enough(&self.wanted.clone())
    }

    /// Whether it tells of all that is wanted, or was asked for, and perhaps of more. What is too much goes with the
    /// next question.
    fn is_enough(&mut self, asked: &Filter) -> bool {
        let Some(stands) = &self.stands else { return false };
        let tells = |it: &&Filter| it.uris.iter().all(|uri| stands.agreed.contains(uri));
        let Some(all) = [&self.wanted, asked].into_iter().find(tells) else { return false };
        let told = self.wanted.uris.iter().filter(|uri| stands.agreed.contains(*uri));
        self.share.told = told.cloned().collect();
        let confirmed = Step::Confirm(all.clone());
        self.do_next(confirmed);
        true
    }

    /// Whether what stands is enough without what was asked for, which is let go if so.
    fn keeps(&mut self, asked: &Filter) -> bool {
        let is_enough = self.is_enough(asked);
        if is_enough {
            self.drop_asked();
            (self.again, self.gave_way) = (None, None);
        }
        is_enough
    }

    /// It has not acknowledged in time what it was asked for.
    fn late(&mut self) {
        let Some(asked) = self.asked.as_ref().map(|asked| asked.asked.clone()) else { return };
        if self.keeps(&asked) {
            return;
        }
        // It may wait for the end of the other, and sees that only now.
        let is_let_go = self.bears == Bears::Unknown && self.let_go();
        self.gave_way = is_let_go.then_some(0);
        if let Some(asked) = &mut self.asked {
            asked.late = is_let_go.then(|| self.pace.late(self.now));
        }
        if is_let_go {
            return self.do_next(Step::Reckon);
        }
        // With whatever is wanted next, all is asked for again.
        self.share.undivided();
        if self.stands.is_none() {
            self.lose_all();
        }
        self.do_next(Step::Reckon);
    }

    /// It has acknowledged what it was asked for.
    fn agreed(&mut self, untold: &[String]) {
        let Some(Asked { asked, began, .. }) = self.asked.take() else { return };
        let is_plain = self.share.is_plain();
        let next = if self.share.is_divided() { self.now } else { pace::soon(self.now) };
        self.take_in(&asked.uris, untold);
        self.pace.acknowledged(self.now.saturating_sub(began));
        match (&self.stands, self.gave_way.take()) {
            (Some(_), _) => (self.bears, self.replaced) = (Bears::Several, Some(self.now)),
            // What it is asked for then it may only have refused because of something else.
            (None, Some(_)) if !is_plain => self.bears = Bears::One,
            (None, _) => {}
        }
        self.do_next(Step::Reckon);
        self.do_next(Step::Promote);
        // What was left out comes next.
        let is_more = self.wanted.uris.iter().any(|uri| !asked.uris.contains(uri));
        self.again = is_more.then_some(next);
        self.stands = Some(Stands { asked, agreed: self.share.told.clone(), began });
    }

    /// It has acknowledged what it was asked for, and ended before anybody could hear of anything.
    fn passed(&mut self, untold: &[String]) {
        let Some(Asked { asked, began, .. }) = self.asked.take() else { return };
        self.gave_way = None;
        self.take_in(&asked.uris, untold);
        self.pace.acknowledged(Duration::ZERO);
        // What it agreed to before is forgotten with that, though its stream may be open.
        self.let_go();
        self.miss(began);
        self.do_next(Step::Reckon);
        self.again = Some(self.pace.after_end(self.now));
    }

    /// What it was asked for last, and agreed to or not. What was missed before is looked at.
    fn take_in(&mut self, asked: &[String], untold: &[String]) {
        self.has_agreed = true;
        self.share.acknowledged(asked);
        if take(&mut self.unread) {
            self.do_next(Step::Read);
        }
        let (before, unseen) = (take(&mut self.share.told), take(&mut self.unseen));
        for uri in asked {
            let was_told = before.contains(uri);
            if untold.contains(uri) {
                self.do_next(Step::Remark(uri.clone()));
                self.steps.extend(was_told.then(|| Step::Lose(uri.clone())));
                continue;
            }
            self.steps.extend((unseen && was_told).then(|| Step::Look(uri.clone())));
            self.share.told.insert(uri.clone());
        }
    }

    /// What stood has ended.
    fn fell(&mut self) {
        let Some(stands) = self.stands.take() else { return };
        // Whatever it agrees to now, it is not because another was closed for that.
        self.gave_way = None;
        self.miss(stands.began);
        match &self.asked {
            None => self.again = Some(self.pace.after_end(self.now)),
            Some(asked) if asked.late.is_none() => {
                self.lose_all();
                self.do_next(Step::Reckon);
            }
            Some(_) => {}
        }
    }

    /// It ended before it acknowledged anything.
    fn refused(&mut self, refusal: Refusal, leaving: bool) {
        let Some(Asked { asked, .. }) = self.asked.take() else { return };
        if self.keeps(&asked) {
            return;
        }
        if let Some(tries) = self.tries(refusal, leaving) {
            return self.give_way(tries);
        }
        let new = asked.uris.into_iter().filter(|uri| !self.share.told.contains(uri));
        let new: Vec<_> = new.collect();
        if !new.is_empty() && (self.has_agreed || refusal != Refusal::Never) {
            return self.refused_more(new);
        }
        self.refused_all(refusal);
        if refusal == Refusal::Never {
            self.do_next(Step::End);
        }
    }

    /// How often it has refused since a stream was closed for the one that it refuses, if it may yet agree.
    fn tries(&mut self, refusal: Refusal, leaving: bool) -> Option<u32> {
        if refusal == Refusal::Away {
            return None;
        }
        if leaving {
            self.do_next(Step::Dismiss);
        }
        if leaving || self.is_unseen(refusal) || (self.bears == Bears::Unknown && self.let_go()) {
            return Some(0);
        }
        self.gave_way.map(|tries| tries + 1).filter(|tries| pace::may_yet_agree(*tries, refusal))
    }

    /// Whether it may refuse only because it has not seen yet that a stream is closed; once for each.
    fn is_unseen(&mut self, refusal: Refusal) -> bool {
        let may_be = refusal == Refusal::Now && self.gave_way.is_none();
        let replaced = self.replaced.take_if(|_| may_be);
        replaced.is_some_and(|at| pace::is_lately(self.now, at))
    }

    /// It refuses what it has told before: that is its answer to everybody.
    fn refused_all(&mut self, refusal: Refusal) {
        self.gave_way = None;
        let all = self.share.undivided();
        self.do_next(Step::Refuse(all));
        if refusal != Refusal::Away {
            self.lose_all();
        }
        self.do_next(Step::Reckon);
        self.again = Some(self.pace.after_refusal(self.now));
    }

    /// It refuses what is new, or that there is so much of it: whoever waits for one of several is told nothing yet. If it
    /// is not heard any more, what it told before comes first.
    fn refused_more(&mut self, new: Vec<String>) {
        if let Some(alone) = self.share.refused(new) {
            self.steps.extend([Step::Refuse(Vec::new()), Step::Lose(alone)]);
        }
        if self.stands.is_none() {
            self.share.restore(&self.wanted);
        }
        self.do_next(Step::Reckon);
        if self.share.is_plain() || self.share.is_divided() {
            // It may still have to see that a stream was closed.
            return self.ask();
        }
        self.gave_way = None;
        self.again = Some(self.pace.after_refusal(self.now));
    }

    /// Closes what stands; whether there was anything.
    fn let_go(&mut self) -> bool {
        let Some(stands) = self.stands.take() else { return false };
        self.do_next(Step::Close);
        self.miss(stands.began);
        true
    }

    fn drop_asked(&mut self) {
        if self.asked.take().is_some() {
            self.do_next(Step::Drop);
        }
    }

    /// What is told from now on reaches nobody.
    fn miss(&mut self, began: Duration) {
        self.pace.lasted(self.now.saturating_sub(began));
        (self.unseen, self.unread) = (true, true);
    }

    /// Nobody knows when it will be heard again.
    fn lose_all(&mut self) {
        self.steps.extend(take(&mut self.share.told).into_iter().map(Step::Lose));
    }

    /// A stream was closed for another, and a server needs a moment to see it.
    fn give_way(&mut self, tries: u32) {
        self.gave_way = Some(tries);
        self.again = Some(pace::after_close(self.now, tries));
    }

    fn do_next(&mut self, step: Step) {
        self.steps.push(step);
    }
}
