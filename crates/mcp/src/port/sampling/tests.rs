//! What a request for sampling needs, and what is left out of it.

use switchboard_wire::types::Capabilities;
use switchboard_wire::{Json, JsonBuf, Limits, Revision};

use super::{fitting, needs};

fn buffer(text: &str) -> JsonBuf {
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap().into()
}

#[test]
fn tools_have_to_be_declared() {
    for (params, needed) in [
        (r#"{"messages":[]}"#, None),
        (r#"{"tools":[{"name":"x"}]}"#, Some("tools")),
        (r#"{"tools":[]}"#, Some("tools")),
        (r#"{"toolChoice":{"mode":"none"}}"#, Some("tools")),
        (r#"{"tools":null,"includeContext":"thisServer"}"#, None),
    ] {
        assert_eq!(needs(Some(&buffer(params))), needed, "{params}");
    }
}

#[test]
fn context_is_left_out_where_it_has_to_be_declared_and_was_not() {
    let (older, newer) = (Revision::V2025_06_18, Revision::V2025_11_25);
    let latest = Revision::LATEST_STATELESS;
    let (bare, able) = (r#"{"sampling":{}}"#, r#"{"sampling":{"context":{}}}"#);
    let asks = r#"{"a":1.0,"includeContext":"allServers","z":2}"#;
    let none = r#"{"includeContext":"none"}"#;
    let without = r#"{"a":1.0,"z":2}"#;
    for (params, abilities, revision, fits) in [
        (asks, bare, older, asks),
        (asks, bare, newer, without),
        (asks, bare, latest, without),
        (asks, able, newer, asks),
        (asks, able, latest, asks),
        (none, bare, latest, none),
        (without, bare, latest, without),
    ] {
        let abilities = buffer(abilities);
        let abilities = Capabilities::read(Some(abilities.as_json()));
        let fitted = fitting(Some(buffer(params)), Some(&abilities), revision).unwrap();
        assert_eq!(fitted.as_json().as_str(), fits, "{revision}");
    }
}
