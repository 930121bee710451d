//! Who wants log messages, and from which level on. Keeps nobody alive; bounded by who is there.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_core::port::{ClientPort, Wish};
use switchboard_wire::types::notice::LogLevel;
use tokio::time::Instant;

/// For how long a level is kept when whoever wanted it is gone: agents come and go, and clients of the
/// stateless era with every call.
const LINGER: Duration = Duration::from_secs(10);
/// So many are not worth a look.
const FEW: usize = 64;

/// All wishes.
#[derive(Default)]
pub(super) struct Wishes {
    here: HashMap<usize, (Whose, LogLevel)>,
    /// Until when the levels of those who are gone count.
    gone: HashMap<LogLevel, Instant>,
    /// How many there may be before it is looked who is gone.
    room: usize,
}

enum Whose {
    Call(Weak<dyn ClientPort>),
    Session(Weak<dyn Wish>),
}

impl Whose {
    /// What they want by now; `None` if they are gone.
    fn level(&self) -> Option<Option<LogLevel>> {
        match self {
            Self::Call(port) => port.upgrade().map(|port| port.level()),
            Self::Session(session) => session.upgrade().map(|session| session.level()),
        }
    }

    fn key(&self) -> usize {
        match self {
            Self::Call(port) => port.as_ptr().cast::<()>().addr(),
            Self::Session(session) => session.as_ptr().cast::<()>().addr(),
        }
    }
}

impl Wishes {
    /// Whoever calls through this port wants this level.
    pub(super) fn note(&mut self, level: LogLevel, port: &Arc<dyn ClientPort>, now: Instant) {
        let call = || Whose::Call(Arc::downgrade(port));
        let whose = port.wish().map_or_else(call, Whose::Session);
        // As long as it is pointed to, nobody else can be at that place.
        self.here.entry(whose.key()).or_insert((whose, level)).1 = level;
        if self.here.len() > self.room.max(FEW) {
            self.look(now);
            self.room = self.here.len() * 2;
        }
    }

    /// The lowest level that anybody wants.
    pub(super) fn lowest(&mut self, now: Instant) -> Option<LogLevel> {
        self.look(now);
        self.gone.retain(|_, until| *until > now);
        let here = self.here.values().map(|(_, level)| *level);
        here.chain(self.gone.keys().copied()).min()
    }

    fn look(&mut self, now: Instant) {
        let gone = &mut self.gone;
        self.here.retain(|_, (whose, level)| match whose.level() {
            Some(Some(wanted)) => {
                *level = wanted;
                true
            }
            // It wants none any more, which nobody has to wait for.
            Some(None) => false,
            None => {
                gone.insert(*level, now + LINGER);
                false
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use switchboard_core::port::{BoxFuture, RpcError};
    use switchboard_wire::JsonBuf;

    use super::*;

    struct Session(std::sync::Mutex<Option<LogLevel>>);

    impl Wish for Session {
        fn level(&self) -> Option<LogLevel> {
            *self.0.lock().unwrap()
        }
    }

    /// A call, perhaps of a session.
    struct Call(Option<LogLevel>, Option<Arc<Session>>);

    impl ClientPort for Call {
        fn level(&self) -> Option<LogLevel> {
            self.0
        }

        fn wish(&self) -> Option<Weak<dyn Wish>> {
            let session: Weak<Session> = Arc::downgrade(self.1.as_ref()?);
            Some(session)
        }

        fn request<'a>(
            &'a self,
            _: &'a str,
            _: Option<JsonBuf>,
        ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
            Box::pin(std::future::pending())
        }
    }

    fn note(wishes: &mut Wishes, level: LogLevel, session: Option<&Arc<Session>>, now: Instant) {
        let port: Arc<dyn ClientPort> = Arc::new(Call(Some(level), session.cloned()));
        wishes.note(level, &port, now);
    }

    #[tokio::test]
    async fn a_session_counts_while_it_is_there_and_a_moment_longer() {
        let session = |level| Arc::new(Session(std::sync::Mutex::new(Some(level))));
        let (first, second) = (session(LogLevel::Debug), session(LogLevel::Warning));
        let (mut wishes, now) = (Wishes::default(), Instant::now());
        let later = now + LINGER;
        for session in [&second, &first, &first] {
            note(&mut wishes, session.level().unwrap(), Some(session), now);
        }
        assert_eq!(wishes.lowest(later), Some(LogLevel::Debug), "however long ago it called");
        drop(first);
        assert_eq!(wishes.lowest(later), Some(LogLevel::Debug));
        assert_eq!(wishes.lowest(later + LINGER), Some(LogLevel::Warning));
        *second.0.lock().unwrap() = Some(LogLevel::Error);
        assert_eq!(wishes.lowest(later + LINGER), Some(LogLevel::Error));
        drop(second);
        assert_eq!(wishes.lowest(later + LINGER), Some(LogLevel::Error));
        assert_eq!(wishes.lowest(later + LINGER * 2), None);
    }

    #[tokio::test]
    async fn calls_leave_nothing_behind_but_their_level() {
        let (mut wishes, now) = (Wishes::default(), Instant::now());
        for _ in 0..10_000 {
            note(&mut wishes, LogLevel::Info, None, now);
        }
        assert!(wishes.here.len() <= FEW + 1, "{}", wishes.here.len());
        assert_eq!(wishes.lowest(now), Some(LogLevel::Info));
        assert_eq!(wishes.lowest(now + LINGER), None);
    }
}
