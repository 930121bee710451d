//! With nothing wrong, a server answers a whole session, in every transport and revision.

use serde_json::{Value, json};
use switchboard_testkit::script::{Answers, Script};
use switchboard_wire::{Era, Revision, meta, method};

use crate::client::{Client, text};
use crate::links::Link;

#[test]
fn stdio() {
    for revision in Revision::SUPPORTED {
        whole(Client::stdio(&Script::new(), revision));
        whole(Client::stdio(&Script::new().only(revision.as_str()), revision));
    }
}

#[test]
fn streamable_http() {
    for revision in Revision::SUPPORTED {
        whole(Client::http(&Script::new(), revision));
        whole(Client::http(&Script::new().only(revision.as_str()), revision));
        let events = Script { keep_alive_ms: Some(5), retry_ms: Some(10), ..Script::new() };
        whole(Client::http(&events.answers(Answers::Sse), revision));
    }
}

#[test]
fn http_and_sse() {
    for revision in Revision::SUPPORTED.into_iter().filter(|one| one.era() == Era::Session) {
        whole(Client::sse(&Script::new(), revision));
    }
}

fn whole(mut client: Client<impl Link>) {
    handshake(&mut client);
    lists(&mut client);
    calls(&mut client);
    reading(&mut client);
    progress(&mut client);
    questions(&mut client);
    changes(&mut client);
    logs(&mut client);
    cancelling(&mut client);
}

fn handshake(client: &mut Client<impl Link>) {
    let result = client.connect();
    if client.is_stateless() {
        let versions = result["supportedVersions"].as_array().expect("versions");
        assert!(versions.contains(&client.revision.as_str().into()), "{result}");
        assert_eq!(result[meta::META][meta::SERVER_INFO]["name"], "scripted");
        assert_eq!(client.request(method::PING, json!({}))["error"]["code"], -32601);
    } else {
        assert_eq!(result["protocolVersion"], client.revision.as_str());
        assert_eq!(result["serverInfo"]["name"], "scripted");
        assert_eq!(client.request(method::PING, json!({}))["result"], json!({}));
    }
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
}

fn lists(client: &mut Client<impl Link>) {
    let mut count = |method: &str, key: &str| {
        let result = client.request(method, json!({}))["result"].take();
        assert_eq!(result["nextCursor"], Value::Null);
        assert_eq!(result["resultType"] == "complete", client.is_stateless());
        result[key].as_array().expect(key).len()
    };
    assert_eq!(count(method::TOOLS_LIST, "tools"), 17);
    assert_eq!(count(method::RESOURCES_LIST, "resources"), 3);
    assert_eq!(count(method::TEMPLATES_LIST, "resourceTemplates"), 1);
    assert_eq!(count(method::PROMPTS_LIST, "prompts"), 2);
}

fn calls(client: &mut Client<impl Link>) {
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(text(&client.call("echo", json!({"text": "ö\n\"x\""}))), "ö\n\"x\"");
    let sum = client.call("add", json!({"a": 1, "b": 2.5}));
    let structured = client.revision >= Revision::V2025_06_18;
    assert_eq!(sum["result"]["structuredContent"]["sum"] == 3.5, structured);
    assert_eq!(text(&client.call("big", json!({"bytes": 300_000}))).len(), 300_000);
    assert_eq!(client.call("fail", json!({}))["result"]["isError"], true);
    assert_eq!(code(&client.call("rpc_error", json!({"code": -5}))), Some(-5));
    assert_eq!(code(&client.call("nothing", json!({}))), Some(-32602));
    assert_eq!(code(&client.request("no/such", json!({}))), Some(-32601));
    assert!(text(&client.call("pid", json!({}))).parse::<u32>().is_ok());
    assert_eq!(client.call("env", json!({"name": "NOT_SET_HERE"}))["result"]["isError"], true);
    assert!(text(&client.call("cwd", json!({}))).starts_with('/'));
}

fn reading(client: &mut Client<impl Link>) {
    let mut read = |uri: &str| client.request(method::RESOURCES_READ, json!({"uri": uri}));
    assert_eq!(read("scripted://static/text")["result"]["contents"][0]["text"], "hello world");
    assert_eq!(read("scripted://item/7")["result"]["contents"][0]["text"], "item 7");
    assert_eq!(read("scripted://slow/1")["result"]["contents"][0]["text"], "slow");
    let missing = read("scripted://nothing")["error"]["code"].as_i64();
    assert_eq!(missing, Some(if client.is_stateless() { -32602 } else { -32002 }));
    let greeting = json!({"name": "greet", "arguments": {"name": "Ada"}});
    let prompt = client.request(method::PROMPTS_GET, greeting);
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Say hello to Ada.");
    let argument = json!({"ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "name", "value": "al"}});
    let completion = client.request(method::COMPLETE, argument);
    assert_eq!(completion["result"]["completion"]["values"], json!(["alice", "albert"]));
}

fn progress(client: &mut Client<impl Link>) {
    let params = json!({"name": "progress", "arguments": {"steps": 3, "ms": 1},
        "_meta": {"progressToken": "p"}});
    assert_eq!(text(&client.request(method::TOOLS_CALL, params)), "done");
    let steps: Vec<_> =
        client.aside().iter().map(|step| step["params"]["progress"].clone()).collect();
    assert_eq!(steps, [1, 2, 3]);
}

fn questions(client: &mut Client<impl Link>) {
    let tool = |name: &str| json!({"name": name, "arguments": {"text": "?"}});
    for (wants, mut params, asked) in [
        (method::TOOLS_CALL, tool("elicit"), method::ELICIT),
        (method::TOOLS_CALL, tool("sample"), method::CREATE_MESSAGE),
        (method::TOOLS_CALL, tool("roots"), method::ROOTS_LIST),
        (method::RESOURCES_READ, json!({"uri": "scripted://asks/elicit"}), method::ELICIT),
    ] {
        let mine = json!({"said": asked});
        let id = client.ask(wants, params.clone());
        let answer = if client.is_stateless() {
            let result = client.answer(id)["result"].take();
            assert_eq!(result["resultType"], "input_required");
            assert_eq!(result["inputRequests"]["input"]["method"], asked);
            params["inputResponses"] = json!({"input": mine});
            params["requestState"] = result["requestState"].clone();
            client.request(wants, params)
        } else {
            let question = client.heard(asked);
            client.link.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": mine}));
            client.answer(id)
        };
        let result = &answer["result"];
        let content = result.get("content").or(result.get("contents")).expect("content");
        assert_eq!(content[0]["text"], mine.to_string());
    }
}

fn changes(client: &mut Client<impl Link>) {
    let uri = "scripted://static/text";
    if client.is_stateless() {
        let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [uri]});
        let id = client.ask(method::LISTEN, json!({"notifications": wanted}));
        let opened = client.heard(method::ACKNOWLEDGED);
        assert_eq!(opened["params"][meta::META][meta::SUBSCRIPTION_ID], id);
    } else {
        client.link.open_channel();
        client.request(method::SUBSCRIBE, json!({"uri": uri}));
    }
    client.call("change_tools", json!({}));
    let heard = client.heard(method::TOOLS_CHANGED);
    assert_eq!(heard["params"].is_object(), client.is_stateless());
    let tools = client.request(method::TOOLS_LIST, json!({}));
    assert_eq!(tools["result"]["tools"][17]["name"], "extra_1");
    assert_eq!(text(&client.call("extra_1", json!({"text": "new"}))), "new");
    client.call("touch", json!({"uri": uri}));
    assert_eq!(client.heard(method::RESOURCE_UPDATED)["params"]["uri"], uri);
}

fn logs(client: &mut Client<impl Link>) {
    let mut params = json!({"name": "log", "arguments": {"level": "error", "text": "oh"}});
    if client.is_stateless() {
        client.request(method::TOOLS_CALL, params.clone());
        assert!(client.aside().is_empty(), "no log message without a level");
        params[meta::META][meta::LOG_LEVEL] = "warning".into();
    } else {
        client.request(method::SET_LEVEL, json!({"level": "warning"}));
    }
    client.call("log", json!({"level": "info", "text": "ah"}));
    client.request(method::TOOLS_CALL, params);
    assert_eq!(client.heard(method::LOG_MESSAGE)["params"]["data"], "oh");
}

fn cancelling(client: &mut Client<impl Link>) {
    if client.is_stateless() {
        return; // over HTTP by leaving, which has a test of its own
    }
    let params = json!({"name": "progress", "arguments": {"steps": 2000, "ms": 5},
        "_meta": {"progressToken": "c"}});
    let id = client.ask(method::TOOLS_CALL, params);
    // Over HTTP the two travel side by side.
    client.heard(method::PROGRESS);
    client.notify(method::CANCELLED, json!({"requestId": id}));
    let quiet = (0..200).any(|_| {
        assert_eq!(text(&client.call("sleep", json!({"ms": 100}))), "slept");
        let aside = client.aside();
        assert!(aside.iter().all(|message| message["id"] != id), "{aside:?}");
        aside.is_empty()
    });
    assert!(quiet, "it goes on");
}
