//! A call through the whole program, from a client's bytes to a server and back: what is nobody's business passes
//! byte for byte, whichever way there is between them.

use crate::agents::token;
use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, connected};
use crate::mirror::{Answers, Era, Mirror, script};

/// Unknown fields, numbers as they were written, order, spaces, escapes, and half of a surrogate pair.
const ODD: &str =
    r#"{ "b":1.0,"a":9223372036854775809, "s":"\ud800 \u00e9 \/","é":[1e2,-0.0,1E+5],"b2":{} }"#;
const ABOUT: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"mine":1.0}"#;

/// A server's answer: what no era has a word for, and what a server of that era adds.
fn answer(era: Era) -> (String, String) {
    let said = format!(
        r#"{{ "content":[{{"type":"text","text":"\udc00","x":{ODD}}}],"z" : {ODD},"structuredContent":{ODD}"#
    );
    let whole = match era {
        Era::Session => format!("{said} }}"),
        Era::Stateless => format!(r#"{said},"resultType":"complete" }}"#),
    };
    (said, whole)
}

/// Asks by a client of each era, and looks at what each of them and the server got.
fn check(hub: &Hub, token: &str, server: &str, era: Era, calls: impl Fn() -> Vec<String>) {
    let (said, whole) = answer(era);
    let sent = |more: &str| {
        let params =
            format!(r#"{{"x-own" : 1.50,"arguments":{ODD},"name":"{server}__say"{more}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
    };
    let session = Client::session(hub, "/mcp", token).raw(&sent(""), "");
    match era {
        Era::Session => {
            assert_eq!(
                session,
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{whole}}}"#),
                "{server}"
            );
        }
        Era::Stateless => assert!(session.contains(&said), "{server}: {session}"),
    }
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {server}__say\r\n"
    );
    let stateless = Client::stateless(hub, "/mcp", token).raw(&sent(ABOUT), &headers);
    // That era's own members follow what the server said.
    assert!(stateless.contains(&said), "{server}: {stateless}");
    let calls = calls();
    assert_eq!(calls.len(), 2, "{server}: {calls:?}");
    for call in &calls {
        let same = format!(r#""params":{{"x-own" : 1.50,"arguments":{ODD},"name":"say""#);
        assert!(call.contains(&same), "{server}: {call}");
    }
    assert!(calls[1].contains(r#""mine":1.0"#), "{server}: {calls:?}");
}

#[test]
fn what_is_nobodys_business_passes_byte_for_byte() {
    let eras = [("session", Era::Session), ("stateless", Era::Stateless)];
    let ways = [("json", Answers::Json), ("events", Answers::Events)];
    let far: Vec<(String, Era, Mirror)> = eras
        .iter()
        .flat_map(|(word, era)| {
            ways.map(|(way, answers)| {
                let mirror = Mirror::start(*era, answers, &answer(*era).1);
                (format!("{word}-{way}"), *era, mirror)
            })
        })
        .collect();
    let context = Context::new();
    let mut names: Vec<String> = far.iter().map(|(name, ..)| name.clone()).collect();
    let mut text = String::new();
    for (name, _, mirror) in &far {
        text.push_str(&format!("[servers.{name}]\nurl = {:?}\n", mirror.url));
    }
    for (word, era) in eras {
        let (name, home) = (format!("{word}-pipe"), context.work().join(word));
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("mirror.sh"), script(era)).unwrap();
        std::fs::write(home.join("answer"), answer(era).1).unwrap();
        text.push_str(&format!(
            "[servers.{name}]\ncommand = \"sh\"\nargs = [\"mirror.sh\"]\ncwd = {home:?}\n"
        ));
        names.push(name);
    }
    names.sort();
    text.push_str(&format!("[agents.cto]\nservers = {names:?}\n"));
    context.write("switchboard.toml", &text);
    let (token, _) = token(&context, "cto");
    let hub = Hub::start(&context);
    connected(&context, &names.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, era, mirror) in &far {
        check(&hub, &token, name, *era, || mirror.calls());
    }
    for (word, era) in eras {
        let file = context.work().join(word).join("calls");
        let calls = || std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
        check(&hub, &token, &format!("{word}-pipe"), era, calls);
    }
}
