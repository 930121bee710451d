//! The names of questions.

use switchboard_wire::{Json, Limits, method};

use super::unused;

#[track_caller]
fn check(asked: &str, params: &str, used: &[&str], expected: &str) {
    let used: Vec<String> = used.iter().map(|key| (*key).to_owned()).collect();
    let params = Json::parse(params.as_bytes(), &Limits::DEFAULT).unwrap();
    assert_eq!(unused(asked, Some(params), &used), expected);
}

#[test]
fn a_form_for_one_thing_is_called_by_it() {
    let form = |properties: &str| format!(r#"{{"requestedSchema":{{"properties":{properties}}}}}"#);
    let name = form(r#"{"name":{}}"#);
    check(method::ELICIT, &name, &[], "user_name");
    check(method::ELICIT, &name, &["user_name"], "user_name-2");
    check(method::ELICIT, &name, &["user_name", "user_name-2"], "user_name-3");
    check(method::ELICIT, &form(r#"{"a":{},"b":{}}"#), &[], "input-1");
    check(method::ELICIT, &form("{}"), &["user_name"], "input-2");
    check(method::ELICIT, &form(r#"{"a b":{}}"#), &[], "input-1");
    check(method::ELICIT, &form(&format!(r#"{{"{}":{{}}}}"#, "x".repeat(65))), &[], "input-1");
    check(method::ELICIT, "{}", &[], "input-1");
    check(method::CREATE_MESSAGE, &name, &[], "input-1");
}
