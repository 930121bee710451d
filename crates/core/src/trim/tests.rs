//! That what is too long is cut where it may be, and can be read to its end.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use switchboard_model::{HttpKind, HttpSpec, ServerSpec, SystemClock, Template, Transport};
use switchboard_wire::Json;

use crate::kit::{self, Echo, agent, json, key, quoted, tools};
use crate::naming::Surface;
use crate::port::{CallError, RpcError, Who};
use crate::registry::{Home, Offer, Registry, View};
use crate::results::{self, Bounds, Results};
use crate::router::Router;

struct Scene {
    view: Arc<View>,
    /// The server's own door.
    door: Arc<View>,
    router: Router,
    who: Who,
}

/// A server that may say `limit` bytes at once, and says this.
fn scene(limit: u64, answer: &str, bounds: Bounds) -> Scene {
    let url = Template::parse("http://localhost").unwrap();
    let kind = HttpKind::Streamable;
    let http = Transport::Http(HttpSpec { kind, url, headers: BTreeMap::new() });
    let mut spec = ServerSpec::new(key("s").name, http);
    spec.limits.max_output = limit;
    let registry = Registry::default();
    let offer = Offer { spec: Some(Arc::new(spec)), ..tools("s", &["t"]) };
    registry.publish(&key("s"), Arc::new(offer));
    let own =
        Offer { tools: results::tool().into_iter().collect(), home: Home::Hub, ..Offer::default() };
    registry.publish(&key("switchboard"), Arc::new(own));
    let results = Results::new(Arc::new(SystemClock), bounds);
    let router = Router::new(kit::ports(&Echo::new(answer)), results, [0; 32]);
    let view = registry.load().everything(&Surface::mcp());
    let door = registry.load().server(&key("s"), &Surface::Bare).unwrap();
    Scene { view, door, router, who: Who::agent(agent("one"), None) }
}

impl Scene {
    fn tool(&self, name: &str, arguments: &str) -> String {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        kit::call(&self.router, &self.view, &self.who, "tools/call", &params).unwrap()
    }
}

/// The texts of a result.
fn texts(result: &str) -> Vec<String> {
    let blocks = json(result).get("content").unwrap();
    let text = |block: Json<'_>| Some(block.get("text")?.string_lossy()?.into_owned());
    blocks.elements().filter_map(text).collect()
}

/// The id in a note.
fn id(note: &str) -> String {
    note.split_once(r#""id":""#).unwrap().1.split_once('"').unwrap().0.to_owned()
}

#[test]
fn cut() {
    let long = "x".repeat(60);
    let check = |limit, answer: &str, expected: Option<&str>| {
        let scene = scene(limit, answer, Bounds::default());
        let result = scene.tool("s__t", "{}");
        let Some(expected) = expected else {
            assert_eq!(result, answer);
            return;
        };
        let note = texts(&result).pop().unwrap();
        let expected = expected.replace("NOTE", &quoted(&note)).replace("LONG", &long);
        assert_eq!(result, expected, "{answer}");
        assert!(note.contains("read_result") && note.contains("switchboard://results/"), "{note}");
    };
    let of = |blocks: &str, rest: &str| {
        format!(r#"{{ "z":1.0,"content":[{blocks}]{rest}}}"#).replace("LONG", &long)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    // What fits, and what is no tool's text, stays byte for byte.
    check(1000, &of(&text("LONG"), ""), None);
    check(60, &of(&text("LONG"), r#" ,"a" : "LONGLONG""#), None);
    let image = r#"{"type":"image","data":"LONGLONG","mimeType":"image/png"}"#;
    check(10, &of(image, ""), None);
    let note = r#"{"type":"text","text":NOTE}"#;
    let cut_to = |blocks: &str| Some(of(&format!("{blocks},{note}"), r#","k":{}"#));
    let check_cut = |limit, blocks: &str, kept: &str| {
        check(limit, &of(blocks, r#","k":{}"#), cut_to(kept).as_deref());
    };
    check_cut(10, &text("LONG"), &text("xxxxxxxxxx"));
    // Never inside of a character, however it is written.
    check_cut(10, &text("123456789é LONG"), &text("123456789"));
    check_cut(10, &text(r"1234567\ud83d\ude00 LONG"), &text("1234567"));
    check_cut(11, &text(r"1234567\ud83d\ude00 LONG"), &text(r"1234567\ud83d\ude00"));
    check_cut(10, &text(r"1234567\ud83d LONG"), &text(r"1234567\ud83d"));
    check_cut(3, &text(r#"\n\"\u0041 LONG"#), &text(r#"\n\"\u0041"#));
    // Blocks behind the end go, but for those that are no text.
    let link = r#"{"type":"audio","data":"" }"#;
    check_cut(
        10,
        &[text("1234"), link.to_owned(), text("LONG"), text("more"), link.to_owned()].join(","),
        &[text("1234"), link.to_owned(), text("xxxxx"), link.to_owned()].join(","),
    );
    let embedded = |text: &str| {
        format!(r#"{{"type":"resource","resource":{{"uri":"mcp://s/u","text":"{text}"}}}}"#)
    };
    let sent = embedded("LONG").replace("mcp://s/u", "u");
    let scene = scene(10, &of(&sent, ""), Bounds::default());
    let result = scene.tool("s__t", "{}");
    assert!(result.contains(&embedded("xxxxxxxxxx")), "{result}");
}

#[test]
fn structured() {
    let structured = format!(r#"{{"list":["{}"]}}"#, "y".repeat(100));
    let image = r#"{"type":"image","data":"","mimeType":"image/png"}"#;
    let same = quoted(&structured);
    let answer = format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":"short"}},{image},{{"type":"text","text":{same}}}],"structuredContent":{structured},"_meta":{{"n":1.0}}}}"#
    );
    let scene = scene(50, &answer, Bounds { page: 1000, ..Bounds::default() });
    let result = scene.tool("s__t", "{}");
    let note = texts(&result).pop().unwrap();
    let expected = format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":{}}},{image}],"_meta":{{"n":1.0}},"isError":true}}"#,
        quoted(&note)
    );
    assert_eq!(result, expected);
    let read = scene.tool("read_result", &format!(r#"{{"id":"{}"}}"#, id(&note)));
    // The text beside it is there too, and what was said twice once.
    assert_eq!(texts(&read)[0], format!("short\n{structured}"));
}

#[test]
fn a_servers_own_door_names_the_resource_alone() {
    let answer = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(100));
    let scene = scene(10, &answer, Bounds::default());
    let call = |method: &str, params: &str| {
        kit::call(&scene.router, &scene.door, &scene.who, method, params).unwrap()
    };
    let note = texts(&call("tools/call", r#"{"name":"t"}"#)).pop().unwrap();
    assert!(!note.contains("read_result"), "{note}");
    let uri = note.split_once("read the resource ").unwrap().1.split_once(' ').unwrap().0;
    let rest = call("resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
    let rest = json(&rest).get("contents").unwrap().elements().next().unwrap();
    assert_eq!(rest.get("text").unwrap().string().unwrap(), "x".repeat(90));
}

#[test]
fn a_tasks_result_is_cut_wherever_it_is() {
    let inner = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(100));
    let task = format!(r#"{{"taskId":"1","status":"completed","result":{inner},"n":1.0}}"#);
    let text = "x".repeat(100);
    let read = format!(r#"{{"contents":[{{"uri":"u","text":"{text}"}}]}}"#);
    let check = |method: &str, answer: &str, cut: usize| {
        let scene = scene(10, answer, Bounds::default());
        let (key, offer) = (key("s"), scene.door.servers().next().unwrap().1.clone());
        let params = json("{}");
        let call = crate::port::Call {
            who: &scene.who,
            origin: switchboard_model::CallOrigin::Mcp,
            server: &key,
            offer: &offer,
            method,
            subject: "",
            published: "",
            tool: None,
            params,
            arguments: None,
            trace: None,
        };
        let result = kit::buf(answer);
        let trimmed = super::trim(&call, &scene.view, result, scene.router.results());
        assert_eq!(trimmed.cut, cut, "{method}");
        let whole = trimmed.result.as_json().as_str().to_owned();
        assert_eq!(whole == answer, cut == 0, "{method} {whole}");
        assert!(whole.ends_with(&answer[answer.len() - 3..]), "{whole}");
    };
    check("tasks/result", &inner, 90);
    check("tasks/get", &task, 90);
    // What somebody asked for by its name is theirs whole.
    check("resources/read", &read, 0);
    check("prompts/get", &read, 0);
}

#[test]
fn nothing_is_kept_that_is_too_much() {
    let answer = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(100));
    let scene = scene(10, &answer, Bounds { each: 50, ..Bounds::default() });
    let result = scene.tool("s__t", "{}");
    assert_eq!(texts(&result)[0], "xxxxxxxxxx");
    assert!(texts(&result)[1].contains("too long to be kept"), "{result}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the texts, what is shown and what is read on are together all of it.
    #[test]
    fn all_can_be_read(
        blocks in prop::collection::vec("(\\PC|[\n\"\\\\é日😀]){0,20}", 1..4),
        limit in 1_u64..40,
        page in 1_usize..30,
    ) {
        let written: Vec<String> =
            blocks.iter().map(|text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text))).collect();
        let answer = format!(r#"{{"content":[{}]}}"#, written.join(","));
        let scene = scene(limit, &answer, Bounds { page, ..Bounds::default() });
        let full = blocks.join("\n");
        let result = scene.tool("s__t", "{}");
        let mut shown = texts(&result);
        if full.len() <= usize::try_from(limit).unwrap() {
            prop_assert_eq!(result, answer);
            return Ok(());
        }
        let note = shown.pop().unwrap();
        let shown = shown.join("\n");
        prop_assert!(full.starts_with(&shown));
        prop_assert!(shown.len() <= usize::try_from(limit).unwrap());
        let mut read = String::new();
        let mut offset = 0;
        while read.len() < full.len() {
            let arguments = format!(r#"{{"id":"{}","offset":{offset}}}"#, id(&note));
            let next = scene.tool("read_result", &arguments);
            read.push_str(&texts(&next)[0]);
            prop_assert!(read.len() > offset, "it goes on");
            offset = read.len();
        }
        prop_assert_eq!(&read, &full);
        let params = format!(r#"{{"uri":"switchboard://results/{}"}}"#, id(&note));
        let whole = kit::call(&scene.router, &scene.view, &scene.who, "resources/read", &params).unwrap();
        let whole = json(&whole).get("contents").unwrap().elements().next().unwrap();
        prop_assert_eq!(whole.get("text").unwrap().string().unwrap(), full);
    }
}

/// An error has no bound of its own either.
#[test]
fn errors_too() {
    struct Fails(RpcError);
    impl crate::port::Servers for Fails {
        fn call<'a>(
            &'a self,
            _: &'a switchboard_model::ServerKey,
            _: &'a str,
            _: Option<switchboard_wire::Params<'a>>,
            _: &'a crate::port::Caller,
        ) -> crate::port::BoxFuture<'a, Result<switchboard_wire::JsonBuf, CallError>> {
            Box::pin(std::future::ready(Err(self.0.clone().into())))
        }
    }
    let check = |raw: &str, limit: u64| {
        let Scene { view, who, .. } = scene(limit, "{}", Bounds::default());
        let message = json(raw).get("message").unwrap().string().unwrap().into_owned();
        let error = RpcError { code: -5, message, raw: json(raw).into() };
        let results = Results::new(Arc::new(SystemClock), Bounds::default());
        let ports = crate::Ports::new(Arc::new(Fails(error)));
        let router = Router::new(ports, results, [0; 32]);
        let failed = kit::call(&router, &view, &who, "tools/call", r#"{"name":"s__t"}"#);
        let Err(CallError::Rpc(told)) = failed else { panic!("{failed:?}") };
        assert_eq!(told.code, -5);
        (told, router, view, who)
    };
    let short = r#"{"code":-5,"message":"é","data":{"n":1.0}}"#;
    assert_eq!(check(short, 100).0.raw.as_json().as_str(), short, "it passes as it is");
    let long = "é".repeat(100);
    let data = format!(r#"{{"code":-5,"message":"no","data":"{long}"}}"#);
    let message = format!(r#"{{"code":-5,"message":"{long}"}}"#);
    for (raw, begins) in [(data, "no\n[".to_owned()), (message, format!("{}\n[", "é".repeat(25)))]
    {
        let (told, router, view, who) = check(&raw, 51);
        assert!(told.message.starts_with(&begins), "{}", told.message);
        assert!(told.data().is_none() && told.raw.as_json().as_bytes().len() < 500);
        let params =
            format!(r#"{{"name":"read_result","arguments":{{"id":"{}"}}}}"#, id(&told.message));
        let read = kit::call(&router, &view, &who, "tools/call", &params).unwrap();
        assert_eq!(texts(&read)[0], raw, "all of it can be read");
    }
}

/// A page says which one it is, and where the next one begins.
#[test]
fn pages_of_the_resource() {
    let long = "aé日😀!".repeat(20);
    let answer = format!(r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#);
    let scene = scene(50, &answer, Bounds { page: 100, ..Bounds::default() });
    let note = texts(&scene.tool("s__t", "{}")).pop().unwrap();
    let uri = results::uri(&id(&note));
    let (mut read, mut from) = (String::new(), 0);
    loop {
        let params = format!(r#"{{"uri":"{uri}?offset={from}"}}"#);
        let page = kit::call(&scene.router, &scene.view, &scene.who, "resources/read", &params);
        let page = page.unwrap();
        let content = json(&page).get("contents").unwrap().elements().next().unwrap();
        let meta = content.get("_meta").unwrap();
        let number = |key: &str| meta.get(key).and_then(Json::integer);
        read.push_str(&content.get("text").unwrap().string().unwrap());
        assert_eq!(number("switchboard/from"), Some(from));
        assert_eq!(number("switchboard/to"), i64::try_from(read.len()).ok());
        assert_eq!(number("switchboard/total"), i64::try_from(long.len()).ok());
        match number("switchboard/next") {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(read, long);
}
