//! Servers behind the router: each tool does what its name says, and what was called is counted.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_core::port::{
    BoxFuture, CallError, Caller, ClientPort, Delivery, Inputs, RpcError, Servers,
};
use switchboard_model::ServerKey;
use switchboard_wire::{Json, JsonBuf, method, peek};
use tokio::sync::Notify;

use super::{buffer, json};

/// Calls that are kept to be looked at: not all, so that what grows with every call is a leak of somebody else's.
const KEPT: usize = 16;

/// What a server of 2025-11-25 says that wants two pages opened before anything else.
const PAGES: &str = r#"{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a/","message":"m","n":1},{"elicitationId":"2","url":"https://b/","message":"m","n":1,"mode":"url"}]}}"#;

/// The scripted servers.
#[derive(Default)]
pub(crate) struct Scripted {
    /// Calls that began.
    pub(crate) begun: AtomicUsize,
    /// Calls that ended by themselves.
    pub(crate) ended: AtomicUsize,
    /// Calls that were dropped.
    pub(crate) dropped: AtomicUsize,
    /// What was called of late: server, method, params.
    pub(crate) seen: Mutex<Vec<(String, String, String)>>,
    /// Lets a `wait` end.
    pub(crate) release: Notify,
    /// Whether somebody opened the pages that a server wants opened.
    pub(crate) opened: AtomicBool,
    /// How many subscriptions are refused from now on: a server that is still loading.
    pub(crate) refusals: AtomicUsize,
    /// The client of the last `log`, for what is told when that is over.
    pub(crate) beyond: Mutex<Option<Arc<dyn ClientPort>>>,
}

impl Scripted {
    pub(crate) fn count(&self, of: &AtomicUsize) -> usize {
        of.load(Ordering::SeqCst)
    }

    fn see(&self, row: (String, String, String)) {
        let mut seen = self.seen.lock().unwrap();
        if seen.len() == KEPT {
            seen.remove(0);
        }
        seen.push(row);
    }

    pub(crate) fn last(&self) -> (String, String, String) {
        self.seen.lock().unwrap().last().cloned().unwrap()
    }
}

struct Guard<'g>(&'g Scripted, bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let counter = if self.1 { &self.0.ended } else { &self.0.dropped };
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

impl Servers for Scripted {
    fn call<'a>(
        &'a self,
        server: &'a ServerKey,
        method: &'a str,
        params: Option<switchboard_wire::Params<'a>>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        Box::pin(async move {
            let params = params.map_or(Json::EMPTY, |params| params.json());
            self.begun.fetch_add(1, Ordering::SeqCst);
            let row = (server.name.to_string(), method.to_owned(), params.as_str().to_owned());
            self.see(row);
            let mut guard = Guard(self, false);
            let result = self.answer(server, method, params, caller).await;
            guard.1 = true;
            result
        })
    }
}

impl Scripted {
    fn refuses(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }

    async fn answer(
        &self,
        server: &ServerKey,
        method: &str,
        params: Json<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let name = params.get("name").and_then(Json::string).unwrap_or_default();
        match method {
            method::TOOLS_CALL => self.tool(server, &name, params, caller).await,
            method::PROMPTS_GET => Ok(buffer(r#"{"messages":[],"n":1.0}"#)),
            method::RESOURCES_READ => {
                let uri = params.get("uri").unwrap().as_str();
                if uri.ends_with("/gone\"") {
                    let error = json(r#"{"code":-32002,"message":"gone","data":{"uri":1.0}}"#);
                    let raw = JsonBuf::from(error);
                    return Err(RpcError { code: -32002, message: "gone".to_owned(), raw }.into());
                }
                let lasts = match uri.ends_with("/public\"") {
                    true => r#","ttlMs":5000,"cacheScope":"public""#,
                    false => "",
                };
                Ok(buffer(&format!(r#"{{"contents":[{{"uri":{uri},"text":"x"}}]{lasts}}}"#)))
            }
            method::COMPLETE => Ok(buffer(r#"{"completion":{"values":["a"]}}"#)),
            method::SUBSCRIBE if params.as_str().contains("/refused") => {
                self.release.notified().await;
                Err(RpcError::new(-32601, "Method not found").into())
            }
            method::SUBSCRIBE if params.as_str().contains("/later") => {
                self.release.notified().await;
                Ok(buffer("{}"))
            }
            method::UNSUBSCRIBE if params.as_str().contains("/slow") => {
                self.release.notified().await;
                Ok(buffer("{}"))
            }
            method::SUBSCRIBE if self.refuses() => {
                Err(RpcError::new(-32603, "it is still loading").into())
            }
            method::SUBSCRIBE | method::UNSUBSCRIBE => Ok(buffer("{}")),
            _ => Err(RpcError::new(-32601, "Method not found").into()),
        }
    }

    async fn tool(
        &self,
        server: &ServerKey,
        name: &str,
        params: Json<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let port = caller.port.as_deref().unwrap();
        let text = |text: &str| {
            Ok(buffer(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)))
        };
        match name {
            "raw" => Ok(params.get("arguments").map_or_else(|| buffer("{}"), JsonBuf::from)),
            "progress" => {
                let token = peek::progress_token(params).unwrap_or(Json::NULL);
                for step in 1..=3 {
                    let told =
                        format!(r#"{{"progressToken":{},"progress":{step}}}"#, token.as_str());
                    port.notify(method::PROGRESS, buffer(&told));
                    tokio::task::yield_now().await;
                }
                text("done")
            }
            "many" => {
                for step in 0..5_000 {
                    let told = format!(r#"{{"progressToken":1,"progress":{step}}}"#);
                    port.notify(method::PROGRESS, buffer(&told));
                }
                text("done")
            }
            "log" => {
                let beyond = caller.port.clone().and_then(ClientPort::beyond);
                *self.beyond.lock().unwrap() = beyond;
                for level in ["debug", "warning"] {
                    let told = format!(r#"{{"level":"{level}","data":"x"}}"#);
                    port.notify(method::LOG_MESSAGE, buffer(&told));
                }
                text("done")
            }
            "elicit" | "sample" | "roots" => self.ask(name, params, port).await,
            "ask_later" => {
                self.release.notified().await;
                self.ask("elicit", params, port).await
            }
            "large" => text(&"x".repeat(150_000)),
            "several" => several(port).await,
            "ask" => ask_stateless(params, caller),
            "wait" => {
                self.release.notified().await;
                text("done")
            }
            "fail" => self.fail(params),
            "gone" => Err(CallError::lost("the process exited", Delivery::Perhaps)),
            "late" => Err(CallError::TimedOut { after: Duration::from_secs(1) }),
            _ => text(&format!("{server} {name} {}", port.capabilities().as_str().len())),
        }
    }

    /// It fails, or wants pages opened until somebody has.
    fn fail(&self, params: Json<'_>) -> Result<JsonBuf, CallError> {
        let pages = params.get("arguments").is_some_and(|given| given.get("pages").is_some());
        let raw = match (pages, self.opened.load(Ordering::SeqCst)) {
            (true, true) => return Ok(buffer(r#"{"content":[{"type":"text","text":"opened"}]}"#)),
            (true, false) => PAGES,
            (false, _) => r#"{"code":-32042,"message":"no","data":{"x":1.0},"more":true}"#,
        };
        let message = "no".to_owned();
        Err(RpcError { code: -32042, message, raw: buffer(raw) }.into())
    }

    /// What a server of the session era does: it asks while it works.
    async fn ask(
        &self,
        name: &str,
        params: Json<'_>,
        port: &dyn ClientPort,
    ) -> Result<JsonBuf, CallError> {
        let tools = params.get("arguments").is_some_and(|given| given.get("tools").is_some());
        let (method, params) = match name {
            "elicit" => {
                (method::ELICIT, Some(buffer(r#"{"message":"who?","requestedSchema":{}}"#)))
            }
            "sample" if tools => (
                method::CREATE_MESSAGE,
                Some(buffer(r#"{"messages":[],"maxTokens":1,"tools":[{"name":"x"}]}"#)),
            ),
            "sample" => (method::CREATE_MESSAGE, Some(buffer(r#"{"messages":[],"maxTokens":1}"#))),
            _ => (method::ROOTS_LIST, None),
        };
        let mut all = String::new();
        for _ in 0..2 {
            match port.request(method, params.clone()).await {
                Ok(answer) => all.push_str(answer.as_json().as_str()),
                Err(error) => {
                    let text = format!(
                        r#"{{"content":[],"isError":true,"why":{}}}"#,
                        error.raw.as_json().as_str()
                    );
                    return Ok(buffer(&text));
                }
            }
        }
        let quoted = serde_json::Value::from(all).to_string();
        Ok(buffer(&format!(r#"{{"content":[],"answers":{quoted}}}"#)))
    }
}

/// What a server does that asks everything at once, and can do without the answers.
async fn several(port: &dyn ClientPort) -> Result<JsonBuf, CallError> {
    let name = r#"{"message":"who?","requestedSchema":{"properties":{"name":{}}}}"#;
    let ask = async |asked: &str, params: &str, later: Duration| {
        tokio::time::sleep(later).await;
        match port.request(asked, Some(buffer(params))).await {
            Ok(answer) => answer.as_json().as_str().to_owned(),
            Err(error) => error.code.to_string(),
        }
    };
    let (name, model, roots) = tokio::join!(
        ask(method::ELICIT, name, Duration::ZERO),
        ask(method::CREATE_MESSAGE, "{}", Duration::from_millis(1)),
        ask(method::ROOTS_LIST, "{}", Duration::from_millis(2)),
    );
    Ok(buffer(&format!(r#"{{"content":[],"answers":[{name},{model},{roots}]}}"#)))
}

/// What a server of the stateless era does: it asks by its result.
fn ask_stateless(params: Json<'_>, caller: &Caller) -> Result<JsonBuf, CallError> {
    assert_eq!(caller.inputs, Inputs::PassOn, "the port would have been asked");
    let state = params.get("requestState").and_then(Json::string);
    match (state.as_deref(), params.get("inputResponses")) {
        (None, _) => Ok(buffer(
            r#"{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}},"requestState":"own \u00e9"}"#,
        )),
        (Some("own é"), Some(answers)) => {
            Ok(buffer(&format!(r#"{{"content":[],"got":{}}}"#, answers.as_str())))
        }
        (state, _) => Err(RpcError::new(-32602, &format!("bad state {state:?}")).into()),
    }
}
