//! A scripted server for the tests: it speaks what it is told to, and misbehaves where it is told
//! to. The same program also plays the guardian and the hub that is killed.

#![expect(clippy::expect_used, clippy::print_stderr, reason = "it is test code")]

mod conformance;
mod hub;
mod tools;
mod trial;

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_wire::{Json, JsonBuf, Limits, Message, Request, code, method, write};

/// What the arguments say.
#[derive(Clone, Debug)]
struct Script {
    /// `session`, `old`, `stateless`, `dies` or `deaf` (both on the probe).
    era: String,
    /// What goes wrong, if anything.
    fault: String,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| args.get(at).map_or("", String::as_str);
    match word(0) {
        "guardian" => switchboard_upstream::guardian::run(word(1), std::io::stdin()),
        "hub" => hub::run(word(1), word(2), word(3)),
        "conformance" => conformance::run(word(1)),
        "try" => trial::run(&args[1..]),
        "sleep" => std::thread::sleep(Duration::from_secs(600)),
        _ => serve(&Script { era: word(0).to_owned(), fault: word(1).to_owned() }),
    }
}

fn serve(script: &Script) {
    match script.fault.as_str() {
        "exit" => {
            eprintln!("no configuration, no service");
            std::process::exit(3);
        }
        "silent" => std::thread::sleep(Duration::from_secs(600)),
        "late" => std::thread::sleep(Duration::from_secs(5)),
        "children" => tools::start_child(),
        "noise" => {
            println("this is no JSON");
            println("[1, 2");
            eprintln!("starting\u{1b}[0m up");
        }
        _ => {}
    }
    let state = Arc::new(tools::State::default());
    let stdin = std::io::stdin().lock();
    for line in stdin.split(b'\n') {
        let Ok(line) = line else { break };
        let Ok(message) = Message::parse(&line, &Limits::DEFAULT) else { continue };
        match message {
            Message::Request(request) => answer(script, &state, &request),
            Message::Notification(notice) => state.note(&notice),
            Message::Response(response) => state.answered(response.id, Ok(response.result)),
            Message::Failure(failure) => {
                if let Some(id) = failure.id {
                    state.answered(id, Err(&failure.error));
                }
            }
        }
    }
    if script.fault == "stubborn" {
        std::thread::sleep(Duration::from_secs(600));
    }
}

fn answer(script: &Script, state: &Arc<tools::State>, request: &Request<'_>) {
    let params = request.params.unwrap_or(Json::EMPTY);
    let id = request.id;
    match (&*request.method, script.era.as_str()) {
        (method::DISCOVER, "dies") => std::process::exit(1),
        (method::DISCOVER, "deaf") => loop {
            std::thread::sleep(Duration::from_secs(600));
        },
        (method::DISCOVER, "stateless") => state.result(id, discovered().as_json()),
        (method::INITIALIZE, "stateless") => {
            state.error(id, code::METHOD_NOT_FOUND, "no such thing")
        }
        (method::INITIALIZE, era) => {
            state.meet(params.get("capabilities").unwrap_or(Json::EMPTY));
            let asked = params.get("protocolVersion").and_then(Json::string).unwrap_or_default();
            match era {
                "picky" if asked != "2024-11-05" => {
                    state.error(id, code::INVALID_PARAMS, "Unsupported protocol version");
                }
                "old" | "dies" | "picky" => {
                    state.result(id, initialized("2024-11-05", &script.fault).as_json())
                }
                "future" => state.result(id, initialized("2099-01-01", "").as_json()),
                _ => state.result(id, initialized(&asked, &script.fault).as_json()),
            }
        }
        (method::SET_LEVEL, _) => {
            state.level(params.get("level").and_then(Json::string).unwrap_or_default().as_ref());
            state.result(id, Json::EMPTY);
        }
        (method::PING, _) if script.fault == "no-ping" => {}
        (method::PING, _) => state.result(id, Json::EMPTY),
        (method::LISTEN, "stateless") => state.acknowledge(id, params),
        (method::TOOLS_LIST, _) => state.list(id, params, &script.fault),
        (method::PROMPTS_LIST, _) => {
            state.result(id, raw(r#"{"prompts":[{"name":"hello","x":1.0}]}"#).as_json());
        }
        (method::TOOLS_CALL, _) => {
            let (state, id, params) = (state.clone(), id.to_buf(), JsonBuf::from(params));
            let stateless = script.era == "stateless";
            if params.as_json().get("name").and_then(Json::string).as_deref() == Some("echo") {
                return tools::call(&state, id.as_id(), params.as_json(), stateless);
            }
            std::thread::spawn(move || {
                tools::call(&state, id.as_id(), params.as_json(), stateless)
            });
        }
        _ => state.error(id, code::METHOD_NOT_FOUND, "Method not found"),
    }
}

fn discovered() -> JsonBuf {
    raw(
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{}},"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}}"#,
    )
}

fn initialized(revision: &str, fault: &str) -> JsonBuf {
    let capabilities = match fault {
        "untold" => r#"{"tools":{},"logging":{}}"#,
        _ => r#"{"tools":{"listChanged":true},"prompts":{}}"#,
    };
    write::object(|result| {
        result.text("protocolVersion", revision);
        result.raw("capabilities", raw(capabilities).as_json());
        result.raw("serverInfo", raw(r#"{"name":"scripted","version":"1"}"#).as_json());
    })
}

fn raw(text: &str) -> JsonBuf {
    JsonBuf::parse(text.to_owned().into(), &Limits::DEFAULT).expect("it is JSON")
}

static OUT: Mutex<()> = Mutex::new(());

fn println(line: &str) {
    let line = format!("{line}\n");
    let _one = OUT.lock();
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}
