//! The tools of the scripted server, each of which does one thing that a hub must bear.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use switchboard_wire::types::Cancelled;
use switchboard_wire::{
    ErrorObject, Id, IdBuf, Json, JsonBuf, Notification, meta, method, peek, write,
};

use crate::{println, raw};

const TOOLS: &[&str] = &[
    "echo",
    "sleep",
    "work",
    "crash",
    "hang",
    "ask",
    "pester",
    "roots",
    "sprout",
    "level",
    "client",
    "environment",
    "storm",
    "grow",
    "child",
    "flood",
    "garbage",
    "twice",
    "fail",
    "refuse",
    "cancelled",
    "big",
];

/// How many questions of one server a hub leaves open.
const OPEN: u64 = 32;

#[derive(Default)]
pub(crate) struct State {
    asked: AtomicU64,
    waiting: Mutex<HashMap<i64, Sender<String>>>,
    cancelled: AtomicU64,
    grown: AtomicBool,
    levels: Mutex<Vec<String>>,
    client: Mutex<String>,
    listener: Mutex<Option<IdBuf>>,
}

impl State {
    /// Remembers what the client says that it can do.
    pub(crate) fn meet(&self, capabilities: Json<'_>) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) =
            capabilities.as_str().to_owned();
    }

    pub(crate) fn level(&self, level: &str) {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).push(level.to_owned());
    }

    pub(crate) fn result(&self, id: Id<'_>, result: Json<'_>) {
        let mut out = Vec::new();
        write::result(&mut out, id, result);
        println(&String::from_utf8_lossy(&out));
    }

    pub(crate) fn error(&self, id: Id<'_>, code: i64, message: &str) {
        let mut out = Vec::new();
        write::error(&mut out, Some(id), code, message, None);
        println(&String::from_utf8_lossy(&out));
    }

    pub(crate) fn note(&self, notice: &Notification<'_>) {
        if notice.method == method::CANCELLED
            && Cancelled::read(notice.params.unwrap_or(Json::EMPTY)).is_ok()
        {
            self.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(crate) fn answered(&self, id: Id<'_>, answer: Result<Json<'_>, &ErrorObject<'_>>) {
        let text = match answer {
            Ok(result) => result.as_str().to_owned(),
            Err(error) => format!("error {}", error.code),
        };
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = id.number().and_then(|id| waiting.get(&id)) {
            let _ = sender.send(text);
        }
    }

    pub(crate) fn acknowledge(&self, id: Id<'_>, params: Json<'_>) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_buf());
        let wanted = params.get("notifications").unwrap_or(Json::EMPTY);
        let params = write::object(|out| {
            out.raw("notifications", wanted);
            out.object(meta::META, |meta| meta.raw(meta::SUBSCRIPTION_ID, id.to_buf().as_json()));
        });
        self.tell(method::ACKNOWLEDGED, &params);
    }

    fn tell(&self, name: &str, params: &JsonBuf) {
        let mut out = Vec::new();
        write::notification(&mut out, name, Some(params.as_json()));
        println(&String::from_utf8_lossy(&out));
    }

    /// Three pages, one bad entry.
    pub(crate) fn list(&self, id: Id<'_>, params: Json<'_>, fault: &str) {
        let page: usize = peek::cursor(params).and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let entry = |name: &&str| {
            format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"x-own":1.0}}"#)
        };
        let third = TOOLS.len().div_ceil(3);
        let mut tools: Vec<String> =
            TOOLS.chunks(third).nth(page).unwrap_or_default().iter().map(entry).collect();
        if page == 2 {
            tools.push(r#"{"name":"no schema"}"#.to_owned());
            if self.grown.load(Ordering::SeqCst) {
                tools.push(entry(&"grown"));
            }
        }
        let next = match fault {
            "circle" => r#","nextCursor":"0""#.to_owned(),
            _ if page < 2 => format!(r#","nextCursor":"{}","ttlMs":1000"#, page + 1),
            _ => String::new(),
        };
        let page = format!(r#"{{"tools":[{}]{next}}}"#, tools.join(","));
        self.result(id, raw(&page).as_json());
    }

    fn ask(&self, name: &str, params: &str) -> String {
        let id = self.asked.fetch_add(1, Ordering::SeqCst) + 1000;
        let (sender, receiver) = channel();
        let key = i64::try_from(id).unwrap_or_default();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(key, sender);
        let mut out = Vec::new();
        write::request(&mut out, id.into(), name, Some(raw(params).as_json()));
        println(&String::from_utf8_lossy(&out));
        receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| "no answer".to_owned())
    }
}

impl State {
    /// Asks that often without waiting for an answer; says how many were refused.
    fn pester(&self, count: u64) -> String {
        let (sender, receiver) = channel();
        for _ in 0..count {
            let id = self.asked.fetch_add(1, Ordering::SeqCst) + 1000;
            let key = i64::try_from(id).unwrap_or_default();
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.insert(key, sender.clone());
            drop(waiting);
            let mut out = Vec::new();
            write::request(
                &mut out,
                id.into(),
                method::ELICIT,
                Some(raw(r#"{"message":"?"}"#).as_json()),
            );
            println(&String::from_utf8_lossy(&out));
        }
        let (mut refused, enough) = (0, count.saturating_sub(OPEN));
        let patience = |refused| Duration::from_millis(if refused < enough { 30_000 } else { 300 });
        while let Ok(answer) = receiver.recv_timeout(patience(refused)) {
            refused += u64::from(answer.starts_with("error"));
        }
        format!("{refused} refused")
    }
}

pub(crate) fn start_child() {
    let program = std::env::current_exe().unwrap_or_default();
    let child =
        Command::new(program).arg("sleep").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    if let Ok(child) = child {
        eprintln!("child {}", child.id());
    }
}

pub(crate) fn call(state: &State, id: Id<'_>, params: Json<'_>, stateless: bool) {
    let name = params.get("name").and_then(Json::string).unwrap_or_default();
    let arguments = params.get("arguments").unwrap_or(Json::EMPTY);
    let number = |key: &str| {
        arguments.get(key).and_then(Json::integer).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    };
    let text = match &*name {
        "sleep" => {
            std::thread::sleep(Duration::from_millis(number("ms")));
            arguments.as_str().to_owned()
        }
        "work" => work(state, params, number("steps"), number("ms")),
        "crash" => std::process::exit(7),
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(600));
        },
        "ask" if stateless => return ask_back(state, id, params),
        "ask" => state
            .ask(method::ELICIT, r#"{"message":"really?","requestedSchema":{"type":"object"}}"#),
        "pester" => state.pester(number("count")),
        "roots" => state.ask(method::ROOTS_LIST, "{}"),
        "client" => state.client.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        "level" => state.levels.lock().unwrap_or_else(PoisonError::into_inner).join(" "),
        "environment" => environment(),
        "storm" => {
            (0..number("count")).for_each(|_| state.tell(method::TOOLS_CHANGED, &raw("{}")));
            String::new()
        }
        // One says so, the other does not.
        "grow" | "sprout" => {
            state.grown.store(true, Ordering::SeqCst);
            if name == "grow" {
                state.tell(method::TOOLS_CHANGED, &raw("{}"));
            }
            String::new()
        }
        "child" => {
            start_child();
            String::new()
        }
        "flood" => {
            (0..number("lines")).for_each(|n| eprintln!("line {n} of a flood that nobody reads"));
            String::new()
        }
        "garbage" => garbage(),
        "twice" => {
            state.result(id, raw(r#"{"content":[]}"#).as_json());
            String::new()
        }
        // What is logged when the call is over.
        "afterwards" => {
            state.result(id, raw(r#"{"content":[]}"#).as_json());
            return state.tell(method::LOG_MESSAGE, &raw(arguments.as_str()));
        }
        "fail" => return state.result(id, raw(r#"{"content":[],"isError":true}"#).as_json()),
        "refuse" => return state.error(id, -32050, "not today"),
        "cancelled" => state.cancelled.load(Ordering::SeqCst).to_string(),
        "big" => "x".repeat(usize::try_from(number("bytes")).unwrap_or(0)),
        _ => arguments.as_str().to_owned(),
    };
    state.result(id, content(&text).as_json());
}

fn garbage() -> String {
    println("{\"jsonrpc\":\"2.0\",\"id\":");
    println(&"x".repeat(100_000));
    String::new()
}

#[expect(clippy::disallowed_methods, reason = "it tells what it was given")]
fn environment() -> String {
    let all = std::env::vars().map(|(key, value)| format!("{key}={value}"));
    all.collect::<Vec<_>>().join("|")
}

fn content(text: &str) -> JsonBuf {
    let block = write::object(|block| {
        block.text("type", "text");
        block.text("text", text);
    });
    write::object(|result| {
        result.raws("content", [block.as_json()]);
        result.raw("x-own", raw("1.0").as_json());
    })
}

/// Steps with progress between them, longer in all than a call may be quiet.
fn work(state: &State, params: Json<'_>, steps: u64, ms: u64) -> String {
    let token = peek::progress_token(params).map(JsonBuf::from);
    for step in 0..steps {
        std::thread::sleep(Duration::from_millis(ms));
        if let Some(token) = &token {
            let params = write::object(|out| {
                out.raw("progressToken", token.as_json());
                out.integer("progress", i64::try_from(step).unwrap_or(0));
            });
            state.tell(method::PROGRESS, &params);
        }
    }
    format!("{steps} steps")
}

fn ask_back(state: &State, id: Id<'_>, params: Json<'_>) {
    match params.get("inputResponses").and_then(|answers| answers.get("why")) {
        Some(answer) => {
            let kept = params.get("requestState").and_then(Json::string).unwrap_or_default();
            state.result(id, content(&format!("{} {kept}", answer.as_str())).as_json());
        }
        None => state.result(
            id,
            raw(r#"{"resultType":"input_required","requestState":"s3","inputRequests":{"why":{"method":"elicitation/create","params":{"message":"really?"}}}}"#).as_json(),
        ),
    }
}
