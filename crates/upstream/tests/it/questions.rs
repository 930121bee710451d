//! Questions of servers: whose they are, how many, and that nobody else waits for their answers.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard_core::port::Who;
use switchboard_model::AgentId;
use switchboard_testkit::script::Script;
use switchboard_upstream::{BoxFuture, CallError, Caller, ClientPort, Delivery, RpcError};
use switchboard_wire::{Json, JsonBuf, method};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::kit::{Hub, Person, command, gone, in_flight, json, key, scripted, text, until};

/// An agent that never answers.
struct Silent(Who);

fn silent(agent: &str) -> Caller {
    Caller::with_port(Arc::new(Silent(Who::agent(AgentId::parse(agent).unwrap(), None))))
}

impl ClientPort for Silent {
    fn capabilities(&self) -> Json<'_> {
        Json::EMPTY
    }

    fn who(&self) -> Option<&Who> {
        Some(&self.0)
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn one_agents_open_questions_do_not_block_a_server() {
    for era in ["session", "stateless"] {
        let mut spec = scripted("s", era, "");
        spec.limits.max_in_flight = 2;
        spec.timing.call = Duration::from_secs(30);
        let hub = Arc::new(Hub::start([spec]).await);
        let tasks = TaskTracker::new();
        let asking: Vec<_> = (0..6)
            .map(|_| {
                let hub = hub.clone();
                tasks.spawn(async move { hub.raw("s", "ask", "{}", &silent("cto")).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(500)).await;
        let others = hub.tool("s", "echo", r#"{"n":1}"#).await;
        assert_eq!(others.as_deref(), Ok(r#"{"n":1}"#), "{era}");
        asking.iter().for_each(|call| call.abort());
        for call in asking {
            assert!(call.await.unwrap_err().is_cancelled());
        }
        // Every turn is there again, and not one more.
        let connection = hub.upstreams.get(&key("s")).unwrap();
        let both = tokio::join!(
            hub.tool("s", "sleep", r#"{"ms":3000}"#),
            hub.tool("s", "sleep", r#"{"ms":3000}"#),
            in_flight(&connection, 2)
        );
        assert_eq!((both.0.is_ok(), both.1.is_ok()), (true, true), "{era}");
        Arc::into_inner(hub).unwrap().stop().await;
    }
}

#[tokio::test]
async fn nobody_is_said_to_have_cancelled_what_nobody_was_asked() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    // Whose question it is cannot be told while another agent's call is under way.
    let (other, cto) = (silent("dev"), Arc::new(Person::default()));
    let asked = beside(&hub, &other, &Caller::with_port(cto.clone())).await;
    assert_eq!(asked, "error -32603");
    assert!(cto.told.lock().unwrap().is_empty());
    // Nor is there a list of roots where nobody has any.
    assert_eq!(hub.tool("s", "roots", "{}").await.unwrap(), "error -32603");
    hub.stop().await;
}

/// A call over REST has no client, and is somebody's all the same.
#[tokio::test]
async fn nobody_is_asked_instead_of_one_who_cannot_be() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    let cto = Arc::new(Person::default());
    let (theirs, nobodys) = (Caller::with_port(cto.clone()), Caller::default());
    assert_eq!(beside(&hub, &theirs, &nobodys).await, "error -32603");
    assert_eq!(beside(&hub, &nobodys, &theirs).await, "error -32603");
    assert!(cto.told.lock().unwrap().is_empty());
    hub.stop().await;
}

/// What a server is told that asks in `asking`'s call while it works on `other`'s.
async fn beside(hub: &Hub, other: &Caller, asking: &Caller) -> String {
    let connection = hub.upstreams.get(&key("s")).unwrap();
    let asked = async {
        in_flight(&connection, 1).await;
        hub.raw("s", "ask", "{}", asking).await
    };
    tokio::select! {
        over = hub.raw("s", "sleep", r#"{"ms":60000}"#, other) => panic!("{over:?}"),
        asked = asked => text(&asked.unwrap()),
    }
}

/// A person during whose answer the server dies.
struct Late {
    pid: u32,
    asked: AtomicU32,
}

impl ClientPort for Late {
    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let killed = Command::new("kill").args(["-9", &self.pid.to_string()]).status();
            assert!(killed.unwrap().success());
            gone(self.pid).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok(json(r#"{"action":"accept"}"#))
        })
    }
}

/// The server worked on it before it asked: only the answer never reached it.
#[tokio::test]
async fn a_call_whose_server_dies_while_it_asks_is_not_made_twice() {
    let hub = Hub::start([scripted("s", "stateless", "")]).await;
    let late = Arc::new(Late { pid: hub.pid("s").unwrap(), asked: AtomicU32::new(0) });
    let lost = hub.raw("s", "ask", "{}", &Caller::with_port(late.clone())).await.unwrap_err();
    let perhaps = matches!(lost, CallError::Lost { delivery: Delivery::Perhaps, .. });
    assert!(perhaps, "{lost:?}");
    assert_eq!(late.asked.load(Ordering::SeqCst), 1);
    hub.stop().await;
}

#[tokio::test]
async fn a_flood_of_questions_is_refused() {
    let hub = Hub::start([scripted("s", "session", "")]).await;
    let caller = silent("cto");
    let flood = hub.raw("s", "pester", r#"{"count":1000}"#, &caller);
    let refused = timeout(Duration::from_secs(120), flood).await.unwrap().unwrap();
    assert_eq!(text(&refused), "968 refused");
    // What was left open ended with its call.
    for _ in 0..3 {
        let refused = hub.raw("s", "pester", r#"{"count":33}"#, &caller).await.unwrap();
        assert_eq!(text(&refused), "1 refused");
    }
    hub.stop().await;
}

/// An agent that is asked, and does not answer before the question is taken back.
#[derive(Default)]
struct Slow {
    asked: AtomicU32,
    spared: AtomicU32,
}

struct Spared<'s>(&'s AtomicU32);

impl Drop for Spared<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl ClientPort for Slow {
    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let _spared = Spared(&self.spared);
            std::future::pending().await
        })
    }
}

/// Both sides number what they ask for themselves, so a question may have the number of a call.
#[tokio::test]
async fn a_question_that_is_taken_back_is_not_a_call_that_is() {
    let hub = Hub::start([command("s", &Script::new().only("2025-11-25"))]).await;
    for numbered in [true, false] {
        let slow = Arc::new(Slow::default());
        let arguments = format!(r#"{{"numbered":{numbered},"patience_ms":200}}"#);
        let caller = Caller::with_port(slow.clone());
        let result = hub.raw("s", "elicit", &arguments, &caller).await;
        assert_eq!(result.map(|result| text(&result)), Ok("nobody answered".to_owned()));
        let counts = [&slow.asked, &slow.spared].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [1, 1], "the client is not asked any more");
    }
    // Nor does the call that asked go on waiting, whose time stood still meanwhile.
    assert_eq!(hub.tool("s", "echo", r#"{"text":"x"}"#).await.as_deref(), Ok("x"));
    hub.stop().await;
}

/// In the stateless era it is what the hub listens to that a server ends so.
#[tokio::test]
async fn a_subscription_may_be_ended_like_a_request_that_is_taken_back() {
    let script = Script::new().only("2026-07-28").lasting();
    let hub = Hub::start([command("s", &script)]).await;
    let person = Arc::new(Person::default());
    let (caller, wish) =
        (Caller::with_port(person.clone()), json(r#"{"notifications":{"toolsListChanged":true}}"#));
    let name = key("s");
    let listening = hub.upstreams.call(&name, method::LISTEN, Some(wish.as_json()), &caller);
    let ending = async {
        until("it is acknowledged", || !person.told.lock().unwrap().is_empty()).await;
        hub.tool("s", "listen_end", "{}").await.unwrap();
    };
    let (ended, ()) = timeout(Duration::from_secs(30), async { tokio::join!(listening, ending) })
        .await
        .expect("it has ended");
    let why = ended.unwrap_err().to_string();
    assert!(why.contains("the server cancelled the request: enough"), "{why}");
    hub.stop().await;
}
