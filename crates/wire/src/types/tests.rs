//! What is read from the messages that a hub must look at.

use super::notice::LogLevel;
use super::*;
use crate::json::tests::json;
use crate::{Json, JsonBuf, Repeated};

#[test]
fn pages_drop_bad_entries_one_by_one() {
    let result = JsonBuf::from(json(
        r#"{"tools":[
            {"name":"good","inputSchema":{"type":"object"},"x-own":1.0},
            {"name":"no schema"},
            {"inputSchema":{}},
            {"name":"","inputSchema":{}},
            {"name":7,"inputSchema":{}},
            {"name":"\ud800","inputSchema":{}},
            {"name":"null schema","inputSchema":null},
            {"name":"twice","inputSchema":{},"na\u006de":"other"},
            {"name":"hints","inputSchema":{},"annotations":{"readOnlyHint":true,"readOnlyHint":false}},
            "text",
            {"name":"last","inputSchema":{ },"annotations":null}
        ],"nextCursor":"","ttlMs":5,"cacheScope":"public"}"#,
    ));
    let page = Page::<ToolEntry>::read(&result).unwrap();
    let names: Vec<_> = page.entries.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "last"]);
    let raw = r#"{"name":"good","inputSchema":{"type":"object"},"x-own":1.0}"#;
    assert_eq!(page.entries[0].raw().as_str(), raw);
    let dropped: Vec<_> = page
        .dropped
        .iter()
        .map(|it| format!("{} {} {}", it.index, it.name.as_deref().unwrap_or("-"), it.flaw))
        .collect();
    assert_eq!(
        dropped,
        [
            "1 no schema it has no `inputSchema`",
            "2 - it has no `name`",
            "3  its `name` is empty",
            "4 - its `name` is not a string",
            "5 \u{fffd} its `name` is not a string",
            "6 null schema its `inputSchema` is not an object",
            "7 other `name` is there twice",
            "8 hints `readOnlyHint` is there twice",
            "9 - it is not an object",
        ]
    );
    assert_eq!(page.next_cursor.as_deref(), Some(""));
    let cache = CacheHint { ttl_ms: Some(5), scope: Some(CacheScope::Public) };
    assert_eq!(page.cache, cache);
}

#[test]
fn pages_of_the_other_kinds() {
    let result = JsonBuf::from(json(
        r#"{"resources":[{"uri":"a:b","name":"n","title":"T","description":"D"},{"name":"n"}],
            "resourceTemplates":[{"uriTemplate":"a:{b}"},{}],
            "prompts":[{"name":"p"},null],"cacheScope":"other","ttlMs":-1}"#,
    ));
    let resources = Page::<ResourceEntry>::read(&result).unwrap();
    let first = &resources.entries[0];
    assert_eq!((first.uri.as_str(), resources.dropped.len()), ("a:b", 1));
    assert_eq!((first.title().as_deref(), first.description().as_deref()), (Some("T"), Some("D")));
    let templates = Page::<TemplateEntry>::read(&result).unwrap();
    assert_eq!(templates.entries[0].uri_template, "a:{b}");
    let prompts = Page::<PromptEntry>::read(&result).unwrap();
    assert_eq!((prompts.entries[0].name.as_str(), prompts.dropped.len()), ("p", 1));
    assert_eq!(prompts.next_cursor, None);
    assert_eq!(prompts.cache, CacheHint { ttl_ms: None, scope: Some(CacheScope::Private) });
    for not_a_page in ["{}", r#"{"tools":{}}"#, r#"{"tools":null}"#, "[]"] {
        let result = JsonBuf::from(json(not_a_page));
        assert_eq!(Page::<ToolEntry>::read(&result), Err(Missing("tools")), "{not_a_page}");
    }
}

#[test]
fn tools() {
    let raw = json(
        r#"{"name":"t","description":"a\nb","inputSchema":{"a":1},"outputSchema":{"b":2},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":"yes"}}"#,
    );
    let tool = ToolEntry::read(raw.into()).unwrap();
    assert_eq!(tool.raw(), raw);
    assert_eq!(tool.input_schema().as_str(), r#"{"a":1}"#);
    assert_eq!(tool.output_schema().map(Json::as_str), Some(r#"{"b":2}"#));
    assert_eq!((tool.title().as_deref(), tool.description().as_deref()), (Some("A"), Some("a\nb")));
    let hints = Annotations {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: None,
        open_world: None,
    };
    assert_eq!(tool.annotations, hints);
    for (meta, has_page) in [
        (r#"{"ui":{"resourceUri":"ui://a"}}"#, true),
        (r#"{"x":1,"ui":{"visibility":["app"]}}"#, true),
        (r#"{"ui/resourceUri":"ui://a"}"#, true),
        (r#"{"x":{"ui":1}}"#, false),
        ("null", false),
    ] {
        let raw = format!(r#"{{"name":"t","inputSchema":{{}},"_meta":{meta}}}"#);
        assert_eq!(ToolEntry::read(json(&raw).into()).unwrap().has_page, has_page, "{meta}");
    }
    assert!(!tool.has_page);
}

#[test]
fn capabilities() {
    let check = |text: &str, path: &[&str], expected| {
        assert_eq!(Capabilities::read(Some(json(text))).has(path), expected, "{text} {path:?}");
    };
    check("{}", &["tools"], false);
    check(r#"{"tools":{}}"#, &["tools"], true);
    check(r#"{"tools":null}"#, &["tools"], false);
    check(r#"{"tools":{}}"#, &["tools", "listChanged"], false);
    check(r#"{"tools":{"listChanged":false}}"#, &["tools", "listChanged"], false);
    check(r#"{"tools":{"listChanged":true}}"#, &["tools", "listChanged"], true);
    check("7", &["tools"], false);
    let form = |text| Capabilities::read(Some(json(text))).elicits_by_form();
    assert!(form(r#"{"elicitation":{}}"#) && form(r#"{"elicitation":{"form":{},"url":{}}}"#));
    assert!(!form("{}") && !form(r#"{"elicitation":{"url":{}}}"#));
    let extended = Capabilities::read(Some(json(r#"{"extensions":{"a/b":{"c":1},"d/e":7}}"#)));
    assert_eq!(extended.extension("a/b").map(Json::as_str), Some(r#"{"c":1}"#));
    assert_eq!((extended.extension("d/e"), extended.extension("f")), (None, None));
    assert_eq!(Capabilities::read(None).raw().as_str(), "{}");
}

#[test]
fn handshakes() {
    let params = InitializeParams::read(json(
        r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1","own":2}}"#,
    ))
    .unwrap();
    assert_eq!(params.protocol_version, "2025-06-18");
    assert!(params.capabilities.has(&["roots"]));
    assert_eq!(params.client_info.name, "c");
    let result = InitializeResult::read(json(
        r#"{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1","title":"S","own":2},"instructions":"i"}"#,
    ))
    .unwrap();
    assert_eq!(result.server_info.title.as_deref(), Some("S"));
    assert!(result.server_info.raw.as_json().get("own").is_some());
    assert_eq!(
        (result.instructions.as_deref(), result.capabilities.has(&["tools"])),
        (Some("i"), false)
    );
    assert_eq!(InitializeResult::read(json("{}")), Err(Missing("protocolVersion")));
    assert_eq!(InitializeParams::read(Json::NULL), Err(Missing("protocolVersion")));
    let discovered = DiscoverResult::read(json(
        r#"{"supportedVersions":["2026-07-28",7],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}},"ttlMs":60000,"cacheScope":"private"}"#,
    ))
    .unwrap();
    assert_eq!(discovered.supported_versions, ["2026-07-28"]);
    assert_eq!(discovered.server_info.map(|info| info.name).as_deref(), Some("s"));
    assert_eq!(discovered.cache.ttl_ms, Some(60_000));
    for other in ["{}", r#"{"supportedVersions":[]}"#, r#"{"supportedVersions":"2026-07-28"}"#] {
        assert_eq!(DiscoverResult::read(json(other)), Err(Missing("supportedVersions")), "{other}");
    }
}

#[test]
fn calls() {
    let call = CallParams::read(json(
        r#"{"name":"n\u0061me","arguments":{"a": 1},"_meta":{},"requestState":"s","own":1}"#,
    ))
    .unwrap();
    assert_eq!(call.name.as_deref(), Some("name"));
    assert_eq!(call.arguments.map(Json::as_str), Some(r#"{"a": 1}"#));
    assert_eq!((call.uri.is_none(), call.meta.is_some()), (true, true));
    assert_eq!(call.request_state.map(Json::as_str), Some("\"s\""));
    let check = |text, key| {
        assert_eq!(CallParams::read(json(text)).unwrap_err(), Repeated(key), "{text}");
    };
    check(r#"{"name":"safe","name":"other"}"#, "name");
    check(r#"{"name":"n","arguments":{},"argument\u0073":{}}"#, "arguments");
}

#[test]
fn questions_asked_back() {
    let asked = InputRequired::read(json(
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"x":1}},"b":{"method":"roots/list"},"c":7},"requestState":"st\u0061te"}"#,
    ));
    let shown: Vec<_> = asked
        .requests
        .iter()
        .map(|it| format!("{} {} {}", it.key, it.method, it.params.map_or("-", Json::as_str)))
        .collect();
    assert_eq!(shown, [r#"a elicitation/create {"x":1}"#, "b roots/list -", "c  -"]);
    assert_eq!(asked.request_state.map(Json::as_str), Some(r#""st\u0061te""#));
    assert!(InputRequired::read(json("{}")).requests.is_empty());
}

#[test]
fn notices() {
    let progress =
        Progress::read(json(r#"{"progressToken":"t","progress":0.5,"total":10,"message":"half"}"#))
            .unwrap();
    assert_eq!(progress.token.to_string(), "\"t\"");
    assert_eq!((progress.progress, progress.total), (Some(0.5), Some(10.0)));
    assert_eq!(progress.message.as_deref(), Some("half"));
    assert_eq!(Progress::read(json("{}")).unwrap_err(), Missing("progressToken"));
    let cancelled = Cancelled::read(json(r#"{"requestId":3,"reason":"late"}"#)).unwrap();
    assert_eq!(cancelled.request_id.number(), Some(3));
    assert_eq!(cancelled.reason.as_deref(), Some("late"));
    assert_eq!(Cancelled::read(json(r#"{"requestId":null}"#)).unwrap_err(), Missing("requestId"));
    let log = LogMessage::read(json(r#"{"level":"warning","logger":"db","data":[1]}"#)).unwrap();
    assert_eq!((log.level, log.data.as_str()), (LogLevel::Warning, "[1]"));
    assert_eq!(LogMessage::read(json(r#"{"level":"loud"}"#)).unwrap_err(), Missing("level"));
    assert!(LogLevel::Debug < LogLevel::Info && LogLevel::Alert < LogLevel::Emergency);
    for name in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        assert_eq!(LogLevel::parse(name).map(LogLevel::as_str), Some(name));
    }
}

#[test]
fn filters() {
    let check = |notifications: &str, written: &str| {
        let params = format!(r#"{{"notifications":{notifications}}}"#);
        let filter = Filter::read(json(&params)).unwrap();
        assert_eq!(filter.to_json().as_json().as_str(), written);
    };
    check("{}", "{}");
    check(r#"{"toolsListChanged":false,"promptsListChanged":1}"#, "{}");
    let all = r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}"#;
    check(all, all);
    assert_eq!(Filter::read(json("{}")), Err(Missing("notifications")));
}

#[test]
fn tasks() {
    let check = |text, expected: Result<&str, Missing>| {
        let show =
            |it: Task<'_>| format!("{} {:?} {:?} {:?}", it.id, it.status, it.ttl_ms, it.poll_ms);
        assert_eq!(Task::read(json(text)).map(show), expected.map(str::to_owned), "{text}");
    };
    check(
        r#"{"resultType":"task","taskId":"a","status":"working","ttlMs":60000,"pollIntervalMs":5000}"#,
        Ok("a Some(Working) Some(60000) Some(5000)"),
    );
    check(
        r#"{"task":{"taskId":"b","status":"input_required","ttl":null,"pollInterval":1}}"#,
        Ok("b Some(InputRequired) None Some(1)"),
    );
    check(r#"{"taskId":"c","status":"napping"}"#, Ok("c None None None"));
    check(r#"{"status":"failed"}"#, Err(Missing("taskId")));
    assert!(TaskStatus::Failed.is_final() && !TaskStatus::InputRequired.is_final());
}
