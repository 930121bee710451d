//! Resources that somebody wants to hear of: who, under which name, and whether the server has agreed
//! to tell. Never asks a server: that is `asking`, and `again`; nor tells anybody, nor looks what they
//! see: that is `telling`, and `sight`.

mod again;
mod agreement;
mod asking;
mod sight;
mod telling;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use switchboard_core::port::Who;
use switchboard_model::ServerKey;
use switchboard_wire::IdBuf;

use self::agreement::Agreement;
use crate::auth::Principal;
use crate::door::Door;
use crate::ledger::{Ledger, Share};
use crate::options::Limits;
use crate::outbox::Outbox;
use crate::session::{Session, Watched};

/// A server, and its own URI of a resource.
pub(crate) type Place = (ServerKey, String);

/// What is kept of a watch besides its names, about.
const BESIDE: usize = 512;
/// How often its name is kept, at most: as the caller calls it, as its server does, and where that is asked.
const TIMES: usize = 4;

/// Who wants to hear of what.
pub(crate) struct Watches {
    rows: Mutex<Rows>,
    /// What it takes to know that.
    ledger: Ledger,
}

#[derive(Default)]
struct Rows {
    last: u64,
    rows: HashMap<Place, Row>,
}

/// Those who want to hear of one resource.
#[derive(Default)]
struct Row {
    watches: Vec<Watch>,
    agreed: Agreed,
    /// Who asked for it last: in their name the server is told off.
    who: Option<Arc<Who>>,
    /// Whether the server is asked again and again.
    is_pursued: bool,
}

type Agreed = Arc<Agreement>;

/// One who wants to hear of a resource.
struct Watch {
    number: u64,
    /// What they call it.
    uri: String,
    whose: Whose,
    /// That it counts.
    _share: Share,
}

enum Whose {
    /// A session's: told on its own stream.
    Session(
        Weak<Session>,
        #[expect(dead_code, reason = "it counts as long as it is held")] Watched,
    ),
    /// That of a listener with this number, told under its request's id.
    Stream(Hearing),
    /// Nobody's any more; the server is told off at the next sweep.
    Gone,
}

/// A listener that hears of resources.
#[derive(Clone)]
pub(crate) struct Hearing {
    pub(crate) number: u64,
    pub(crate) out: Weak<Outbox>,
    pub(crate) id: IdBuf,
    /// Whether it was acknowledged: nothing may come before that.
    pub(crate) acknowledged: Arc<AtomicBool>,
    pub(crate) door: Door,
    pub(crate) principal: Arc<Principal>,
}

impl Hearing {
    fn out(&self) -> Option<Arc<Outbox>> {
        self.out.upgrade().filter(|_| self.acknowledged.load(Ordering::SeqCst))
    }
}

impl Whose {
    fn is_dead(&self) -> bool {
        match self {
            Self::Session(session, _) => session.strong_count() == 0,
            Self::Stream(hearing) => hearing.out.strong_count() == 0,
            Self::Gone => true,
        }
    }
}

impl Watches {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            rows: Mutex::default(),
            ledger: Ledger::new(limits.subscribed, limits.subscribed_each),
        }
    }

    /// Does something while nobody is told of a resource.
    pub(crate) fn undisturbed(&self, act: impl FnOnce()) {
        let _rows = self.lock();
        act();
    }

    /// All that somebody wants to hear of.
    pub(crate) fn all(&self) -> Vec<Place> {
        let all = self.lock();
        let wanted = all.rows.iter().filter(|(_, row)| !row.watches.is_empty());
        wanted.map(|(place, _)| place.clone()).collect()
    }

    /// A server is not there any more: nothing that it agreed to holds.
    pub(crate) fn forget_agreed(&self, server: &ServerKey) {
        let mut all = self.lock();
        let rows = all.rows.iter_mut().filter(|((of, _), _)| of == server);
        for (_, row) in rows.filter(|(_, row)| row.agreed.is_given()) {
            row.agreed = Agreed::default();
        }
    }

    /// A server does not tell of a resource any more; whether it had agreed to.
    fn forget_agreed_to(&self, place: &Place) -> bool {
        let mut all = self.lock();
        let row = all.rows.get_mut(place).filter(|row| row.agreed.is_given());
        let was_given = row.map(|row| row.agreed = Agreed::default()).is_some();
        all.forget_idle(place);
        was_given
    }

    /// Whether a server is to be asked again and again from now on: not if it is already, and not for nobody.
    fn pursue(&self, place: &Place) -> bool {
        let mut all = self.lock();
        let row = all.rows.get_mut(place).filter(|row| !row.watches.is_empty());
        row.is_some_and(|row| !std::mem::replace(&mut row.is_pursued, true))
    }

    /// What it has to be asked for still, and in whose name; if there is nothing, it is not asked again.
    fn pursued(&self, place: &Place) -> Option<(Arc<Who>, Agreed)> {
        let mut all = self.lock();
        let row = all.rows.get_mut(place)?;
        row.is_pursued = !row.watches.is_empty() && !row.agreed.is_given();
        row.who.clone().filter(|_| row.is_pursued).map(|who| (who, row.agreed.clone()))
    }

    /// It is not asked again.
    fn let_go(&self, place: &Place) {
        if let Some(row) = self.lock().rows.get_mut(place) {
            row.is_pursued = false;
        }
    }

    /// What somebody wants to hear of and the server has not agreed to, with who asked for it; but for what it is being
    /// asked.
    fn unagreed(&self, server: &ServerKey) -> Vec<(Place, Arc<Who>, Agreed)> {
        let all = self.lock();
        let rows = all.rows.iter().filter(|((of, _), row)| of == server && row.is_unagreed());
        rows.filter_map(|(place, row)| Some((place.clone(), row.who.clone()?, row.agreed.clone())))
            .collect()
    }

    /// A listener is gone. Servers are told off at the next sweep.
    pub(crate) fn leave(&self, number: u64) {
        self.give_up(|_, watch| watch.is_heard_by(number));
    }

    /// A listener hears of these and nothing else.
    pub(crate) fn keep_only(&self, number: u64, uris: &[String]) {
        self.give_up(|_, watch| watch.is_heard_by(number) && !uris.contains(&watch.uri));
    }

    /// These are told nothing more. Servers are told off at the next sweep.
    fn give_up(&self, goes: impl Fn(&Place, &Watch) -> bool) {
        for (place, row) in &mut self.lock().rows {
            for watch in &mut row.watches {
                if goes(place, watch) {
                    watch.whose = Whose::Gone;
                }
            }
        }
    }

    /// One more, instead of any that `replaces` says: its number, and whether the server has agreed; `None` if the
    /// caller is subscribed to too much.
    fn add(
        &self,
        place: Place,
        who: &Arc<Who>,
        uri: String,
        whose: Whose,
        replaces: impl Fn(&Watch) -> bool,
    ) -> Option<(u64, Agreed)> {
        let mut share = self.ledger.begin(who);
        if !share.grow(BESIDE + TIMES * uri.len().max(place.1.len())) {
            return None;
        }
        let mut all = self.lock();
        all.last += 1;
        let number = all.last;
        let row = all.rows.entry(place).or_default();
        row.watches.retain(|other| !replaces(other));
        row.watches.push(Watch { number, uri, whose, _share: share });
        row.who = Some(who.clone());
        Some((number, row.agreed.clone()))
    }

    /// Takes these out. What the server is told off by, if nobody is left who wants to hear of what it tells.
    fn remove(&self, place: &Place, goes: impl Fn(&Watch) -> bool) -> Option<Agreed> {
        let mut all = self.lock();
        let agreed = all.without(place, goes)?.tell_off();
        all.forget_idle(place);
        agreed
    }

    /// Takes these out. If the server has agreed nevertheless, it is told off at the next sweep.
    fn withdraw(&self, place: &Place, goes: impl Fn(&Watch) -> bool) {
        let mut all = self.lock();
        all.without(place, goes);
        all.forget_idle(place);
    }

    /// Takes out what nobody wants any more, with who had asked for it.
    fn take_dead(&self) -> Vec<(Place, Arc<Who>, Agreed)> {
        let mut gone = Vec::new();
        self.lock().rows.retain(|place, row| {
            row.watches.retain(|watch| !watch.whose.is_dead());
            if !row.watches.is_empty() {
                return true;
            }
            if let (Some(agreed), Some(who)) = (row.tell_off(), row.who.clone()) {
                gone.push((place.clone(), who, agreed));
            }
            !row.is_idle()
        });
        gone
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// Takes these out; the row, if nobody is left in it.
    fn without(&mut self, place: &Place, goes: impl Fn(&Watch) -> bool) -> Option<&mut Row> {
        let row = self.rows.get_mut(place)?;
        row.watches.retain(|watch| !goes(watch));
        row.watches.is_empty().then_some(row)
    }

    fn forget_idle(&mut self, place: &Place) {
        if self.rows.get(place).is_some_and(Row::is_idle) {
            self.rows.remove(place);
        }
    }
}

impl Row {
    /// If the server has agreed, it has to be told off by this, in which whoever comes next waits for that: a
    /// server that is asked anew before it is told off would tell nobody.
    fn tell_off(&mut self) -> Option<Agreed> {
        self.agreed.is_given().then(|| {
            self.agreed = Agreed::default();
            self.agreed.clone()
        })
    }

    /// Whether somebody wants to hear of it, and the server has not agreed, nor is it being asked.
    fn is_unagreed(&self) -> bool {
        let is_asked = Arc::strong_count(&self.agreed) > 1;
        !self.watches.is_empty() && !self.agreed.is_given() && !is_asked
    }

    /// Whether nothing is to be found here: nobody wants to hear, and the server has not agreed, nor is it being
    /// asked or told off.
    fn is_idle(&self) -> bool {
        let is_asked = Arc::strong_count(&self.agreed) > 1;
        self.watches.is_empty() && !self.agreed.is_given() && !is_asked
    }
}

impl Watch {
    fn is_of(&self, session: &Arc<Session>) -> bool {
        matches!(&self.whose, Whose::Session(of, _) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(session)))
    }

    fn is_heard_by(&self, number: u64) -> bool {
        matches!(&self.whose, Whose::Stream(of) if of.number == number)
    }
}
