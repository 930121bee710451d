//! That a call goes where it should, byte for byte, and nowhere else.

mod complete;
mod pages;
mod results;
mod steps;
mod tasks;

use proptest::prelude::*;
use std::sync::Arc;
use switchboard_wire::{Era, Revision, output};

use super::*;
use crate::kit::{self, Echo, agent, any_json, buf, everything, json, key, quoted, user};
use crate::naming::Surface;
use crate::port::{CallError, Caller, LONGEST_NAME, Thing};
use crate::registry::Registry;

/// Two servers, `a` and `b.c`, with the same of everything, and an answer that both give.
struct Scene {
    router: Router,
    echo: Arc<Echo>,
    view: Arc<View>,
    who: Who,
}

fn scene(answer: &str, surface: &Surface) -> Scene {
    let registry = Registry::default();
    for name in ["a", "b.c"] {
        registry.publish(&key(name), Arc::new(everything(name, &["x", "y"])));
    }
    let echo = Echo::new(answer);
    let view = registry.load().everything(surface);
    let who = Who::agent(agent("one"), Some(user("ann")));
    Scene { router: kit::router(kit::ports(&echo)), echo, view, who }
}

impl Scene {
    fn call(&self, method: &str, params: &str) -> Result<String, CallError> {
        kit::call(&self.router, &self.view, &self.who, method, params)
    }

    /// What was asked of whom.
    fn asked(&self) -> (String, String) {
        let (server, _, params) = self.echo.asked().pop().unwrap();
        (server.to_string(), params)
    }
}

#[test]
fn in_the_servers_words() {
    let scene = scene("{}", &Surface::mcp());
    let hashed = |name: &str| Surface::mcp().name("b.c", name);
    let check = |method: &str, params: &str, server: &str, sent: &str| {
        let params = params.replace("B__X", &hashed("x"));
        assert_eq!(scene.call(method, &params), Ok("{}".to_owned()), "{params}");
        assert_eq!(scene.asked(), (server.to_owned(), sent.to_owned()));
    };
    check(
        "tools/call",
        r#"{ "arguments":{"name":"a__x","n":1.0}, "n\u0061me" : "a__x" ,"u":18446744073709551616}"#,
        "a",
        r#"{ "arguments":{"name":"a__x","n":1.0}, "n\u0061me" : "x" ,"u":18446744073709551616}"#,
    );
    check("tools/call", r#"{"name":"B__X"}"#, "b.c", r#"{"name":"x"}"#);
    check("prompts/get", r#"{"name":"B__X"}"#, "b.c", r#"{"name":"x"}"#);
    for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
        check(method, r#"{"uri":"mcp://b.c/test://x"}"#, "b.c", r#"{"uri":"test://x"}"#);
        check(method, r#"{"uri":"ui://a/any"}"#, "a", r#"{"uri":"ui://any"}"#);
    }
    check(
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"a__x"},"argument":{"name":"a__x"}}"#,
        "a",
        r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a__x"}}"#,
    );
    check(
        "completion/complete",
        r#"{"ref":{"uri":"mcp://b.c/test://x/{+path}","type":"ref/resource"}}"#,
        "b.c",
        r#"{"ref":{"uri":"test://x/{+path}","type":"ref/resource"}}"#,
    );
}

#[test]
fn nowhere_else() {
    let scene = scene("{}", &Surface::mcp());
    let check = |method: &str, params: &str, expected: CallError| {
        assert_eq!(scene.call(method, params), Err(expected), "{method} {params}");
        assert_eq!(scene.echo.asked(), []);
    };
    let none = |thing, name: &str| CallError::NotFound { thing, name: name.to_owned() };
    check("tools/call", r#"{"name":"x"}"#, none(Thing::Tool, "x"));
    check("tools/call", r#"{"name":"b.c__x"}"#, none(Thing::Tool, "b.c__x"));
    check("prompts/get", r#"{"name":"a__z"}"#, none(Thing::Prompt, "a__z"));
    check("resources/read", r#"{"uri":"test://x"}"#, none(Thing::Resource, "test://x"));
    check("resources/read", r#"{"uri":"mcp://c/x"}"#, none(Thing::Resource, "mcp://c/x"));
    check("tasks/get", r#"{"taskId":"1"}"#, none(Thing::Task, "1"));
    check("tools/call", "{}", CallError::Lacks("name"));
    check("tools/call", r#"{"name":"\ud800"}"#, CallError::Lacks("name"));
    check("completion/complete", r#"{"ref":{}}"#, CallError::Lacks("type"));
    check("tasks/list", "{}", CallError::NoMethod("tasks/list".to_owned()));
    let twice = r#"{"name":"a__x","name":"a__y"}"#;
    check("tools/call", twice, CallError::Params(switchboard_wire::Repeated("name")));
}

#[test]
fn what_is_named_too_long_leads_nowhere() {
    let scene = scene("{}", &Surface::mcp());
    let uri = |bytes: usize| format!("{:x<bytes$}", "mcp://a/");
    let check = |method: &str, thing: Thing, params: &dyn Fn(&str) -> String| {
        let too_long = CallError::TooLong { thing, bytes: LONGEST_NAME + 1, most: LONGEST_NAME };
        let answer = scene.call(method, &params(&uri(LONGEST_NAME + 1)));
        assert_eq!(answer, Err(too_long), "{method}");
        assert_eq!(scene.echo.asked(), [], "{method}");
        let answer = scene.call(method, &params(&uri(LONGEST_NAME)));
        assert!(!matches!(answer, Err(CallError::TooLong { .. })), "{method}: {answer:?}");
        scene.echo.asked.lock().unwrap().clear();
    };
    for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
        check(method, Thing::Resource, &|uri| format!(r#"{{"uri":"{uri}"}}"#));
    }
    check("tools/call", Thing::Tool, &|name| format!(r#"{{"name":"{name}"}}"#));
    check("prompts/get", Thing::Prompt, &|name| format!(r#"{{"name":"{name}"}}"#));
    check("tasks/get", Thing::Task, &|id| format!(r#"{{"taskId":"{id}"}}"#));
    let family = |uri: &str| format!(r#"{{"ref":{{"type":"ref/resource","uri":"{uri}"}}}}"#);
    check("completion/complete", Thing::Resource, &family);
    for (bytes, found) in [(LONGEST_NAME, true), (LONGEST_NAME + 1, false)] {
        assert_eq!(scene.router.resource(&scene.view, &uri(bytes)).is_some(), found, "{bytes}");
    }
}

#[test]
fn in_the_callers_words() {
    let check = |surface: &Surface, method: &str, params: &str, answer: &str, expected: &str| {
        let scene = scene(answer, surface);
        assert_eq!(scene.call(method, params).as_deref(), Ok(expected));
    };
    let link = r#"{"content":[{"type":"text","text":"uri test://x","uri":"test://x"},{"uri":"test://x","type":"resource_link","n":1.0},{"type":"resource","resource":{"uri":"ui://x","text":""}}],"structuredContent":{"uri":"test://x"}}"#;
    let linked = r#"{"content":[{"type":"text","text":"uri test://x","uri":"test://x"},{"uri":"mcp://a/test://x","type":"resource_link","n":1.0},{"type":"resource","resource":{"uri":"ui://a/x","text":""}}],"structuredContent":{"uri":"test://x"}}"#;
    check(&Surface::mcp(), "tools/call", r#"{"name":"a__x"}"#, link, linked);
    let read = r#"{"contents":[{"uri":"test://x","text":"a"},{"text":"b", "uri" : "test://x"}],"ttlMs":1}"#;
    let expected = r#"{"contents":[{"uri":"mcp://b.c/test://x","text":"a"},{"text":"b", "uri" : "mcp://b.c/test://x"}],"ttlMs":1}"#;
    check(&Surface::mcp(), "resources/read", r#"{"uri":"mcp://b.c/test://x"}"#, read, expected);
    let prompt = r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"x:y"}},{"content":[{"type":"resource","resource":{"uri":"x:y"}}]}]}"#;
    let expected = prompt.replace("x:y", "mcp://a/x:y");
    check(&Surface::mcp(), "prompts/get", r#"{"name":"a__x"}"#, prompt, &expected);
    // Where names are bare, only what would lead elsewhere changes.
    let name = Surface::Bare.aside("a", "x");
    let params = format!(r#"{{"name":"{name}"}}"#);
    check(&Surface::Bare, "tools/call", &params, link, linked);
    let plain = r#"{"content":[{"type":"resource_link","uri":"only://a"}]}"#;
    let registry = Registry::default();
    registry.publish(&key("a"), Arc::new(everything("a", &["x"])));
    let alone = registry.load().server(&key("a"), &Surface::Bare).unwrap();
    let router = kit::router(kit::ports(&Echo::new(plain)));
    let got = kit::call(&router, &alone, &Who::default(), "tools/call", r#"{"name":"x"}"#);
    assert_eq!(got.as_deref(), Ok(plain));
}

#[test]
fn tasks_belong_to_whoever_began_them() {
    let made = r#"{"resultType":"task","taskId":"t:1","status":"working","n":1.0}"#;
    let scene = scene(made, &Surface::mcp());
    let id_of = |result: &str| json(result).get("taskId").unwrap().string().unwrap().into_owned();
    let result = scene.call("tools/call", r#"{"name":"a__x"}"#).unwrap();
    let id = id_of(&result);
    assert_eq!(result, made.replace(r#""t:1""#, &quoted(&id)));
    scene.asked();
    let get = format!(r#"{{"taskId":{}}}"#, quoted(&id));
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result"] {
        let answer = scene.call(method, &get).unwrap();
        assert_eq!(id_of(&answer), id);
        assert_eq!(scene.asked(), ("a".to_owned(), r#"{"taskId":"t:1"}"#.to_owned()));
    }
    assert_eq!(scene.router.task(&scene.view, &scene.who, &id), Some((key("a"), "t:1".to_owned())));
    // Not for another caller, another server, or another hub's key.
    let others = [
        Who::agent(agent("two"), Some(user("ann"))),
        Who::agent(agent("one"), None),
        Who::user(user("ann")),
    ];
    for other in others {
        let refused = kit::call(&scene.router, &scene.view, &other, "tasks/get", &get);
        assert!(matches!(refused, Err(CallError::NotFound { thing: Thing::Task, .. })));
    }
    let results = scene.router.results().clone();
    let other = Router::new(kit::ports(&scene.echo), results, [8; 32]);
    for forged in [id.replace(":a:", ":b.c:"), id.replace("t:1", "t:2"), id[1..].to_owned()] {
        assert_eq!(scene.router.task(&scene.view, &scene.who, &forged), None, "{forged}");
    }
    assert_eq!(other.task(&scene.view, &scene.who, &id), None);
    // Of the session era: created under `task`, and named in what belongs to it.
    let older = r#"{"task":{"taskId":"7"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"7"}},"taskId":"7"}"#;
    let scene = self::scene(older, &Surface::mcp());
    let result = scene.call("tools/call", r#"{"name":"a__x"}"#).unwrap();
    let id = json(&result).get("task").unwrap().get("taskId").unwrap().as_str().to_owned();
    let expected = older.replacen(r#""7""#, &id, 2);
    assert_eq!(result, expected);
}

#[test]
fn the_server_behind_a_uri() {
    let scene = scene("{}", &Surface::mcp());
    let found = scene.router.resource(&scene.view, "mcp://b.c/test://x");
    assert_eq!(found, Some((key("b.c"), "test://x".to_owned())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever is in the params and in the result, only the name changes.
    #[test]
    fn byte_for_byte(before in any_json(), after in any_json(), meta in any_json(), text in any_json()) {
        let answer = format!(
            r#"{{"a":{before} , "content" :[{{"type":"text","text":{text}}},{after}], "structuredContent": {meta}}}"#
        );
        for surface in [Surface::mcp(), Surface::Bare] {
            let scene = scene(&answer, &surface);
            for name in scene.view.tools().map(|tool| tool.name) {
                let params = |name: &str| {
                    format!(r#"{{ "_meta":{meta},"name" : {} ,"arguments":{before},"z":{after}}}"#, quoted(name))
                };
                let result = scene.call("tools/call", &params(name)).unwrap();
                prop_assert_eq!(&result, &answer);
                let own = scene.view.tool(name).unwrap();
                prop_assert_eq!(scene.asked(), (own.server.to_string(), params(&own.entry.name)));
            }
        }
    }
}

#[test]
fn the_hubs_own() {
    let registry = Registry::default();
    let tools = vec![crate::results::tool().unwrap()];
    let home = crate::registry::Home::Hub;
    let offer = crate::Offer { tools, home, ..everything("hub", &["get_status"]) };
    registry.publish(&key("switchboard"), Arc::new(offer));
    let (outside, hub) = (Echo::new("{}"), Echo::new(r#"{"hub":1}"#));
    let router = kit::router(Ports { hub: Some(hub.clone()), ..kit::ports(&outside) });
    let view = registry.load().everything(&Surface::mcp());
    let who = Who::default();
    let missing = kit::call(&router, &view, &who, "tools/call", r#"{"name":"read_result"}"#);
    assert!(missing.unwrap().contains("`id` is missing"));
    let read = kit::call(&router, &view, &who, "resources/read", r#"{"uri":"test://get_status"}"#);
    assert_eq!(read.as_deref(), Ok(r#"{"hub":1}"#));
    assert_eq!((outside.asked().len(), hub.asked().len()), (0, 1));
    let listed = view.page(crate::Kind::Tools, None).unwrap().entries;
    let sent = crate::results::tool().unwrap();
    let mut list = output::List::default();
    list.push(sent.raw());
    assert_eq!(listed, list.end());
}

/// Servers of the session era are not looked at for what that era has not.
#[test]
fn in_the_callers_revision() {
    let wide = r#"{"structuredContent":1}"#;
    let narrow = r#"{"content":[{"type":"text","text":"1"}]}"#;
    let (session, newest) = (Revision::V2024_11_05, Revision::V2026_07_28);
    for (era, revision, expected) in [
        (Some(Era::Stateless), Some(session), narrow),
        (None, Some(session), narrow),
        (Some(Era::Session), Some(session), wide),
        (Some(Era::Stateless), Some(newest), wide),
        (Some(Era::Stateless), None, wide),
    ] {
        let registry = Registry::default();
        let offer = crate::Offer { era, ..everything("a", &["x"]) };
        registry.publish(&key("a"), Arc::new(offer));
        let view = registry.load().everything(&Surface::mcp());
        let (router, who) = (kit::router(kit::ports(&Echo::new(wide))), Who::default());
        let caller = Caller { revision, ..Caller::default() };
        let request = Request {
            view: &view,
            who: &who,
            origin: CallOrigin::Mcp,
            method: "tools/call",
            params: json(r#"{"name":"a__x"}"#).into(),
            trace: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(router.call(&request, &caller)).unwrap();
        assert_eq!(result.as_json().as_str(), expected, "{era:?} {revision:?}");
    }
}
