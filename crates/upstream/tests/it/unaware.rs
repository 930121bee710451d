//! Tools that run only as tasks, for callers whose revision has none.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_testkit::Scratch;
use switchboard_testkit::script::Script;
use switchboard_upstream::{BoxFuture, CallError, Caller, ClientPort, RpcError};
use switchboard_wire::{Json, JsonBuf, Revision, method};

use crate::kit::{Hub, command, json, key, text, until};

/// A server that has such tools, and writes down what it is sent.
async fn lasting(record: &Path) -> Hub {
    let script = Script::new().only("2025-11-25").lasting().record(record);
    Hub::start([command("s", &script)]).await
}

/// Whether the server was sent that, so far.
fn sent(record: &Path, what: &str) -> bool {
    std::fs::read_to_string(record).unwrap_or_default().contains(what)
}

/// Somebody who is asked for something, and answers.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

/// The server's id of the task that is waited for.
fn awaited(record: &Path) -> String {
    let lines = std::fs::read_to_string(record).unwrap();
    let at = lines.rfind(r#""taskId":""#).unwrap() + 10;
    lines[at..].split('"').next().unwrap().to_owned()
}

impl ClientPort for Asked {
    fn capabilities(&self) -> Json<'_> {
        Json::EMPTY
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        self.0.lock().unwrap().push(params.unwrap().as_json().as_str().to_owned());
        let answer = json(r#"{"action":"accept","content":{"answer":"fine"}}"#);
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        assert_eq!(told, method::PROGRESS);
        self.0.lock().unwrap().push(params.as_json().as_str().to_owned());
    }
}

fn speaks(revision: Option<Revision>) -> Caller {
    Caller { revision, ..Caller::default() }
}

#[tokio::test]
async fn whoever_has_no_tasks_is_given_what_the_task_ends_with() {
    let others = [Revision::V2026_07_28, Revision::V2025_06_18, Revision::V2024_11_05];
    for revision in others.map(Some).into_iter().chain([None]) {
        let scratch = Scratch::new();
        let record = scratch.path().join("record");
        let hub = lasting(&record).await;
        let caller = speaks(revision);
        let call = hub.raw("s", "task_only", r#"{"text":"x"}"#, &caller);
        let end = async {
            until("it is waited for", || sent(&record, "tasks/result")).await;
            let id = awaited(&record);
            let arguments = format!(r#"{{"id":"{id}","status":"completed"}}"#);
            hub.tool("s", "task_move", &arguments).await.unwrap();
        };
        let (result, ()) = tokio::join!(call, end);
        let result = result.unwrap();
        assert_eq!(text(&result), "the task is over", "{revision:?}");
        assert!(!result.as_json().as_str().contains("related-task"), "the caller knows of none");
        hub.stop().await;
        assert!(!sent(&record, "tasks/cancel"));
    }
}

/// It has read in the list that it has to ask for one.
#[tokio::test]
async fn whoever_has_tasks_asks_for_them() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let hub = lasting(&record).await;
    let caller = speaks(Some(Revision::V2025_11_25));
    let refused = hub.raw("s", "task_only", "{}", &caller).await.unwrap_err();
    assert!(matches!(&refused, CallError::Rpc(error) if error.code == -32601), "{refused}");
    // A tool that need not be a task is none.
    let done = hub.raw("s", "task_begin", "{}", &speaks(None)).await.unwrap();
    assert_eq!(text(&done), "done at once");
    hub.stop().await;
}

#[tokio::test]
async fn a_task_whose_caller_is_gone_is_cancelled() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let hub = lasting(&record).await;
    let caller = speaks(None);
    tokio::select! {
        _ = hub.raw("s", "task_only", "{}", &caller) => panic!("it lasts"),
        () = until("it is waited for", || sent(&record, "tasks/result")) => {}
    }
    until("it is cancelled", || sent(&record, "tasks/cancel")).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    hub.stop().await;
}

/// What its server asks and tells names the task, which the caller does not know.
#[tokio::test]
async fn what_is_asked_and_told_of_the_task_is_for_the_caller() {
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let hub = lasting(&record).await;
    let asked = Arc::new(Asked::default());
    let caller = Caller::with_port(asked.clone());
    let params = json(r#"{"name":"task_only","_meta":{"progressToken":"mine"}}"#);
    let name = key("s");
    let call = hub.upstreams.call(&name, method::TOOLS_CALL, Some(params.as_json()), &caller);
    let ask = async {
        until("it is waited for", || sent(&record, "tasks/result")).await;
        let id = awaited(&record);
        let arguments = format!(r#"{{"task":"{id}","awaited":true}}"#);
        hub.tool("s", "task_ask", &arguments).await.unwrap();
        hub.tool("s", "task_progress", &format!(r#"{{"id":"{id}","progress":7}}"#)).await.unwrap();
        until("it is told", || asked.0.lock().unwrap().len() == 2).await;
        let told = format!(r#""io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}"#);
        until("the answer names it", || sent(&record, &told)).await;
        let arguments = format!(r#"{{"id":"{id}","status":"completed"}}"#);
        hub.tool("s", "task_move", &arguments).await.unwrap();
    };
    let (result, ()) = tokio::join!(call, ask);
    assert_eq!(text(&result.unwrap()), "the task is over");
    hub.stop().await;
    let told = asked.0.lock().unwrap();
    assert!(told.iter().all(|told| !told.contains("related-task")), "{told:?}");
    let progress = json(&told[1]);
    let told = |key| progress.as_json().get(key).unwrap().as_str().to_owned();
    assert_eq!((told("progressToken"), told("progress")), (r#""mine""#.to_owned(), "7".to_owned()));
}
