//! Tasks that somebody wants to hear of: the servers that have them are listened to, and what they
//! tell goes on under the caller's names. A caller hears only of tasks that are its own. Never asks
//! how a task stands.

mod status;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use switchboard_core::port::{BoxFuture, CallError, Caller, ClientPort, RpcError, Who};
use switchboard_model::ServerKey;
use switchboard_wire::types::{Capabilities, Filter, Task};
use switchboard_wire::{Edit, IdBuf, Json, JsonBuf, code, meta, method, rewrite, write};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use crate::endpoint::Inner;
use crate::listeners::Opening;
use crate::outbox::{Outbox, Weight};
use crate::port::Speech;
use crate::running::Asker;

/// How long servers may take to say what they will tell; a client waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two streams of one server: at first, and at most.
const AGAIN: Duration = Duration::from_millis(200);
const AGAIN_LATER: Duration = Duration::from_secs(30);
/// What may wait to be passed on; a server that tells more at once is not heard in all of it.
const WAITING: usize = 256;

/// Tasks of one server that a caller wants to hear of.
pub(crate) struct Wish {
    server: ServerKey,
    /// The server's own ids, and those that the caller knows.
    tasks: Vec<(String, String)>,
}

/// The stream that they are told on.
struct Stream {
    who: Arc<Who>,
    able: Capabilities,
    out: Arc<Outbox>,
    id: IdBuf,
}

/// What comes from a server, by its place among the wishes.
enum News {
    /// It will tell of these.
    Honoured(Vec<String>),
    /// A task of its stands so.
    Task(JsonBuf),
    /// It will tell nothing.
    Over,
}

/// Whether a client may ask to hear of tasks; if not, what it would have to declare.
pub(crate) fn lacks(speech: &Speech) -> Option<JsonBuf> {
    let able = match speech {
        Speech::Stateless { capabilities, .. } => capabilities.extension(meta::TASKS_EXTENSION),
        Speech::Session(_) => None,
    };
    let needed = || {
        write::object(|all| {
            all.object("extensions", |all| all.raw(meta::TASKS_EXTENSION, Json::EMPTY));
        })
    };
    able.is_none().then(needed)
}

impl Inner {
    /// The caller's own tasks among these, by server.
    pub(crate) fn wishes(&self, asker: &Asker, ids: &[String]) -> Vec<Wish> {
        let mut wishes: Vec<Wish> = Vec::new();
        for id in ids.iter().take(self.limits.subscriptions) {
            let Some((server, own)) = self.router.hears(&asker.view, &asker.who, id) else {
                continue;
            };
            let task = (own, id.clone());
            match wishes.iter_mut().find(|wish| wish.server == server) {
                Some(wish) if wish.tasks.contains(&task) => {}
                Some(wish) => wish.tasks.push(task),
                None => wishes.push(Wish { server, tasks: vec![task] }),
            }
        }
        wishes
    }

    /// Listens to the servers, acknowledges of which tasks they will tell, and passes on what they
    /// tell.
    pub(crate) async fn hear_tasks(
        self: Arc<Self>,
        mut opening: Opening,
        asker: Asker,
        id: IdBuf,
        wishes: Vec<Wish>,
    ) {
        let Speech::Stateless { capabilities: able, .. } = asker.speech else { return };
        let listener = opening.listener.clone();
        let stream = Stream { who: asker.who, able, out: listener.out.clone(), id };
        let (sender, mut news) = mpsc::channel(WAITING);
        let end = opening.end.clone().unwrap_or_else(|| self.stop.child_token());
        let ends: Vec<_> = wishes.iter().map(|_| end.child_token()).collect();
        for (nth, (wish, end)) in wishes.iter().zip(&ends).enumerate() {
            let ear = Ear::new(&stream, wish, nth, sender.clone());
            let hearing = self.clone().hear(wish.server.clone(), Arc::new(ear));
            self.tasks.spawn(end.clone().run_until_cancelled_owned(hearing));
        }
        drop(sender);
        let ((honoured, early), uris) =
            tokio::join!(gather(&wishes, &mut news), opening.agreed(&self));
        for (nth, end) in ends.iter().enumerate() {
            if !honoured.iter().any(|(of, _)| *of == nth) {
                end.cancel();
            }
        }
        opening.acknowledge(&self, uris, honoured.iter().map(|(_, id)| id.clone()).collect());
        let pass_on = |nth: usize, params: &JsonBuf| {
            let id = Task::read(params.as_json()).ok()?.id.into_owned();
            let (_, sealed) = wishes[nth].tasks.iter().find(|(own, _)| *own == id)?;
            honoured.iter().find(|(_, id)| id == sealed)?;
            let view = listener.view(&self)?;
            let told = self.router.heard(&view, &stream.who, sealed, params)?;
            stream.tell(&told);
            Some(())
        };
        for (nth, params) in &early {
            pass_on(*nth, params);
        }
        while let Some((nth, news)) = news.recv().await {
            if let News::Task(params) = news {
                pass_on(nth, &params);
            }
        }
    }

    /// Listens to one server, again and again, until none of its tasks can change any more.
    async fn hear(self: Arc<Self>, server: ServerKey, ear: Arc<Ear>) {
        let caller = Caller { port: Some(ear.clone()), ..Caller::default() };
        let mut pause = AGAIN;
        loop {
            let task_ids = ear.left();
            if task_ids.is_empty() {
                return;
            }
            let filter = Filter { task_ids, ..Filter::default() }.to_json();
            let params = write::object(|params| params.raw("notifications", filter.as_json()));
            let began = Instant::now();
            let ended = self.router.listen(&server, params.as_json(), &caller).await;
            if let Err(error) = &ended {
                tracing::debug!(%server, %error, "its tasks are not listened to");
            }
            if matches!(
                ended,
                // It refuses, or is not there.
                Err(CallError::Rpc(_)
                    | CallError::Unknown
                    | CallError::Malformed(_)
                    | CallError::Http { status: ..500, .. })
            ) {
                return ear.send(News::Over);
            }
            if began.elapsed() > AGAIN_LATER {
                pause = AGAIN;
            }
            sleep(pause).await;
            pause = (pause * 2).min(AGAIN_LATER);
        }
    }
}

/// What the servers will tell of, and what they told before all of them had said so.
async fn gather(
    wishes: &[Wish],
    news: &mut mpsc::Receiver<(usize, News)>,
) -> (Vec<(usize, String)>, VecDeque<(usize, JsonBuf)>) {
    let limit = Instant::now() + PATIENCE;
    let mut waited: Vec<usize> = (0..wishes.len()).collect();
    let (mut honoured, mut early) = (Vec::new(), VecDeque::new());
    while !waited.is_empty() {
        let Ok(Some((nth, news))) = timeout_at(limit, news.recv()).await else { break };
        match news {
            News::Task(params) => {
                // The newest are kept: each says all.
                if early.len() == WAITING {
                    early.pop_front();
                }
                early.push_back((nth, params));
            }
            News::Over => waited.retain(|other| *other != nth),
            News::Honoured(ids) if waited.contains(&nth) => {
                waited.retain(|other| *other != nth);
                let theirs = wishes[nth].tasks.iter().filter(|(own, _)| ids.contains(own));
                honoured.extend(theirs.map(|(_, sealed)| (nth, sealed.clone())));
            }
            News::Honoured(_) => {}
        }
    }
    (honoured, early)
}

impl Stream {
    /// Tells how a task stands, under the id of the client's own request.
    fn tell(&self, task: &JsonBuf) {
        let stamp = [Edit::set(meta::SUBSCRIPTION_ID, self.id.as_json())];
        let stamped = rewrite::edited(task.as_json(), &[Edit::inside(meta::META, &stamp)]);
        let Ok(params) = stamped else { return };
        let mut message = Vec::new();
        write::notification(&mut message, method::TASK_CHANGED, Some(params.as_json()));
        self.out.push(message.into(), Weight::Notice);
    }
}

/// The client behind the stream, as one server meets it. It can be asked nothing.
struct Ear {
    who: Arc<Who>,
    able: Capabilities,
    nth: usize,
    /// The server's own ids of tasks that can still change.
    left: Mutex<Vec<String>>,
    sender: mpsc::Sender<(usize, News)>,
}

impl Ear {
    fn new(stream: &Stream, wish: &Wish, nth: usize, sender: mpsc::Sender<(usize, News)>) -> Self {
        let left = wish.tasks.iter().map(|(own, _)| own.clone()).collect();
        let (who, able) = (stream.who.clone(), stream.able.clone());
        Self { who, able, nth, left: Mutex::new(left), sender }
    }

    fn left(&self) -> Vec<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, news: News) {
        // What does not fit is lost: each says all, and whoever wants to know can ask.
        let _ = self.sender.try_send((self.nth, news));
    }
}

impl ClientPort for Ear {
    fn capabilities(&self) -> Json<'_> {
        self.able.raw()
    }

    fn who(&self) -> Option<&Who> {
        Some(&self.who)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let refusal = RpcError::new(code::METHOD_NOT_FOUND, "Method not found");
        Box::pin(std::future::ready(Err(refusal)))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        match told {
            method::ACKNOWLEDGED => {
                let filter = Filter::read(params.as_json()).unwrap_or_default();
                self.send(News::Honoured(filter.task_ids));
            }
            method::TASK_CHANGED => {
                let task = Task::read(params.as_json());
                let is_final = |task: &Task<'_>| task.status.is_some_and(|s| s.is_final());
                if let Some(task) = task.ok().filter(is_final) {
                    let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                    left.retain(|id| *id != *task.id);
                }
                self.send(News::Task(params));
            }
            _ => {}
        }
    }
}
