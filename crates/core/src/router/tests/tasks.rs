//! Who hears of a task, and in which words.

use std::sync::Mutex;

use switchboard_model::ServerKey;
use switchboard_wire::{JsonBuf, Params};

use super::*;
use crate::port::{
    Blocked, BoxFuture, Call, Caller, Checked, ClientPort, RpcError, Undecided, Verdict,
};

const NEWS: &str = r#"{"taskId":"7","status":"completed","result":{"content":[{"type":"resource_link","uri":"test://x"}]}}"#;

struct Rule(Verdict);

impl Decide for Rule {
    fn decide(&self, call: &Call<'_>) -> Result<Verdict, Undecided> {
        assert_eq!((call.method, call.subject), ("tasks/get", "7"));
        Ok(self.0.clone())
    }
}

struct Look(Result<Checked, Blocked>);

impl Guard for Look {
    fn result(&self, _: &Call<'_>, result: &JsonBuf) -> Result<Checked, Blocked> {
        assert_eq!(result.as_json().as_str(), NEWS);
        self.0.clone()
    }
}

/// A task that a session of this caller's has begun: the id that it knows it by.
fn begun(scene: &Scene, who: &Who) -> String {
    let result = kit::call(&scene.router, &scene.view, who, "tools/call", r#"{"name":"a__x"}"#);
    output::begun(json(&result.unwrap())).unwrap().into_owned()
}

#[test]
fn the_session_that_began_it() {
    let scene = scene(r#"{"task":{"taskId":"7"}}"#, &Surface::mcp());
    let session = |name: &str| Who { session: Some(name.into()), ..scene.who.clone() };
    begun(&scene, &scene.who);
    assert_eq!(scene.router.began(&key("a"), "7"), None, "nobody is there to be told");
    let (first, id) = (session("first"), begun(&scene, &session("first")));
    begun(&scene, &session("second"));
    assert_eq!(scene.router.began(&key("a"), "7"), Some((first, id)));
    for (server, id) in [("b.c", "7"), ("a", "8")] {
        assert_eq!(scene.router.began(&key(server), id), None);
    }
}

#[test]
fn as_a_look_at_it_would_be() {
    let made = scene(r#"{"task":{"taskId":"7"}}"#, &Surface::mcp());
    let (id, other) = (begun(&made, &made.who), Who::agent(agent("two"), Some(user("ann"))));
    let told = |verdict: Verdict, look: Result<Checked, Blocked>, who: &Who, news: &str| {
        let ports = Ports {
            decide: Arc::new(Rule(verdict)),
            guard: Arc::new(Look(look)),
            ..kit::ports(&made.echo)
        };
        let router = kit::router(ports);
        let heard = router.heard(&made.view, who, &id, &buf(news));
        let hears = router.hears(&made.view, who, &id).is_some();
        (hears, heard.map(|heard| heard.as_json().as_str().to_owned()))
    };
    let allow = || Verdict::allow("fine");
    let renamed = NEWS.replace("\"7\"", &quoted(&id)).replace("test://x", "mcp://a/test://x");
    assert_eq!(told(allow(), Ok(Checked::Pass), &made.who, NEWS), (true, Some(renamed)));
    let replaced = told(allow(), Ok(Checked::Replaced(buf("{}"))), &made.who, NEWS);
    assert_eq!(replaced, (true, Some("{}".to_owned())));
    let blocked = Err(Blocked("no".to_owned()));
    assert_eq!(told(allow(), blocked, &made.who, NEWS), (true, None));
    for verdict in [Verdict::deny("a rule"), Verdict::ask("it writes")] {
        assert_eq!(told(verdict, Ok(Checked::Pass), &made.who, NEWS), (false, None));
    }
    assert_eq!(told(allow(), Ok(Checked::Pass), &other, NEWS), (false, None));
    let another = r#"{"taskId":"8"}"#;
    assert_eq!(told(allow(), Ok(Checked::Pass), &made.who, another), (true, None));
}

/// A server that tells and asks while its task's result is awaited, and answers with what it was answered.
struct Asking;

fn related(id: &str) -> JsonBuf {
    buf(&format!(r#"{{"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}}}}}"#))
}

impl Servers for Asking {
    fn call<'a>(
        &'a self,
        _: &'a ServerKey,
        method: &'a str,
        _: Option<Params<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        Box::pin(async move {
            if method != "tasks/result" {
                return Ok(buf(r#"{"task":{"taskId":"7"}}"#));
            }
            let port = caller.port.as_ref().unwrap();
            port.notify("notifications/message", related("7"));
            port.notify("notifications/message", related("another"));
            let answer = port.request("elicitation/create", Some(related("7"))).await?;
            assert_eq!(answer, related("7"), "the server's own id");
            Ok(buf("{}"))
        })
    }
}

/// A client that writes down what it hears, and answers with what it is asked.
#[derive(Default)]
struct Hearing(Mutex<Vec<JsonBuf>>);

impl ClientPort for Hearing {
    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let params = params.unwrap();
        self.notify(method, params.clone());
        Box::pin(std::future::ready(Ok(params)))
    }

    fn notify(&self, _: &str, params: JsonBuf) {
        self.0.lock().unwrap().push(params);
    }
}

#[tokio::test]
async fn while_its_result_is_awaited() {
    let made = scene("{}", &Surface::mcp());
    let router = kit::router(Ports { servers: Arc::new(Asking), ..kit::ports(&made.echo) });
    let client = Arc::new(Hearing::default());
    let caller = Caller { port: Some(client.clone()), ..Caller::default() };
    let call = async |method: &str, params: &str| {
        let (view, who, origin) = (&made.view, &made.who, CallOrigin::Mcp);
        let params = json(params).into();
        let request = Request { view, who, origin, method, params, trace: None };
        router.call(&request, &caller).await.unwrap()
    };
    let begun = call("tools/call", r#"{"name":"a__x"}"#).await;
    let id = output::begun(begun.as_json()).unwrap().into_owned();
    call("tasks/result", &format!(r#"{{"taskId":"{id}"}}"#)).await;
    let heard = [related(&id), related("another"), related(&id)];
    assert_eq!(*client.0.lock().unwrap(), heard);
}

#[test]
fn what_is_told_of_a_task_is_cut_as_its_result_is() {
    let made = scene(r#"{"task":{"taskId":"7"}}"#, &Surface::mcp());
    let id = begun(&made, &made.who);
    let long = "x".repeat(200_000);
    let news = format!(
        r#"{{"taskId":"7","status":"completed","result":{{"content":[{{"type":"text","text":"{long}"}}]}}}}"#
    );
    let heard = made.router.heard(&made.view, &made.who, &id, &buf(&news)).unwrap();
    let text = heard.as_json().as_str();
    assert!(text.len() < 110_000 && text.contains("Cut by Switchboard"), "{}", text.len());
}
