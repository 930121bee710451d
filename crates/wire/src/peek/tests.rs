//! What is read from params and results.

use super::*;
use crate::json::tests::json;

#[test]
fn result_types() {
    let check = |result, expected| assert_eq!(result_type(json(result)), expected, "{result}");
    check("{}", ResultType::Complete);
    check("null", ResultType::Complete);
    check(r#"{"resultType":"complete"}"#, ResultType::Complete);
    check(r#"{"content":[],"resultType":"input_required"}"#, ResultType::InputRequired);
    check(r#"{"resultType":"task"}"#, ResultType::Task);
    check(r#"{"resultType":"later"}"#, ResultType::Other("later".into()));
    check(r#"{"resultType":7}"#, ResultType::Other("7".into()));
    check(r#"{"result\u0054ype":"t\u0061sk"}"#, ResultType::Task);
}

#[test]
fn wanted_inputs() {
    let check = |result, expected| assert_eq!(wants_input(json(result)), expected, "{result}");
    check("{}", false);
    check(r#"{"resultType":"complete","content":[{"text":"input_required"}]}"#, false);
    check(r#"{"content":[{"text":"\n"}],"resultType" : "input_required"}"#, true);
    check(r#"{"result\u0054ype":"input\u005frequired"}"#, true);
}

#[test]
fn words_that_hide() {
    let meta = json(r#"{"_meta":{"progress\u0054oken":"\n"}}"#);
    assert_eq!(progress_token(meta).map(|token| token.as_str().to_owned()), Some(r#""\n""#.into()));
    assert!(request_state(json(r#"{"\u0072equestState":1}"#)).is_some());
    assert!(input_responses(json(r#"{"inputRe\u0073ponses":1}"#)).is_some());
    assert!(trace(json(r#"{"_meta":{"t\u0072aceparent":"a"}}"#)).is_some());
}

#[test]
fn single_members() {
    let raw = |json: Option<Json<'_>>| json.map(|json| json.as_str().to_owned());
    let params = json(
        r#"{"cursor":"","_meta":{"progressToken":1.0,"io.modelcontextprotocol/subscriptionId":"a"}}"#,
    );
    assert_eq!(raw(progress_token(params)), Some("1.0".to_owned()));
    assert_eq!(raw(subscription_id(params)), Some("\"a\"".to_owned()));
    assert_eq!(cursor(params).as_deref(), Some(""));
    let long = format!("\"{}\"", "x".repeat(2_000));
    for none in ["null", "{}", "true", &long] {
        let params = format!(r#"{{"_meta":{{"progressToken":{none}}}}}"#);
        assert_eq!(raw(progress_token(json(&params))), None);
        assert_eq!(raw(crate::Params::from(json(&params)).progress_token()), None);
    }
    assert_eq!(raw(meta(json(r#"{"_meta":[]}"#))), None);
    let check = |result, failed, next: Option<&str>| {
        assert_eq!(is_error(json(result)), failed, "{result}");
        assert_eq!(next_cursor(json(result)).as_deref(), next, "{result}");
    };
    check("{}", false, None);
    check(r#"{"isError":true,"nextCursor":""}"#, true, Some(""));
    check(r#"{"isError":"true","nextCursor":null}"#, false, None);
    check(r#"{"isError":false,"nextCursor":"p2"}"#, false, Some("p2"));
}

#[test]
fn request_meta() {
    let read = |params| {
        RequestMeta::read(Some(json(params))).map(|meta| {
            [
                meta.protocol_version,
                meta.client_capabilities,
                meta.client_info,
                meta.log_level,
                meta.progress_token,
            ]
            .map(|value| value.map_or("-", Json::as_str))
        })
    };
    let none = ["-"; 5];
    assert_eq!(read("{}"), Ok(none));
    assert_eq!(read(r#"{"_meta":null}"#), Ok(none));
    assert_eq!(
        read(
            r#"{"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info"}}"#
        ),
        Ok(["\"2026-07-28\"", "{}", r#"{"name":"c"}"#, "\"info\"", "1"])
    );
    assert_eq!(read(r#"{"_meta":{},"_meta":{}}"#), Err(Repeated("_meta")));
    assert_eq!(
        read(r#"{"_meta":{"progressToken":1,"progressToken":2}}"#),
        Err(Repeated("progressToken"))
    );
    assert!(RequestMeta::read(None).unwrap().protocol_version.is_none());
}

#[test]
fn traces_and_tokens_are_found_however_they_are_written() {
    for (params, traced, token) in [
        (r#"{"_meta":{"traceparent":"00-a"}}"#, Some("00-a"), None),
        (r#"{"_meta":{"trace\u0070arent":"00-b"}}"#, Some("00-b"), None),
        (r#"{"_meta":{"progress\u0054oken":7}}"#, None, Some("7")),
        (r#"{"_meta":{"progressToken":null}}"#, None, None),
        (r#"{"a":"traceparent progressToken"}"#, None, None),
        (r#"{"traceparent":"00-c","progressToken":1}"#, None, None),
        ("{}", None, None),
    ] {
        let json = json(params);
        assert_eq!(trace(json).as_deref(), traced, "{params}");
        assert_eq!(progress_token(json).map(Json::as_str), token, "{params}");
    }
}

#[test]
fn the_task_of_a_message() {
    let check = |params: &str, task: Option<&str>| {
        assert_eq!(related_task(json(params)).as_deref(), task, "{params}");
    };
    let key = meta::RELATED_TASK;
    check(&format!(r#"{{"_meta":{{"{key}":{{"taskId":"t-1"}}}}}}"#), Some("t-1"));
    check(&format!(r#"{{"_meta":{{"{key}":{{"taskId":1}}}}}}"#), None);
    check(&format!(r#"{{"{key}":{{"taskId":"t-1"}}}}"#), None);
    check("{}", None);
}
