//! The endpoint: everything that its doors share, and its life. Never reads a message.

use std::sync::Arc;
use std::time::Duration;

use axum::Router as Axum;
use axum::http::Request;
use bytes::Bytes;
use switchboard_core::port::Who;
use switchboard_core::{Registry, Router, Surface};
use switchboard_model::{Clock, ServerKey};
use switchboard_wire::types::Capabilities;
use switchboard_wire::{Json, Limits as WireLimits};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Authenticate;
use crate::burden::Burden;
use crate::gate::Gate;
use crate::guests::Guests;
use crate::http::{self, Channels, Outgoing, Post};
use crate::listeners::Listeners;
use crate::options::{Limits, Options};
use crate::park::Parked;
use crate::reply::Scribe;
use crate::seal::Seal;
use crate::session::Sessions;
use crate::watches::Watches;

/// How long it may take to tell a call that it has ended.
pub(crate) const LAST_WORD: Duration = Duration::from_secs(1);
/// How often what is too old is looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// Serves MCP. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Endpoint(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) router: Router,
    pub(crate) auth: Arc<dyn Authenticate>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
    pub(crate) surface: Surface,
    pub(crate) gate: Gate,
    pub(crate) burden: Burden,
    pub(crate) scribe: Scribe,
    pub(crate) seal: Arc<Seal>,
    pub(crate) sessions: Sessions,
    pub(crate) parked: Parked,
    pub(crate) listeners: Listeners,
    pub(crate) guests: Guests,
    pub(crate) channels: Channels,
    pub(crate) watches: Watches,
    /// What an agent's door can do whatever its servers can: servers come later.
    pub(crate) always: Capabilities,
    pub(crate) tasks: TaskTracker,
    /// The calls under way that somebody waits for.
    pub(crate) calls: TaskTracker,
    /// The hub is to end: a pipe is read only as long as something of its is under way.
    pub(crate) closing: CancellationToken,
    pub(crate) stop: CancellationToken,
}

impl Endpoint {
    /// An endpoint that is ready to serve. Must be made inside a tokio runtime, where it watches
    /// what is on offer until [`Endpoint::shutdown`].
    pub fn new(options: Options) -> Self {
        let seal = Arc::new(Seal::new(options.key));
        let Options { registry, router, auth, clock, limits, surface, .. } = options;
        let inner = Arc::new(Inner {
            gate: Gate::new(&options.hosts, &options.origins, limits.headers),
            burden: Burden::new(&limits),
            scribe: Scribe::new(&options.identity, &limits),
            sessions: Sessions::new(seal.clone(), clock.clone(), limits, options.ended),
            parked: Parked::new(limits),
            listeners: Listeners::default(),
            guests: Guests::default(),
            channels: Channels::default(),
            watches: Watches::new(&limits),
            always: always(),
            tasks: TaskTracker::new(),
            calls: TaskTracker::new(),
            closing: CancellationToken::new(),
            stop: CancellationToken::new(),
            seal,
            registry,
            router,
            auth,
            clock,
            limits,
            surface,
        });
        inner.tasks.spawn(inner.clone().tell_changes());
        inner.tasks.spawn(inner.clone().sweep());
        Self(inner)
    }

    /// The routes: `/mcp`, `/mcp/agents/{id}`, `/mcp/servers/{name}`, and for clients of the older
    /// transport `/sse` below each, and alone.
    pub fn router(&self) -> Axum {
        http::routes(&self.0)
    }

    /// Answers a request without a router in between; `Err` gives back one whose path is not among the
    /// routes, or has to be decoded to tell.
    #[expect(
        clippy::result_large_err,
        reason = "a request that is given back is no error, and not rare"
    )]
    pub fn answer<B>(
        &self,
        request: Request<B>,
    ) -> Result<impl Future<Output = axum::http::Response<Outgoing>> + use<B>, Request<B>>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
    {
        match http::place(request.uri().path()) {
            Some(place) => Ok(self.0.clone().enter(place, request)),
            None => Err(request),
        }
    }

    /// Answers a POST that was read whole. What it asks for is begun before this returns, so that what it was
    /// read into is free again; `None` if its path is not among the routes, or is one for [`Self::answer`].
    pub fn post(
        &self,
        post: Post<'_>,
    ) -> Option<impl Future<Output = axum::http::Response<Outgoing>> + use<>> {
        self.0.post_whole(post)
    }

    /// A server says that a resource of its changed: whoever subscribed to it, and still sees it, is told. The
    /// URI is the server's own.
    pub fn resource_updated(&self, server: &ServerKey, uri: &str) {
        self.0.resource_updated(server, uri);
    }

    /// A server does not tell of a resource any more of which it had agreed to: whoever subscribes to it asks anew,
    /// and in the name of those who have, it is asked again later. The URI is the server's own.
    pub fn resource_untold(&self, server: &ServerKey, uri: &str) {
        self.0.resource_untold(server, uri);
    }

    /// A server is not declared any more. One that comes under its name knows nothing of what this one agreed to.
    pub fn server_removed(&self, server: &ServerKey) {
        self.0.watches.forget_agreed(server);
    }

    /// A server is connected: it is asked for what somebody wants to hear of, where it has not agreed to tell.
    pub fn server_connected(&self, server: &ServerKey) {
        self.0.ask_again(server);
    }

    /// The resources that somebody is subscribed to, by the servers' own URIs.
    pub fn watched(&self) -> Vec<(ServerKey, String)> {
        self.0.watches.all()
    }

    /// Ends what somebody has here, such as when their token was withdrawn: their sessions with
    /// whatever is under way in them, their streams, and their calls that wait.
    pub fn dismiss(&self, who: &Who) {
        let is_theirs = |other: &Who| other.is_same_caller(who);
        for session in self.0.sessions.all() {
            if is_theirs(&session.principal.who) {
                self.0.sessions.end(&session);
            }
        }
        self.0.listeners.end_where(is_theirs);
        self.0.parked.give_up(is_theirs);
    }

    /// Tokens may have been withdrawn, or may be somebody else's now: whatever was opened by one that
    /// is not good any more ends: sessions and streams, with the calls in them, and calls that wait.
    pub fn review(&self) {
        self.0.review();
    }

    /// Looks for what is too old at once, and not only when its time has come: for tests, whose clock is
    /// their own.
    #[doc(hidden)]
    pub fn sweep(&self) {
        self.0.sweep_once();
    }

    /// How many sessions are held.
    pub fn sessions(&self) -> usize {
        self.0.sessions.count()
    }

    /// Lets calls under way finish, for [`Limits::farewell`] at most: those that have not are answered with an error.
    /// Then ends every stream and session, and waits for that.
    pub async fn shutdown(&self) {
        // A second time there is nothing to wait for: what did not end the first time does not end by that.
        if !self.0.stop.is_cancelled() {
            self.say_farewell().await;
        }
        self.0.listeners.end_where(|_| true);
        for session in self.0.sessions.all() {
            session.end();
        }
        self.0.parked.give_up(|_| true);
        self.0.channels.clear();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Calls under way may finish, and are answered then in any case.
    async fn say_farewell(&self) {
        self.0.closing.cancel();
        self.0.calls.close();
        let _ = timeout(self.0.limits.farewell, self.0.calls.wait()).await;
        for session in self.0.sessions.all() {
            session.end_calls();
        }
        self.0.stop.cancel();
        // Before the streams end, on which some of them are told.
        let _ = timeout(LAST_WORD, self.0.calls.wait()).await;
    }
}

impl Inner {
    fn review(&self) {
        self.guests.turn_over();
        let welcome = self.auth.still();
        for session in self.sessions.all() {
            if !welcome(&session.principal) {
                self.sessions.end(&session);
            }
        }
        self.guests.see_off(&*welcome);
        self.parked.see_off(&*welcome);
    }

    async fn sweep(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                () = self.stop.cancelled() => return,
            }
            self.sweep_once();
        }
    }

    fn sweep_once(self: &Arc<Self>) {
        self.sessions.sweep();
        // Tokens expire by themselves.
        self.review();
        self.parked.sweep(self.clock.monotonic());
        self.unwatch_dead();
        self.router.results().sweep();
    }
}

fn always() -> Capabilities {
    let text = br#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}}"#;
    Capabilities::read(Json::parse(text, &WireLimits::DEFAULT).ok())
}
