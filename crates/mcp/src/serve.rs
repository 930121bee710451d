//! What each method does: lists from prepared bytes, small things at once, everything else as a
//! call through the router. Never knows how the client is connected.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_core::port::BoxFuture;
use switchboard_core::{Kind, View};
use switchboard_wire::method::{Form, Sender};
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::types::{Capabilities, Filter};
use switchboard_wire::{
    Edit, Era, Id, Json, JsonBuf, ParamsBuf, Request, Revision, code, meta, method, output, peek,
    rewrite,
};

use crate::endpoint::Inner;
use crate::listeners::Listening;
use crate::outbox::Outbox;
use crate::park::Begun;
use crate::port::Speech;
use crate::reply::Reply;
use crate::running::{Asker, Running, Task};
use crate::session::Session;

/// An answer that takes a moment.
pub(crate) type Later = BoxFuture<'static, Option<Reply>>;

/// What a request leads to.
pub(crate) enum Work {
    /// An answer at once.
    Reply(Reply),
    /// A call.
    Call(Box<Task>),
    /// Something short that has to be waited for.
    Later(Later),
    /// A stream of changes.
    Listen(Listening),
}

impl Work {
    pub(crate) fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }

    /// The answer; `None` if the client wants none.
    pub(crate) async fn finish(self) -> Option<Reply> {
        match self {
            Self::Reply(reply) => Some(reply),
            Self::Call(task) => task.finish().await,
            Self::Later(later) => later.await,
            Self::Listen(_) => None,
        }
    }
}

impl Inner {
    /// Begins a request. What is said before its answer goes to `out`.
    pub(crate) fn serve(
        self: &Arc<Self>,
        asker: Asker,
        request: &Request<'_>,
        body: &Bytes,
        out: Arc<Outbox>,
    ) -> Work {
        let id = request.id;
        let Some(method) = known(&request.method, &asker.speech) else {
            return Work::Reply(unknown(id, asker.era()));
        };
        let params = request.params.unwrap_or(Json::EMPTY);
        match method {
            method::PING => Work::Reply(self.scribe.result(id, Era::Session, method, Json::EMPTY)),
            method::SET_LEVEL => Work::Reply(self.set_level(&asker.speech, id, params)),
            method::DISCOVER => Work::Reply(self.discover(&asker.view, id)),
            method::TOOLS_LIST => self.list(&asker, id, Kind::Tools, params),
            method::RESOURCES_LIST => self.list(&asker, id, Kind::Resources, params),
            method::TEMPLATES_LIST => self.list(&asker, id, Kind::Templates, params),
            method::PROMPTS_LIST => self.list(&asker, id, Kind::Prompts, params),
            method::LISTEN => match (Filter::read(params), asker.pass.clone()) {
                (Ok(filter), Some(pass)) => self.listen(asker, pass, id.to_buf(), filter, out),
                (Err(missing), _) => Work::Reply(Reply::refused(
                    Some(id),
                    code::INVALID_PARAMS,
                    &missing.to_string(),
                    None,
                )),
                (_, None) => Work::Reply(unknown(id, asker.era())),
            },
            method::SUBSCRIBE | method::UNSUBSCRIBE => {
                let params = JsonBuf::within(body, params);
                self.subscribe(&asker, id.to_buf(), method, &params, out)
            }
            _ => {
                let params = (request.outlined().within(body), body.len());
                self.call(asker, id, method, params, out)
            }
        }
    }

    /// The answer to `initialize`, and what the client knows from now on.
    pub(crate) fn greet(
        &self,
        session: &Session,
        view: &View,
        revision: Revision,
        id: Id<'_>,
    ) -> Reply {
        for kind in Kind::ALL {
            session.saw(view, kind);
        }
        let capabilities = self.capabilities(view);
        self.scribe.initialized(id, revision, capabilities.raw(), view.instructions())
    }

    fn discover(&self, view: &View, id: Id<'_>) -> Reply {
        let told = (view.instructions(), view.holds());
        self.scribe.discovered(id, self.capabilities(view).raw(), told)
    }

    /// What is here, and what may come: servers connect later, and clients ask only once.
    fn capabilities(&self, view: &View) -> Capabilities {
        output::united([view.capabilities(), &self.always])
    }

    fn set_level(&self, speech: &Speech, id: Id<'_>, params: Json<'_>) -> Reply {
        let level = params.get("level").and_then(Json::string);
        match (level.and_then(|level| LogLevel::parse(&level)), speech) {
            (Some(level), Speech::Session(session)) => {
                session.set_level(level);
                self.scribe.result(id, Era::Session, method::SET_LEVEL, Json::EMPTY)
            }
            _ => {
                let text = "`level` is one of debug, info, notice, warning, error, critical, alert, emergency";
                Reply::refused(Some(id), code::INVALID_PARAMS, text, None).with_status(200)
            }
        }
    }

    fn list(&self, asker: &Asker, id: Id<'_>, kind: Kind, params: Json<'_>) -> Work {
        let cursor = params.get("cursor").filter(|cursor| !cursor.is_null());
        let page = match cursor {
            None => asker.view.page_for(asker.era(), kind, None),
            // What is no text is no cursor of ours either.
            Some(_) => {
                let cursor = peek::cursor(params).unwrap_or_default();
                asker.view.page_for(asker.era(), kind, Some(&cursor))
            }
        };
        let reply = match page {
            Ok(page) => {
                let list = (list_key(kind), asker.view.holds());
                self.scribe.page(id, asker.era(), list, &page)
            }
            Err(bad) => {
                let text = bad.to_string();
                let reply = Reply::refused(Some(id), code::INVALID_PARAMS, &text, None);
                return Work::Reply(reply.with_status(200));
            }
        };
        if let Speech::Session(session) = &asker.speech {
            session.saw(&asker.view, kind);
        }
        Work::Reply(reply)
    }

    fn call(
        self: &Arc<Self>,
        asker: Asker,
        id: Id<'_>,
        method: &'static str,
        (params, bytes): (ParamsBuf, usize),
        out: Arc<Outbox>,
    ) -> Work {
        let start = |asker: &Asker, params| {
            let params = with_level(asker, params);
            Running::new(self, asker, method, params, out).of(bytes)
        };
        let task = match self.begin(asker, id.to_buf(), method, params, start) {
            Begun::Call(task) => task,
            Begun::Reply(reply) => return Work::Reply(reply),
        };
        if let (Speech::Session(session), Some(port)) = (&task.asker.speech, task.port())
            && !session.begin(id, port, self.limits.calls)
        {
            let text = "too many calls of this session are under way; wait for some of them";
            let reply = Reply::refused(Some(id), code::INTERNAL_ERROR, text, None);
            task.give_up();
            return Work::Reply(reply.with_status(200));
        }
        Work::Call(Box::new(task))
    }
}

/// The method, if clients of that revision may call it.
fn known(name: &str, speech: &Speech) -> Option<&'static str> {
    let revision = match speech {
        Speech::Session(session) => session.revision(),
        Speech::Stateless { .. } => Revision::LATEST_STATELESS,
    };
    let found = method::lookup(name).filter(|found| found.form == Form::Request)?;
    match found.sender(revision)? {
        // Whoever is in a session began it already.
        Sender::Client | Sender::Both if found.name != method::INITIALIZE => Some(found.name),
        _ => None,
    }
}

pub(crate) fn unknown(id: Id<'_>, era: Era) -> Reply {
    let reply = Reply::refused(Some(id), code::METHOD_NOT_FOUND, "Method not found", None);
    match era {
        Era::Session => reply.with_status(200),
        Era::Stateless => reply,
    }
}

/// A session's level of logging, for servers that are told with every request.
fn with_level(asker: &Asker, params: ParamsBuf) -> ParamsBuf {
    let Speech::Session(session) = &asker.speech else { return params };
    let Some(level) = session.level() else { return params };
    let inside = [Edit::text(meta::LOG_LEVEL, level.as_str())];
    let edits = [Edit::inside(meta::META, &inside)];
    rewrite::edited(params.buf().as_json(), &edits).map_or(params, ParamsBuf::from)
}

const fn list_key(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tools",
        Kind::Resources => "resources",
        Kind::Templates => "resourceTemplates",
        Kind::Prompts => "prompts",
    }
}
