//! Calls of the real hub as spans at a collector: with the right trace, without anything that was said in
//! them, and never in the way of a call.

use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::collector::{Collector, Taken};
use switchboard_testkit::script::Script;

use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};
use crate::rest::person;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
/// One that whoever began it does not want kept.
const UNWANTED: &str = "0af7651916cd43dd8448eb211c80319c";
/// One that a header names.
const AROUND: &str = "b7ad6b7169203331d4c1b6a6c0e5d0aa";
const PARENT: &str = "00f067aa0ba902b7";
const CANARY: &str = "canary-in-an-argument";

fn scene(settings: &str) -> Context {
    let text = format!("{settings}\n{}", entry("a", &Script::new().tools(3)));
    Context::new().with("switchboard.toml", &text)
}

fn call(hub: &Hub, token: &str, text: &str) -> Value {
    let call = json!({"name": "mcp__a__echo", "arguments": {"text": text}});
    hub.rest("POST", "/api/v1/tools/call", token, Some(&call)).body
}

/// A figure of the metrics.
fn figure(hub: &Hub, token: &str, name: &str) -> Option<u64> {
    let metrics = hub.rest("GET", "/metrics", token, None).text;
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map(|number| number.trim().parse().unwrap())
}

fn named<'s>(spans: &'s [Taken], name: &str) -> &'s Taken {
    spans.iter().find(|taken| taken.span["name"] == name).unwrap_or_else(|| panic!("{spans:#?}"))
}

/// A span that tells of one good call of `echo`, by whom and through which door.
fn check(taken: &Taken, origin: &str, agent: Option<&str>) {
    assert_eq!(taken.span["name"], "tools/call echo");
    assert!(taken.span["status"].is_null(), "{}", taken.span);
    let fact = |key: &str| taken.attributes.get(key).map(String::as_str);
    assert_eq!(fact("switchboard.server"), Some("a"));
    assert_eq!(fact("gen_ai.tool.name"), Some("echo"));
    assert_eq!(fact("mcp.method.name"), Some("tools/call"));
    assert_eq!(fact("switchboard.origin"), Some(origin));
    assert_eq!(fact("switchboard.agent"), agent);
    assert_eq!(fact("switchboard.user"), Some("admin"));
    assert_eq!(fact("switchboard.decision"), Some("allow"));
    assert_eq!(fact("switchboard.outcome"), Some("done"));
    for size in ["switchboard.request.size", "switchboard.response.size"] {
        assert!(fact(size).unwrap().parse::<u64>().unwrap() > CANARY.len() as u64);
    }
    assert_eq!(taken.resource["service.name"], "hub-7");
}

/// What a server was asked lies below the hub's spans, and in a trace that is not kept it stays where
/// it was.
fn below(asked: &str, spans: &[&Taken]) {
    for taken in spans {
        let ids = ["traceId", "spanId"].map(|key| taken.span[key].as_str().unwrap());
        let parent = format!("00-{}-{}-01", ids[0], ids[1]);
        assert_eq!(asked.matches(&parent).count(), 1, "{parent}: {asked}");
    }
    assert_eq!(asked.matches(PARENT).count(), 1, "{asked}");
    assert!(asked.contains(&format!("00-{UNWANTED}-{PARENT}-00")), "{asked}");
}

#[test]
fn calls_arrive_as_spans_of_their_trace() {
    let collector = Collector::start();
    let scratch = Scratch::new();
    let record = scratch.path().join("record");
    let script = Script::new().record(&record);
    let settings = format!("[hub]\ntraces = \"http://{}\"", collector.address());
    let context = Context::new()
        .with("switchboard.toml", &format!("{settings}\n{}", entry("a", &script)))
        .variable("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
        .variable("OTEL_SERVICE_NAME", "hub-7");
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    context.ok(&["agent", "add", "cto"]);
    let made = context.json(&["token", "create", "--agent", "cto"]);
    let token = made["token"].as_str().unwrap();
    let asking = Client::stateless(&hub, "/mcp", token);
    wait("the token is known", || asking.status("tools/list", json!({})) == 200);
    let agent = Client::session(&hub, "/mcp", token);

    // In a trace of the caller's, in one that is not to be kept, and in none.
    let call_in = |trace: &str, flags: &str| {
        let meta = json!({"traceparent": format!("00-{trace}-{PARENT}-{flags}")});
        let params = json!({"name": "a__echo", "arguments": {"text": CANARY}, "_meta": meta});
        let answer = agent.ask("tools/call", params);
        assert_eq!(answer["result"]["content"][0]["text"], CANARY, "{answer}");
    };
    call_in(TRACE, "01");
    call_in(UNWANTED, "00");
    // As HTTP clients tell it.
    let header = format!("00-{AROUND}-{PARENT}-01");
    let params = json!({"name": "a__echo", "arguments": {"text": CANARY}});
    agent.with_header("traceparent", &header).ask("tools/call", params);
    assert_eq!(call(&hub, &admin, CANARY)["content"][0]["text"], CANARY);
    wait("the calls are there", || collector.spans().len() >= 3);
    hub.stop();

    let spans = collector.spans();
    assert_eq!(spans.len(), 3, "{spans:#?}");
    assert!(collector.faults().is_empty(), "{:?}", collector.faults());
    let of = |trace: &str| spans.iter().find(|taken| taken.span["traceId"] == trace).unwrap();
    let (inside, around) = (of(TRACE), of(AROUND));
    let known = [TRACE, AROUND].map(Value::from);
    let outside = spans.iter().find(|taken| !known.contains(&taken.span["traceId"])).unwrap();
    assert_eq!(
        (&inside.span["parentSpanId"], &around.span["parentSpanId"]),
        (&json!(PARENT), &json!(PARENT))
    );
    assert!(outside.span["parentSpanId"].is_null());
    for (taken, origin, agent) in
        [(inside, "mcp", Some("cto")), (around, "mcp", Some("cto")), (outside, "rest", None)]
    {
        check(taken, origin, agent);
    }
    assert!(!format!("{spans:?}").contains(CANARY));
    assert!(collector.requests().iter().all(|headers| headers["x-key"] == "a b"));

    below(&std::fs::read_to_string(&record).unwrap(), &[inside, around, outside]);

    // The record of each call names the same trace.
    let rows = context.json(&["audit", "--action", "mcp_tool_call"]);
    let traces: Vec<&str> =
        rows["items"].as_array().unwrap().iter().filter_map(|row| row["trace"].as_str()).collect();
    for taken in [inside, around, outside] {
        let trace = taken.span["traceId"].as_str().unwrap();
        assert!(traces.iter().any(|row| row.contains(trace)), "{trace} is not in {traces:?}");
    }
    assert!(traces.iter().any(|row| row.contains(UNWANTED)), "{traces:?}");
}

#[test]
fn a_tool_that_fails_is_an_error_in_its_span() {
    let collector = Collector::start();
    let endpoint = format!("http://{}/", collector.address());
    let context = scene("").variable("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
    let hub = Hub::start(&context);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    let broken = json!({"name": "mcp__a__fail", "arguments": {}});
    hub.rest("POST", "/api/v1/tools/call", &admin, Some(&broken));
    // What is left is sent at the end.
    hub.stop();
    let spans = collector.spans();
    let failed = named(&spans, "tools/call fail");
    assert_eq!(failed.span["status"]["code"], 2);
    assert_eq!(failed.attributes["error.type"], "tool_error");
    assert!(collector.faults().is_empty(), "{:?}", collector.faults());
}

#[test]
fn a_collector_that_is_away_costs_no_call_and_what_is_lost_is_counted() {
    let collector = Collector::start();
    let address = collector.address();
    let context = scene(&format!("[hub]\ntraces = \"http://{address}\""));
    let log = context.home().join("hub.log");
    let hub = Hub::start_logging(&context, &log);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    let counted = |name: &str| figure(&hub, &admin, &format!("switchboard_spans_{name}")).unwrap();
    let said = |words: &str| std::fs::read_to_string(&log).unwrap().contains(words);

    // It takes nothing for good: what it was given is lost.
    collector.answer(Some(400));
    assert_eq!(call(&hub, &admin, "x")["content"][0]["text"], "x");
    wait("the loss is counted", || counted("dropped_total") == 1);
    // It takes nothing for now: what it was given is kept.
    collector.answer(Some(503));
    assert_eq!(call(&hub, &admin, "x")["content"][0]["text"], "x");
    wait("it is tried", || collector.requests().len() >= 2);
    assert_eq!(counted("queued"), 1);
    // It is not there at all.
    drop(collector);
    for _ in 0..10 {
        assert_eq!(call(&hub, &admin, "x")["content"][0]["text"], "x");
    }
    wait("it is said", || said("traces do not arrive at the collector"));

    let collector = Collector::at(address);
    wait("everything that was kept arrives", || collector.spans().len() == 11);
    wait("it is said", || said("traces arrive at the collector again"));
    // The collector has them a moment before its answer is counted.
    wait("all of it is counted", || counted("sent_total") == 11);
    assert_eq!((counted("queued"), counted("dropped_total")), (0, 1));
    assert!(collector.faults().is_empty(), "{:?}", collector.faults());
    drop(collector);
    call(&hub, &admin, "x");
    // It ends in good order, however long the collector stays away.
    hub.stop();
}

#[test]
fn without_a_collector_nothing_is_counted_and_a_wrong_address_stops_nothing() {
    let context = scene("").variable("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:/nowhere");
    let log = context.home().join("hub.log");
    let hub = Hub::start_logging(&context, &log);
    connected(&context, &["a"]);
    let admin = person(&context, "admin");
    assert_eq!(call(&hub, &admin, "x")["content"][0]["text"], "x");
    assert_eq!(figure(&hub, &admin, "switchboard_spans_sent_total"), None);
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains("the address for traces is not an http or https URL"), "{said}");
}
