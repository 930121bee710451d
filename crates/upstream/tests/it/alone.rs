//! What a server logs outside any call, and who hears of it: the agent for which it is declared, if nobody else called.

use std::sync::{Arc, Mutex, Weak};

use switchboard_core::port::{Behind, Who, Wish};
use switchboard_model::{AgentId, Desired, Scope, ServerKey, ServerName, UserId};
use switchboard_upstream::{BoxFuture, Caller, ClientPort, RpcError};
use switchboard_wire::types::notice::LogLevel;
use switchboard_wire::{Json, JsonBuf, method};

use crate::kit::{Hub, json, scripted, until};

/// A session, and what it was told.
struct Session(Who, Mutex<Vec<String>>);
/// One of its calls, or its client beyond them.
struct Call(Arc<Session>);

impl Wish for Session {
    fn level(&self) -> Option<LogLevel> {
        None
    }
}

impl ClientPort for Call {
    fn who(&self) -> Option<&Who> {
        Some(&self.0.0)
    }

    fn wish(&self) -> Option<Weak<dyn Wish>> {
        let session: Weak<Session> = Arc::downgrade(&self.0);
        Some(session)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::new(0, "no"))))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        let text = params.as_json().get("data").and_then(Json::string).unwrap().into_owned();
        self.0.1.lock().unwrap().push(format!("{told} {text}"));
    }

    fn beyond(self: Arc<Self>) -> Option<Arc<dyn ClientPort>> {
        Some(self)
    }
}

fn cto() -> Who {
    Who::agent(AgentId::parse("cto").unwrap(), None)
}

const ALONE: &str = "the agent alone";

/// Whoever else may call.
fn others() -> [(&'static str, Option<Who>); 6] {
    let ann = Some(UserId::parse("ann").unwrap());
    let administrator = Who { behind: Behind::Administrator, ..cto() };
    [
        ("another agent", Some(Who::agent(AgentId::parse("dev").unwrap(), None))),
        ("an administrator at its door", Some(administrator)),
        ("its owner", Some(Who { user: ann.clone(), ..Who::default() })),
        ("it with another owner", Some(Who { user: ann, ..cto() })),
        ("nobody that is known", Some(Who::default())),
        ("nobody that can be told", None),
    ]
}

#[tokio::test]
async fn is_told_to_the_only_agent_that_can_be_meant() {
    let name = ServerName::parse("s").unwrap();
    let own = ServerKey { scope: Scope::Agent(AgentId::parse("cto").unwrap()), name };
    let global = ServerKey::global(own.name.clone());
    let check = async |key: &ServerKey, whose: Who, first: Option<Option<Who>>, what: &str| {
        let expected = what == ALONE;
        let hub = Hub::start([]).await;
        let spec = Arc::new(scripted("s", "session", ""));
        let servers = [(key.clone(), spec)].into();
        hub.upstreams.connect_all(&Desired { servers, ..Desired::default() }).await;
        hub.upstreams.settle(std::time::Duration::from_secs(20)).await;
        let call = async |caller: &Caller, tool: &str, text: &str| {
            let arguments = format!(r#"{{"level":"info","data":"{text}"}}"#);
            let params = json(&format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#));
            let called =
                hub.upstreams.call(key, method::TOOLS_CALL, Some(params.as_json()), caller);
            called.await.unwrap();
        };
        let session = |who: Who| Arc::new(Session(who, Mutex::default()));
        let of = |session: &Arc<Session>| Caller::with_port(Arc::new(Call(session.clone())));
        let (one, other) = (session(whose.clone()), session(whose));
        // Both sessions have called, one of them twice.
        for session in [&one, &other, &one] {
            call(&of(session), "echo", "x").await;
        }
        let stranger = first.map(|who| who.map(session));
        match &stranger {
            Some(Some(session)) => call(&of(session), "echo", "x").await,
            Some(None) => call(&Caller::default(), "echo", "x").await,
            None => {}
        }
        call(&of(&one), "afterwards", "later").await;
        // It is in the server's log, whoever hears of it; nothing is under way when it comes.
        let logged =
            || hub.upstreams.log(key, 10).is_some_and(|log| format!("{log:?}").contains("later"));
        until(what, logged).await;
        // Whoever is told has been told when the next call is answered.
        call(&of(&one), "echo", "x").await;
        for session in [&one, &other] {
            let told = session.1.lock().unwrap().join(" ");
            let later = if expected { "notifications/message later" } else { "" };
            assert_eq!(told, later, "{what}");
        }
        for stranger in stranger.into_iter().flatten() {
            assert!(stranger.1.lock().unwrap().is_empty(), "{what}");
        }
        hub.upstreams.disconnect_all().await;
    };
    check(&own, cto(), None, ALONE).await;
    check(&global, cto(), None, "a server of all").await;
    for (what, who) in others() {
        check(&own, cto(), Some(who.clone()), what).await;
        if let Some(who) = who.filter(|who| who.user.is_none()) {
            check(&own, who, None, &format!("only {what}")).await;
        }
    }
}
