//! What each step does with its port's answer, and that every call is recorded once.

use std::borrow::Cow;
use std::sync::Mutex;
use std::task::{Context, Waker};
use std::time::Duration;

use switchboard_model::{Decision, Outcome, ServerKey};
use switchboard_testkit::clock::ManualClock;
use switchboard_wire::JsonBuf;

use super::*;
use crate::port::{
    Answer, Blocked, BoxFuture, Call, Caller, Checked, Done, LONGEST_TRACE, RpcError, Undecided,
    Verdict,
};

/// Records as `agent server tool: decision, outcome, cut`.
#[derive(Default)]
struct Records(Mutex<Vec<String>>);

impl Record for Records {
    fn record(&self, call: &Call<'_>, done: &Done<'_>) {
        let agent = call.who.agent.as_ref().unwrap();
        let decision = done.decision.map_or("none", Decision::as_str);
        let tool = call.tool.map_or("-", |tool| tool.name.as_str());
        let outcome = done.outcome.as_str();
        let text = format!(
            "{agent} {} {} {tool} as {}: {decision} ({}), {outcome} after {} s, {} and {} bytes",
            call.server,
            call.subject,
            call.published,
            done.reason,
            done.elapsed.as_secs(),
            done.sent,
            done.received
        );
        self.0.lock().unwrap().push(text);
    }
}

struct Policy(Result<Verdict, Undecided>, Result<Answer, Undecided>);

impl Decide for Policy {
    fn decide(&self, _: &Call<'_>) -> Result<Verdict, Undecided> {
        self.0.clone()
    }

    fn approve<'a>(
        &'a self,
        _: &'a Call<'a>,
        verdict: &'a Verdict,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<Answer, Undecided>> {
        assert_eq!(verdict.decision, Decision::Ask);
        Box::pin(std::future::ready(self.1.clone()))
    }
}

fn refused(reason: &'static str) -> Answer {
    Answer::Refused(Cow::Borrowed(reason))
}

#[test]
fn decisions() {
    let check = |policy: Policy, expected: Result<(), &str>, record: &str| {
        let records = Arc::new(Records::default());
        let scene = scene("{}", &Surface::mcp());
        let ports =
            Ports { decide: Arc::new(policy), record: records.clone(), ..kit::ports(&scene.echo) };
        let scene = Scene { router: kit::router(ports), ..scene };
        let got = scene.call("tools/call", r#"{"name":"a__x"}"#);
        let denied = |reason: &str| CallError::Denied { reason: reason.to_owned() };
        assert_eq!(got.map(drop), expected.map_err(denied));
        assert_eq!(scene.echo.asked().len(), usize::from(expected.is_ok()), "{record}");
        let record = format!("one a x x as a__x: {record}");
        assert_eq!(*records.0.lock().unwrap(), [record]);
    };
    let broken = || Undecided("it is broken".to_owned());
    let allow = || Ok(Verdict::allow("fine"));
    let ask = || Ok(Verdict::ask("it writes"));
    let yes = || Ok(Answer::Approved);
    check(Policy(allow(), yes()), Ok(()), "allow (fine), done after 0 s, 12 and 2 bytes");
    check(Policy(ask(), yes()), Ok(()), "ask (it writes), done after 0 s, 12 and 2 bytes");
    check(
        Policy(ask(), Ok(refused("no"))),
        Err("no"),
        "ask (it writes), refused after 0 s, 12 and 0 bytes",
    );
    check(
        Policy(Ok(Verdict::deny("a rule")), yes()),
        Err("a rule"),
        "deny (a rule), refused after 0 s, 12 and 0 bytes",
    );
    // What cannot be decided does not run.
    let reason = "no decision could be made: it is broken";
    check(
        Policy(Err(broken()), yes()),
        Err(reason),
        "none (no decision could be made), refused after 0 s, 12 and 0 bytes",
    );
    check(
        Policy(ask(), Err(broken())),
        Err(reason),
        "ask (it writes), refused after 0 s, 12 and 0 bytes",
    );
}

#[test]
fn what_the_router_answers_itself_is_a_call_too() {
    let check = |verdict: Verdict, method: &str, params: &str, record: &str| {
        let scene = scene("{}", &Surface::mcp());
        let records = Arc::new(Records::default());
        let policy = Policy(Ok(verdict), Ok(Answer::Approved));
        let ports =
            Ports { decide: Arc::new(policy), record: records.clone(), ..kit::ports(&scene.echo) };
        let scene = Scene { router: kit::router(ports), ..scene };
        let result = scene.call(method, params);
        assert_eq!(scene.echo.asked(), []);
        let records = records.0.lock().unwrap().clone();
        assert_eq!(records.len(), 1, "{records:?}");
        let bytes = result.map_or(0, |result| result.len());
        let record =
            format!("one switchboard {record} after 0 s, {} and {bytes} bytes", params.len());
        assert_eq!(records[0], record);
    };
    let (yes, no) = (|| Verdict::allow("all"), || Verdict::deny("a rule"));
    let tool = r#"{"name":"read_result","arguments":{"id":"x"}}"#;
    let of_tool = "read_result read_result as read_result:";
    check(yes(), "tools/call", tool, &format!("{of_tool} allow (all), tool_error"));
    check(no(), "tools/call", tool, &format!("{of_tool} deny (a rule), refused"));
    let read = r#"{"uri":"switchboard://results/anything"}"#;
    let family = "switchboard://results/{id} - as switchboard://results/{id}:";
    check(no(), "resources/read", read, &format!("{family} deny (a rule), refused"));
    check(yes(), "resources/read", read, &format!("{family} allow (all), refused"));
    let nowhere = "unknown - as unknown: none (nobody offers it to this caller), refused";
    check(yes(), "tools/call", r#"{"name":"a__what"}"#, nowhere);
    check(yes(), "resources/templates", "{}", nowhere);
}

/// What went wrong, as it is told.
#[derive(Default)]
struct Errors(Mutex<Vec<String>>);

impl Record for Errors {
    fn record(&self, _: &Call<'_>, done: &Done<'_>) {
        self.0.lock().unwrap().extend(done.error.map(str::to_owned));
    }
}

#[test]
fn what_a_server_repeats_is_told_without_secrets() {
    let check = |message: &str, expected: &str| {
        let errors = Arc::new(Errors::default());
        let scene = scene("{}", &Surface::mcp());
        let failed = Slow(Some(Err(CallError::Rpc(RpcError::new(-32000, message)))));
        let ports = Ports { record: errors.clone(), ..Ports::new(Arc::new(failed)) };
        let scene = Scene { router: kit::router(ports), ..scene };
        let arguments =
            r#"{"user":"anna","password":"open \"sesame\"","pin":[193847],"note":"plain"}"#;
        let params = format!(r#"{{"name":"a__x","arguments":{arguments}}}"#);
        scene.call("tools/call", &params).unwrap_err();
        assert_eq!(*errors.0.lock().unwrap(), [expected], "{message}");
    };
    check("no such bucket: plain", "no such bucket: plain (-32000)");
    check("anna cannot open with open \"sesame\"", "anna cannot open with [redacted] (-32000)");
    check(r#"sent: {"x":"open \"sesame\""}"#, r#"sent: {"x":"[redacted]"} (-32000)"#);
    check("193847 is wrong", "[redacted] is wrong (-32000)");
    check("at postgres://joe:hunter2@db/x", "at postgres://joe:[redacted]@db/x (-32000)");
    check("refused: api_key=hunter2 expired", "refused: api_key=[redacted] expired (-32000)");
    // A secret at the end of what is told is none of it.
    let long = "x ".repeat(145);
    check(&format!("{long}open \"sesame\""), &format!("{long}[redacted]"));
}

#[test]
fn nobody_to_ask() {
    struct Asks;
    impl Decide for Asks {
        fn decide(&self, _: &Call<'_>) -> Result<Verdict, Undecided> {
            Ok(Verdict::ask("always"))
        }
    }
    let scene = scene("{}", &Surface::mcp());
    let ports = Ports { decide: Arc::new(Asks), ..kit::ports(&scene.echo) };
    let scene = Scene { router: kit::router(ports), ..scene };
    let refused = scene.call("tools/call", r#"{"name":"a__x"}"#).unwrap_err();
    assert!(refused.to_string().contains("nobody to ask"), "{refused}");
    assert_eq!(scene.echo.asked(), []);
}

#[test]
fn guarded() {
    struct Guards(Result<Checked, Blocked>, Result<Checked, Blocked>);
    impl Guard for Guards {
        fn request(&self, call: &Call<'_>) -> Result<Checked, Blocked> {
            assert_eq!(call.params.as_str(), r#"{"name":"x"}"#);
            self.0.clone()
        }
        fn result(&self, _: &Call<'_>, result: &JsonBuf) -> Result<Checked, Blocked> {
            assert_eq!(result.as_json().as_str(), r#"{"r":1}"#);
            self.1.clone()
        }
    }
    let check = |guard: Guards, sent: Option<&str>, expected: Result<&str, &str>| {
        let scene = scene(r#"{"r":1}"#, &Surface::mcp());
        let ports = Ports { guard: Arc::new(guard), ..kit::ports(&scene.echo) };
        let scene = Scene { router: kit::router(ports), ..scene };
        let got = scene.call("tools/call", r#"{"name":"a__x"}"#);
        let blocked = |reason: &str| CallError::Blocked { reason: reason.to_owned() };
        assert_eq!(got, expected.map(str::to_owned).map_err(blocked));
        let asked = scene.echo.asked().pop().map(|(_, _, params)| params);
        assert_eq!(asked.as_deref(), sent);
    };
    let pass = || Ok(Checked::Pass);
    let replaced = |text: &str| Ok(Checked::Replaced(buf(text)));
    let no = || Err(Blocked("a secret".to_owned()));
    check(Guards(pass(), pass()), Some(r#"{"name":"x"}"#), Ok(r#"{"r":1}"#));
    check(Guards(replaced(r#"{"q":2}"#), pass()), Some(r#"{"q":2}"#), Ok(r#"{"r":1}"#));
    check(Guards(pass(), replaced("{}")), Some(r#"{"name":"x"}"#), Ok("{}"));
    check(Guards(no(), pass()), None, Err("a secret"));
    check(Guards(pass(), no()), Some(r#"{"name":"x"}"#), Err("a secret"));
}

/// Answers in its own time, or never.
struct Slow(Option<Result<JsonBuf, CallError>>);

impl Servers for Slow {
    fn call<'a>(
        &'a self,
        _: &'a ServerKey,
        _: &'a str,
        _: Option<switchboard_wire::Params<'a>>,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        match self.0.clone() {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::pending()),
        }
    }
}

#[test]
fn however_it_ends() {
    let check = |answer: Option<Result<JsonBuf, CallError>>, outcome: Outcome| {
        let (records, clock) = (Arc::new(Records::default()), Arc::new(ManualClock::new()));
        let scene = scene("{}", &Surface::mcp());
        let mut ports = Ports::new(Arc::new(Slow(answer)));
        (ports.record, ports.clock) = (records.clone(), clock.clone());
        let router = kit::router(ports);
        let (origin, method) = (CallOrigin::Mcp, "tools/call");
        let (view, who, params) = (&*scene.view, &scene.who, json(r#"{"name":"a__x"}"#));
        let request = Request { view, who, origin, method, params: params.into(), trace: None };
        let caller = Caller::default();
        let mut call = Box::pin(router.call(&request, &caller));
        let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            assert!(records.0.lock().unwrap().is_empty());
            clock.advance(Duration::from_secs(3));
        }
        drop(call);
        let records = records.0.lock().unwrap().clone();
        assert_eq!(records.len(), 1);
        let expected = if outcome == Outcome::Cancelled { " after 3 s" } else { " after 0 s" };
        assert!(records[0].contains(&format!("{}{expected}", outcome.as_str())), "{records:?}");
    };
    check(None, Outcome::Cancelled);
    check(Some(Ok(buf("{}"))), Outcome::Done);
    check(Some(Ok(buf(r#"{"isError":true}"#))), Outcome::ToolError);
    check(Some(Err(RpcError::new(-32602, "no").into())), Outcome::Refused);
    check(Some(Err(CallError::TimedOut { after: Duration::ZERO })), Outcome::TimedOut);
    check(Some(Err(CallError::Unknown)), Outcome::Lost);
}

/// Records of which trace each call is.
#[derive(Default)]
struct Traces(Mutex<Vec<Option<usize>>>);

impl Record for Traces {
    fn record(&self, call: &Call<'_>, _: &Done<'_>) {
        self.0.lock().unwrap().push(call.trace.map(str::len));
    }
}

#[test]
fn a_trace_that_is_none_is_not_recorded() {
    let traces = Arc::new(Traces::default());
    let scene = scene("{}", &Surface::mcp());
    let ports = Ports { record: traces.clone(), ..kit::ports(&scene.echo) };
    let (router, who, view) = (kit::router(ports), &scene.who, &scene.view);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (name, bytes, recorded) in [
        ("a__x", LONGEST_TRACE, Some(LONGEST_TRACE)),
        ("a__x", LONGEST_TRACE + 1, None),
        ("nobody", LONGEST_TRACE + 1, None),
        ("read_result", LONGEST_TRACE + 1, None),
    ] {
        let (trace, params) = ("x".repeat(bytes), format!(r#"{{"name":"{name}"}}"#));
        let (origin, method, params) = (CallOrigin::Rest, "tools/call", json(&params).into());
        let request = Request { view, who, origin, method, params, trace: Some(&trace) };
        let _ = runtime.block_on(router.call(&request, &Caller::default()));
        assert_eq!(traces.0.lock().unwrap().pop(), Some(recorded), "{name} {bytes}");
    }
}
