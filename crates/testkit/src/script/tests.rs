//! The script as a document: every name parses, nothing is lost on the way, mistakes are named.

use super::{Fault, Rule, Script, names};

#[test]
fn every_name_is_a_fault_and_survives_the_way_through_json() {
    for name in names() {
        let script = Script::new().fault(Rule::parse(name).expect(name).after(1).times(2));
        let read: Script = serde_json::from_str(&script.to_json()).expect(name);
        assert_eq!(read, script, "{name}");
    }
}

#[test]
fn a_rule_as_text() {
    let check = |text: &str, expected: Rule| assert_eq!(Rule::parse(text).as_ref(), Ok(&expected));
    check("hang:ms=5", Fault::Hang { ms: 5 }.into());
    check("ignore_ping", Rule::from(Fault::Silent {}).at("ping"));
    check(
        "silent:tool=echo,after=1,times=2",
        Rule::from(Fault::Silent {}).tool("echo").after(1).times(2),
    );
    check(
        r#"{"do":"delay","ms":7,"method":"ping"}"#,
        Rule::from(Fault::Delay { ms: 7 }).at("ping"),
    );
}

#[test]
fn a_rule_of_some_messages() {
    let rule = Rule::parse("error:method=tools/list,about=second").expect("a rule");
    let check = |method, params: &str, expected| {
        let params = serde_json::from_str(params).expect("JSON");
        assert_eq!(rule.concerns(Some(method), None, &params), expected, "{method} {params}");
    };
    check("tools/list", r#"{"cursor":"the second"}"#, true);
    check("tools/list", r#"{"cursor":"third"}"#, false);
    check("tools/list", "null", false);
    check("prompts/list", r#"{"cursor":"second"}"#, false);
}

#[test]
fn a_mistake_is_named() {
    let check = |text: &str, expected: &str| {
        let problem = Rule::parse(text).expect_err(text);
        assert!(problem.contains(expected), "{problem}");
    };
    check("explode", "no fault `\"explode\"`; there are slow_start");
    check("hang:ms", "`ms` is not KEY=VALUE");
    check("hang:seconds=5", "unknown field `seconds`");
    check("silent:ms=5", "unknown field `ms`");
    check("hang:ms=soon", "invalid type");
    check("hang:times=often", "invalid type");
    let problem = serde_json::from_str::<Script>(r#"{"toolz":1}"#).expect_err("no such key");
    assert!(problem.to_string().contains("unknown field `toolz`"));
}
