//! Whoever hears of changes: the streams of sessions, and `subscriptions/listen`. One task looks at
//! what changed, and tells each exactly what concerns what they see.

mod opening;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use switchboard_core::port::{BoxFuture, Who};
use switchboard_core::{Kind, View};
use switchboard_wire::types::Filter;
use switchboard_wire::{Era, IdBuf, Json, JsonBuf, code, meta, method, write};
use tokio_util::sync::CancellationToken;

pub(crate) use self::opening::Opening;
use crate::auth::Principal;
use crate::door::Door;
use crate::endpoint::Inner;
use crate::guests::Pass;
use crate::outbox::{Outbox, Weight};
use crate::reply::{self, Reply};
use crate::running::Asker;
use crate::serve::Work;
use crate::session::Session;
use crate::tasks;
use crate::watches::Hearing;

/// What is told of which lists.
const TOLD: [(&str, &[Kind]); 3] = [
    (method::TOOLS_CHANGED, &[Kind::Tools]),
    (method::RESOURCES_CHANGED, &[Kind::Resources, Kind::Templates]),
    (method::PROMPTS_CHANGED, &[Kind::Prompts]),
];

/// All that listen.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    last: u64,
    rows: HashMap<u64, Arc<Listener>>,
}

/// Somebody who listens.
pub(crate) struct Listener {
    pub(crate) out: Arc<Outbox>,
    door: Door,
    principal: Arc<Principal>,
    ear: Ear,
    /// Whether it was acknowledged: nothing may come before that.
    acknowledged: Arc<AtomicBool>,
}

/// What they hear, and how it is told.
enum Ear {
    /// Everything, as a session.
    Session(Arc<Session>),
    /// What they asked for, under the id of their request.
    Listen { id: IdBuf, filter: Filter, seen: [AtomicU64; 4] },
}

/// A listener's place; it leaves when this is dropped.
pub(crate) struct Listening {
    inner: Arc<Inner>,
    number: u64,
    pub(crate) out: Arc<Outbox>,
    /// Ends what is done for it beside.
    end: Option<CancellationToken>,
}

impl Listening {
    /// The stream ends, which its client is told, though what it lies on may go on for a moment.
    pub(crate) fn take_leave(&self) {
        let listener = self.inner.listeners.lock().rows.get(&self.number).cloned();
        if let Some(listener) = listener {
            listener.take_leave();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(end) = &self.end {
            end.cancel();
        }
        self.inner.listeners.lock().rows.remove(&self.number);
        self.inner.watches.leave(self.number);
    }
}

impl Listeners {
    fn add(&self, listener: Arc<Listener>) -> u64 {
        let mut rows = self.lock();
        rows.last += 1;
        let number = rows.last;
        rows.rows.insert(number, listener);
        number
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        self.lock().rows.values().cloned().collect()
    }

    /// How many streams of changes somebody has.
    fn count(&self, principal: &Principal) -> usize {
        let rows = self.lock();
        let theirs = rows.rows.values().filter(|row| row.principal.who == principal.who);
        theirs.filter(|row| matches!(row.ear, Ear::Listen { .. })).count()
    }

    /// The session that somebody calls in, if it hears of changes: also one that lives on a single connection,
    /// and is in no table.
    pub(crate) fn session(&self, who: &Who) -> Option<Arc<Session>> {
        let rows = self.lock();
        rows.rows.values().find_map(|row| match &row.ear {
            Ear::Session(session) if *session.who == *who => Some(session.clone()),
            Ear::Session(_) | Ear::Listen { .. } => None,
        })
    }

    /// These will not hear anything any more.
    pub(crate) fn end_where(&self, ends: impl Fn(&Who) -> bool) {
        for listener in self.all() {
            if ends(&listener.principal.who) {
                listener.end();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// What they see now.
    pub(crate) fn view(&self, inner: &Inner) -> Option<Arc<View>> {
        self.door.view(&inner.registry.load(), &self.principal, &inner.surface)
    }

    /// The same as one who hears of resources.
    fn hearing(&self, number: u64, id: &IdBuf) -> Hearing {
        Hearing {
            number,
            out: Arc::downgrade(&self.out),
            id: id.clone(),
            acknowledged: self.acknowledged.clone(),
            door: self.door.clone(),
            principal: self.principal.clone(),
        }
    }

    /// Tells what changed since they were last told.
    fn tell(&self, view: &View) {
        if !self.acknowledged.load(Ordering::SeqCst) {
            return;
        }
        for (told, kinds) in TOLD {
            let mut news = false;
            for kind in kinds {
                news |= match &self.ear {
                    Ear::Session(session) => session.saw(view, *kind),
                    Ear::Listen { seen, .. } => {
                        let digest = view.digest(*kind);
                        seen[*kind as usize].swap(digest, Ordering::Relaxed) != digest
                    }
                };
            }
            if news && self.ear.wants(told) {
                self.out.push(self.ear.notice(told), Weight::Notice);
            }
        }
    }

    /// The stream ends, in the words of its era.
    fn end(&self) {
        self.take_leave();
        self.out.end();
    }

    fn take_leave(&self) {
        if let Ear::Listen { id, .. } = &self.ear
            && self.acknowledged.load(Ordering::SeqCst)
        {
            let result = write::object(|result| {
                result.text("resultType", "complete");
                result.object(meta::META, |meta| meta.raw(meta::SUBSCRIPTION_ID, id.as_json()));
            });
            let mut message = Vec::new();
            write::result(&mut message, id.as_id(), result.as_json());
            self.out.push(message.into(), Weight::Needed);
        }
    }
}

impl Ear {
    fn wants(&self, told: &str) -> bool {
        match self {
            Self::Session(_) => true,
            Self::Listen { filter, .. } => match told {
                method::TOOLS_CHANGED => filter.tools,
                method::RESOURCES_CHANGED => filter.resources,
                method::PROMPTS_CHANGED => filter.prompts,
                _ => false,
            },
        }
    }

    fn notice(&self, told: &str) -> Bytes {
        let mut message = Vec::new();
        match self {
            Self::Session(_) => write::notification(&mut message, told, None),
            Self::Listen { id, .. } => {
                let params = stamped(id, |_| {});
                write::notification(&mut message, told, Some(params.as_json()));
            }
        }
        message.into()
    }
}

/// Params that say to which subscription they belong.
pub(crate) fn stamped(id: &IdBuf, write: impl FnOnce(&mut write::Object<'_>)) -> JsonBuf {
    write::object(|params| {
        write(params);
        params.object(meta::META, |meta| meta.raw(meta::SUBSCRIPTION_ID, id.as_json()));
    })
}

impl Inner {
    /// A session's own stream is open. What changed since the client last looked is told at once.
    pub(crate) fn listen_session(
        self: &Arc<Self>,
        session: &Arc<Session>,
        out: &Arc<Outbox>,
    ) -> Listening {
        let listener = Arc::new(Listener {
            out: out.clone(),
            door: session.door.clone(),
            principal: session.principal.clone(),
            ear: Ear::Session(session.clone()),
            acknowledged: Arc::new(AtomicBool::new(true)),
        });
        let number = self.listeners.add(listener.clone());
        // A look once it is among those who are told: nothing is missed in between.
        if let Some(view) = listener.view(self) {
            listener.tell(&view);
        }
        Listening { inner: self.clone(), number, out: out.clone(), end: None }
    }

    /// `subscriptions/listen`: acknowledged before anything else, as soon as every server that has
    /// to be asked has said whether it will tell.
    pub(crate) fn listen(
        self: &Arc<Self>,
        asker: Asker,
        Pass { principal, door, .. }: Pass,
        id: IdBuf,
        filter: Filter,
        out: Arc<Outbox>,
    ) -> Work {
        if self.listeners.count(&principal) >= self.limits.listens {
            let text = "too many streams of changes are open; close some of them first";
            let reply = Reply::refused(Some(id.as_id()), code::INTERNAL_ERROR, text, None);
            return Work::Reply(reply.with_status(429));
        }
        let needed = tasks::lacks(&asker.speech).filter(|_| !filter.task_ids.is_empty());
        if let Some(needed) = needed {
            return Work::Reply(reply::lacking(id.as_id(), &needed));
        }
        let wishes = self.wishes(&asker, &filter.task_ids);
        let most = self.limits.subscriptions;
        let found = filter.uris.iter().take(most).filter_map(|uri| {
            let place = self.router.resource(&asker.view, uri)?;
            self.can_tell(&place).then(|| (uri.clone(), place))
        });
        let found: Vec<_> = found.collect();
        let filter = Filter { uris: Vec::new(), task_ids: Vec::new(), ..filter };
        let seen = Kind::ALL.map(|kind| AtomicU64::new(asker.view.digest(kind)));
        let ear = Ear::Listen { id: id.clone(), filter, seen };
        let acknowledged = Arc::new(AtomicBool::new(false));
        let listener = Arc::new(Listener { out: out.clone(), door, principal, ear, acknowledged });
        let number = self.listeners.add(listener.clone());
        let hearing = listener.hearing(number, &id);
        let asks = found.into_iter().map(|(uri, place)| {
            let asked = self.watch_stream(&asker.who, &hearing, place, uri.clone());
            (uri, Box::pin(asked) as BoxFuture<'static, bool>)
        });
        let asks = asks.collect();
        let end = (!wishes.is_empty()).then(|| self.stop.child_token());
        let opening = Opening { number, listener, asks, end: end.clone() };
        match &end {
            None => opening.acknowledge_when(self),
            Some(end) => {
                let hears = self.clone().hear_tasks(opening, asker, id, wishes);
                self.tasks.spawn(end.clone().run_until_cancelled_owned(hears));
            }
        }
        Work::Listen(Listening { inner: self.clone(), number, out, end })
    }

    /// Tells everybody what changed for them, until the end.
    pub(crate) async fn tell_changes(self: Arc<Self>) {
        let mut changes = self.registry.changes();
        loop {
            let changed = tokio::select! {
                changed = changes.changed() => changed,
                () = self.stop.cancelled() => return,
            };
            if changed.is_err() {
                return;
            }
            // A storm of changes is told once.
            tokio::select! {
                () = tokio::time::sleep(self.limits.gather) => {}
                () = self.stop.cancelled() => return,
            }
            changes.mark_unchanged();
            let now = self.registry.load();
            self.give_up_lost(&now);
            for listener in self.listeners.all() {
                match listener.door.view(&now, &listener.principal, &self.surface) {
                    Some(view) => listener.tell(&view),
                    None => listener.end(),
                }
            }
        }
    }
}

/// The answer that ends nothing: an empty result.
pub(crate) fn empty(inner: &Inner, id: &IdBuf, era: Era, method: &str) -> Reply {
    inner.scribe.result(id.as_id(), era, method, Json::EMPTY)
}
