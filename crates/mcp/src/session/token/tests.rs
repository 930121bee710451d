//! What an id remembers of a client that said more than fits into it.

use serde_json::{Value, json};
use switchboard_wire::Limits;

use super::*;

#[test]
fn of_too_much_the_id_keeps_what_is_acted_upon() {
    let check = |capabilities: Value, kept: &Value| {
        let text = capabilities.to_string();
        let json = Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap();
        let short = short(&Capabilities::read(Some(json)));
        let short: Value = serde_json::from_str(short.as_json().as_str()).unwrap();
        assert_eq!(short, *kept, "{text}");
        assert!(short.to_string().len() <= CAPABILITIES, "{short}");
    };
    let (long, apps) = ("x".repeat(CAPABILITIES), json!({"mimeTypes": ["text/html"]}));
    let few = json!({"experimental": {"a": 1}, "extensions": {"b": {}}});
    check(few.clone(), &few);
    check(
        json!({"experimental": {"a": long}, "roots": {"listChanged": true}, "extensions": {"apps": apps, "tasks": {}, "none": null}}),
        &json!({"roots": {"listChanged": {}}, "extensions": {"apps": apps, "tasks": {}}}),
    );
    check(
        json!({"extensions": {"long": {"x": long}, (long.clone()): {}, "tasks": {}}}),
        &json!({"extensions": {"long": {}, "tasks": {}}}),
    );
    // What is short may be long once it is written, or be many.
    check(
        json!({"extensions": {("\u{1}".repeat(200)): {}, "tasks": {"x": long}}}),
        &json!({"extensions": {"tasks": {}}}),
    );
    let many = |count: u8| {
        let names = (0..count).map(|n| (format!("x{n:03}"), json!({})));
        json!({"extensions": Value::Object(names.collect())})
    };
    check(many(250), &many(46));
}
