//! A call under way: begun, watched, answered, parked, or left to finish without its client. Never
//! knows how the client is connected.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use switchboard_core::port::{CallError, Caller, Inputs, LONGEST_TRACE, Who};
use switchboard_core::{Request, View};
use switchboard_model::CallOrigin;
use switchboard_wire::{Era, IdBuf, Json, JsonBuf, ParamsBuf, peek};
use tokio::time::{Sleep, sleep};
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::endpoint::Inner;
use crate::guests::Pass;
use crate::outbox::Outbox;
use crate::park;
use crate::port::{Asking, Event, Over, Port, Speech};
use crate::reply::{self, Reply};

/// Who asks, what they see, and how they are spoken to.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) who: Arc<Who>,
    pub(crate) view: Arc<View>,
    pub(crate) speech: Speech,
    /// By whose token it came, in the stateless era: a call that waits for inputs ends with it.
    pub(crate) pass: Option<Pass>,
    /// The trace that the request's header names, for a call whose params name none.
    pub(crate) trace: Option<Arc<str>>,
}

impl Asker {
    pub(crate) fn era(&self) -> Era {
        self.speech.era()
    }
}

/// The future of a call, and the client behind it.
pub(crate) struct Running {
    future: Pin<Box<dyn Future<Output = Result<JsonBuf, CallError>> + Send>>,
    pub(crate) port: Arc<Port>,
    /// How long questions are gathered, and since one came, the time that is left.
    gather: Duration,
    gathering: Option<Pin<Box<Sleep>>>,
    /// Bytes of the message that it began with, which it holds.
    pub(crate) bytes: usize,
}

/// How a call went on.
pub(crate) enum Outcome {
    /// It ended.
    Answer(Result<JsonBuf, CallError>),
    /// The client has to come back with something.
    Asked,
    /// It goes on no more.
    Over(Over),
}

impl Running {
    /// Begins a call. Nothing happens before it is polled.
    pub(crate) fn new(
        inner: &Inner,
        asker: &Asker,
        method: &'static str,
        params: ParamsBuf,
        out: Arc<Outbox>,
    ) -> Self {
        let asking = match asker.era() {
            // The era has no way to ask while anything else is answered.
            Era::Stateless if !park::asks_back(method) => Asking::Refused,
            Era::Stateless | Era::Session => Asking::Allowed,
        };
        let speech = asker.speech.clone();
        let given = match (asker.era(), asking) {
            (Era::Stateless, Asking::Allowed) => params.as_params().input_responses(),
            _ => None,
        };
        let given = given.map(|given| params.buf().part(given));
        let port = Port::new(out, speech, asker.who.clone(), asking, inner.limits.input);
        let port = Arc::new(port.given(given));
        let inputs = match asker.era() {
            Era::Session => Inputs::Ask,
            Era::Stateless => Inputs::PassOn,
        };
        let revision = Some(port.revision());
        let caller = Caller { port: Some(port.clone()), inputs, revision };
        let (router, view, who) = (inner.router.clone(), asker.view.clone(), asker.who.clone());
        let around = asker.trace.clone();
        let future = Box::pin(async move {
            let params = params.as_params();
            let trace = params.trace().filter(|trace| trace.len() <= LONGEST_TRACE);
            let request = Request {
                view: &view,
                who: &who,
                origin: CallOrigin::Mcp,
                method,
                params,
                trace: trace.as_deref().or(around.as_deref()),
            };
            router.call(&request, &caller).await
        });
        Self { future, port, gather: inner.limits.gather, gathering: None, bytes: 0 }
    }

    /// The same, which began with a message of so many bytes.
    pub(crate) fn of(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        // Listening first, so that nothing is missed in between.
        if let Poll::Ready(Event::Over(over)) = self.port.poll_event(context) {
            return Poll::Ready(Outcome::Over(over));
        }
        if let Poll::Ready(answer) = self.future.as_mut().poll(context) {
            return Poll::Ready(Outcome::Answer(answer));
        }
        match self.port.poll_event(context) {
            Poll::Ready(Event::Asked) => self.poll_gathered(context),
            Poll::Ready(Event::Over(over)) => Poll::Ready(Outcome::Over(over)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// A server that asks several things at once sends them one by one; its client is to come back
    /// once, with all of them.
    fn poll_gathered(&mut self, context: &mut Context<'_>) -> Poll<Outcome> {
        let gather = self.gather;
        let gathering = self.gathering.get_or_insert_with(|| Box::pin(sleep(gather)));
        if gathering.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.gathering = None;
        if self.port.asks() {
            return Poll::Ready(Outcome::Asked);
        }
        // Only refusals, which the server has heard now; what comes next wakes us.
        if self.port.poll_event(context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// A request that is answered by a call.
pub(crate) struct Task {
    pub(crate) inner: Arc<Inner>,
    pub(crate) asker: Asker,
    pub(crate) id: IdBuf,
    pub(crate) method: &'static str,
    pub(crate) params: JsonBuf,
    running: Option<Running>,
    /// The end of the hub waits for it.
    _under_way: TaskTrackerToken,
}

impl Task {
    pub(crate) fn new(
        inner: Arc<Inner>,
        asker: Asker,
        id: IdBuf,
        method: &'static str,
        params: JsonBuf,
        running: Running,
    ) -> Self {
        let under_way = inner.calls.token();
        Self { inner, asker, id, method, params, running: Some(running), _under_way: under_way }
    }

    pub(crate) fn out(&self) -> Option<&Arc<Outbox>> {
        self.running.as_ref().map(|running| &running.port.out)
    }

    pub(crate) fn port(&self) -> Option<&Arc<Port>> {
        self.running.as_ref().map(|running| &running.port)
    }

    /// It goes on no more, and is answered so.
    pub(crate) fn end(&self) {
        if let Some(port) = self.port() {
            port.finish(Over::Ended);
        }
    }

    /// It is not made after all.
    pub(crate) fn give_up(mut self) {
        self.running = None;
    }

    /// The answer; `None` if the client wants none.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Reply>> {
        let Some(running) = &mut self.running else { return Poll::Ready(None) };
        let outcome = match running.poll(context) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => return Poll::Pending,
        };
        let Some(running) = self.running.take() else { return Poll::Ready(None) };
        self.release(&running.port);
        Poll::Ready(self.settle(running, outcome))
    }

    /// The same, to be awaited.
    pub(crate) async fn finish(mut self) -> Option<Reply> {
        poll_fn(|context| self.poll(context)).await
    }

    fn settle(&self, running: Running, outcome: Outcome) -> Option<Reply> {
        let (id, era) = (self.id.as_id(), self.asker.era());
        let scribe = &self.inner.scribe;
        match outcome {
            Outcome::Over(Over::Cancelled) => None,
            Outcome::Over(Over::Ended) => Some(scribe.ended(id, era, self.method)),
            Outcome::Asked => Some(self.inner.park(self, running)),
            Outcome::Answer(Err(error)) => {
                if let Some(reply) = self.inner.send_to_pages(self, &error) {
                    return Some(reply);
                }
                let missing = running.port.missing();
                let leads = || self.inner.leads(&self.asker, self.method, self.params.as_json());
                let server = if reply::is_of_server(&error) { leads() } else { None };
                let failed = (&error, server.as_ref());
                Some(scribe.failure(id, era, self.method, failed, missing.as_ref()))
            }
            Outcome::Answer(Ok(result)) if era == Era::Stateless => {
                Some(self.towards_stateless(&running, &result))
            }
            Outcome::Answer(Ok(result)) => {
                Some(scribe.result(id, era, self.method, result.as_json()))
            }
        }
    }

    fn towards_stateless(&self, running: &Running, result: &JsonBuf) -> Reply {
        let json = result.as_json();
        if let Some(missing) = running.port.missing().filter(|_| peek::is_error(json)) {
            return reply::lacking(self.id.as_id(), &missing);
        }
        if peek::wants_input(json) {
            return self.inner.pass_on(self, json);
        }
        self.inner.scribe.result(self.id.as_id(), Era::Stateless, self.method, json)
    }

    /// The session does not have this call any more.
    fn release(&self, port: &Arc<Port>) {
        if let Speech::Session(session) = &self.asker.speech {
            session.done(port);
        }
    }
}

impl Drop for Task {
    /// In the session era a client that is gone has not cancelled anything: the call goes on, and whom
    /// it asks is whoever reads the session's own stream. In the stateless era that is exactly how it
    /// cancels.
    fn drop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let Speech::Session(session) = &self.asker.speech else { return };
        if self.inner.stop.is_cancelled() {
            return session.done(&running.port);
        }
        running.port.detach();
        let (session, stop) = (session.clone(), self.inner.stop.clone());
        // The call may go on with params that were made of it: the message counts for as long as they are there.
        let message = self.params.clone();
        self.inner.tasks.spawn(async move {
            tokio::select! {
                _ = poll_fn(|context| running.poll(context)) => {}
                () = stop.cancelled() => {}
            }
            session.done(&running.port);
            drop((running, message));
        });
    }
}

/// The members of params that matter for a repeated request.
pub(crate) fn progress_token(params: Json<'_>) -> Option<JsonBuf> {
    peek::progress_token(params).map(JsonBuf::from)
}
