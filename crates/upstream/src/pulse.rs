//! A request as whoever waits for it sees it: its answer, signs of life, and the time that it may take, which
//! progress extends and which stands still while the server waits for us.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use switchboard_core::port::{CallError, Delivery};
use switchboard_wire::{JsonBuf, method};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// What a request ends with.
pub(crate) type Answer = Result<JsonBuf, CallError>;

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Without progress.
    pub(crate) quiet: Duration,
    /// In all.
    pub(crate) total: Duration,
}

impl Patience {
    pub(crate) const fn of(limit: Duration) -> Self {
        Self { quiet: limit, total: limit }
    }

    /// The same with a request of that name. A task's result comes when the task ends, and nothing has to
    /// come before that.
    pub(crate) fn with(self, name: &str) -> Self {
        match name {
            method::TASKS_RESULT => Self::of(self.total),
            _ => self,
        }
    }
}

/// Whether whoever waits has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tell {
    /// They are woken.
    Wake,
    /// They brought the answer themselves, and look next: to be woken would only make them look twice.
    Nobody,
}

/// One request under way. All of it is behind one lock, which is held for a look.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    state: Mutex<State>,
    end: Notify,
}

#[derive(Debug, Default)]
struct State {
    answer: Option<Answer>,
    /// There is an answer, or was.
    answered: bool,
    /// Nobody can answer any more.
    closed: bool,
    /// There was progress since somebody looked.
    beat: bool,
    /// How many answers of ours the server waits for.
    held: u32,
    ended: bool,
    waker: Option<Waker>,
}

/// What happened to a request.
enum Sign {
    Answer(Answer),
    Beat,
    Closed,
}

impl Pulse {
    /// There is progress.
    pub(crate) fn beat(&self) {
        self.change(|state| state.beat = true);
    }

    /// The answer; only the first counts.
    pub(crate) fn answer(&self, answer: Answer, tell: Tell) {
        let take = |state: &mut State| {
            if !std::mem::replace(&mut state.answered, true) {
                state.answer = Some(answer);
            }
        };
        match tell {
            Tell::Wake => self.change(take),
            Tell::Nobody => take(&mut self.lock()),
        }
    }

    /// Nobody will answer any more, if nobody has.
    pub(crate) fn close(&self) {
        let answered = self.lock().answered;
        if !answered {
            self.change(|state| state.closed = true);
        }
    }

    /// The server waits for an answer of ours, and the time does not run, until it is released. How
    /// many answers it waited for before; `None` if those are as many as it may.
    pub(crate) fn hold(&self, limit: u32) -> Option<u32> {
        let mut before = None;
        self.change(|state| {
            if state.held < limit {
                before = Some(state.held);
                state.held += 1;
                state.beat = true;
            }
        });
        before
    }

    /// The server has its answer; how many it still waits for.
    pub(crate) fn release(&self) -> u32 {
        let mut left = 0;
        self.change(|state| {
            state.held = state.held.saturating_sub(1);
            state.beat = true;
            left = state.held;
        });
        left
    }

    /// The request is answered or given up.
    pub(crate) fn finish(&self) {
        self.lock().ended = true;
        self.end.notify_waiters();
    }

    /// Returns when the request is answered or given up.
    pub(crate) async fn over(&self) {
        let end = self.end.notified();
        let ended = self.lock().ended;
        if !ended {
            end.await;
        }
    }

    /// Whether the server waits for an answer of ours.
    pub(crate) fn is_held(&self) -> bool {
        self.lock().held > 0
    }

    /// The answer, if it is there.
    fn take(&self) -> Option<Answer> {
        self.lock().answer.take()
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Sign> {
        let mut state = self.lock();
        if let Some(answer) = state.answer.take() {
            return Poll::Ready(Sign::Answer(answer));
        }
        if state.closed {
            return Poll::Ready(Sign::Closed);
        }
        if std::mem::take(&mut state.beat) {
            return Poll::Ready(Sign::Beat);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => state.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = self.lock();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the answer within the limits.
pub(crate) async fn wait(pulse: &Pulse, patience: Patience) -> Answer {
    let mut began = Instant::now();
    let mut end = began + patience.total;
    loop {
        let (quiet, held) = (began + patience.quiet, pulse.is_held());
        let mut late = pin!(sleep_until(quiet.min(end)));
        let sign = poll_fn(|context| {
            if let Poll::Ready(sign) = pulse.poll(context) {
                return Poll::Ready(Some(sign));
            }
            match held {
                true => Poll::Pending,
                false => late.as_mut().poll(context).map(|()| None),
            }
        });
        match sign.await {
            Some(Sign::Answer(answer)) => return answer,
            Some(Sign::Closed) => return Err(CallError::lost("it was closed", Delivery::Perhaps)),
            Some(Sign::Beat) => {
                let now = Instant::now();
                if held {
                    end += now.saturating_duration_since(began);
                }
                began = now;
            }
            None => {
                let after = if quiet < end { patience.quiet } else { patience.total };
                return Err(CallError::TimedOut { after });
            }
        }
    }
}

/// Carries out an exchange that brings the answer, unless it comes another way before or the time is over. By
/// reference: what is given to a future lies in it twice, as it came and as it is used.
pub(crate) async fn wait_while(
    pulse: &Pulse,
    patience: Patience,
    mut exchange: Pin<&mut impl Future<Output = Result<(), CallError>>>,
) -> Answer {
    let mut waiting = pin!(wait(pulse, patience));
    // The exchange first: where it has the answer, nothing else needs to be looked at.
    let ended = poll_fn(|context| match exchange.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(Err(ended)),
        Poll::Pending => waiting.as_mut().poll(context).map(Ok),
    });
    match ended.await {
        Ok(answer) => answer,
        Err(ended) => match pulse.take() {
            Some(answer) => answer,
            // It ended without one: whether it cannot come any more is the exchange's to say.
            None => match ended {
                Err(error) => Err(error),
                Ok(()) => waiting.await,
            },
        },
    }
}

#[cfg(test)]
mod tests;
