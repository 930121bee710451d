//! Clients of each era before servers of each era: what the eras say differently, and what outlasts
//! a call, reaches whom it is for in words that they know.

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use crate::agents::token;
use crate::client::{Client, Stream};
use crate::context::Context;
use crate::hub::{Hub, connected, entry, wait};

/// A server of each era over each transport: `sp`, `sh`, `tp` and `th`.
struct Scene {
    hub: Hub,
    tokens: [String; 2],
    context: Context,
    _servers: [Scripted; 2],
}

const SERVERS: [&str; 4] = ["sh", "sp", "th", "tp"];

fn scene(change: impl Fn(Script) -> Script) -> Scene {
    let script = |revision: &str| change(Script::new().only(revision).lasting());
    let (session, stateless) = (script("2025-11-25"), script("2026-07-28"));
    let servers = [Scripted::http(&session), Scripted::http(&stateless)];
    let url = |name: &str, at: &Scripted| format!("[servers.{name}]\nurl = {:?}\n", at.url());
    let text = [
        entry("sp", &session),
        entry("tp", &stateless),
        url("sh", &servers[0]),
        url("th", &servers[1]),
        ["one", "two"].map(|agent| format!("[agents.{agent}]\nservers = {SERVERS:?}\n")).concat(),
    ];
    let context = Context::new().with("switchboard.toml", &text.concat());
    let tokens = ["one", "two"].map(|agent| token(&context, agent).0);
    let hub = Hub::start(&context);
    connected(&context, &SERVERS);
    Scene { hub, tokens, context, _servers: servers }
}

impl Scene {
    fn client(&self, agent: usize, able: Value) -> Client {
        Client::stateless(&self.hub, "/mcp", &self.tokens[agent]).able(able)
    }

    fn session(&self, agent: usize, able: Value) -> Client {
        self.client(agent, able).initialized("2025-11-25")
    }
}

/// That a resource does not exist has a code of its own in the session era only.
#[test]
fn a_resource_that_is_not_there() {
    let wrong = "error:code=-32602,method=resources/read,after=2";
    let scene = scene(|script| script.fault(wrong));
    let clients = [(scene.session(0, json!({})), -32002), (scene.client(0, json!({})), -32602)];
    for server in SERVERS {
        let uri = format!("mcp://{server}/scripted://static/none");
        for (client, code) in &clients {
            let answer = client.ask("resources/read", json!({"uri": uri}));
            let error =
                json!({"code": code, "message": "Resource not found", "data": {"uri": uri}});
            assert_eq!(answer["error"], error, "{server}");
        }
        for (client, _) in &clients {
            let answer = client.ask("resources/read", json!({"uri": uri}));
            assert_eq!(answer["error"]["code"], -32602, "wrong params stay so: {answer}");
        }
    }
}

/// Opens a page at a server and accepts it; the name that the page has.
fn open(client: &Client, server: &str, id: &str) -> String {
    let tool = format!("{server}__page_open");
    let call = client.begin("tools/call", json!({"name": tool, "arguments": {"id": id}}));
    let asked = call.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    assert_eq!(asked["params"]["mode"], "url");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}});
    client.tell(&answer);
    assert!(call.next()["result"]["isError"].is_null());
    asked["params"]["elicitationId"].as_str().unwrap().to_owned()
}

#[test]
fn the_end_of_a_page_is_told_to_whom_it_was_shown() {
    let scene = scene(|script| script);
    let able = json!({"elicitation": {"form": {}, "url": {}}});
    let client = scene.session(0, able.clone());
    let others = [
        scene.session(0, able.clone()),
        scene.session(1, able.clone()),
        scene.client(0, able.clone()).initialized("2025-06-18"),
        scene.session(0, json!({"elicitation": {}})),
    ];
    let (own, heard) = (client.hear(), others.each_ref().map(Client::hear));
    let done = |server: &str, id: &str| {
        let told = others[1].call(&format!("{server}__page_done"), json!({"id": id}));
        assert_eq!(told["content"][0]["text"], "told");
    };
    for server in ["sp", "sh"] {
        let told = |id: &str| {
            let told = own.until("notifications/elicitation/complete");
            assert_eq!(told["params"], json!({"elicitationId": id}), "{server}");
        };
        assert_eq!(open(&client, server, "asked"), "asked");
        done(server, "another");
        done(server, "asked");
        told("asked");
        // One that has to be opened before the call is made again.
        let first = json!({"name": format!("{server}__page_open"), "arguments": {"id": "first", "first": true}});
        for client in [&client, &client, &others[2], &others[3]] {
            assert_eq!(client.ask("tools/call", first.clone())["error"]["code"], -32042);
        }
        done(server, "first");
        done(server, "first");
        told("first");
        assert_eq!(own.soon("notifications/elicitation/complete"), None, "it is told once");
    }
    for stream in &heard {
        assert_eq!(stream.soon("notifications/elicitation/complete"), None);
    }
    // The stateless era has no names for pages, and the session era wants them.
    for server in ["tp", "th"] {
        assert_ne!(open(&client, server, ""), "");
    }
}

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Begins a task; its id.
fn begin(client: &Client, server: &str) -> String {
    let tool = format!("{server}__task_begin");
    let answer = client.ask("tools/call", json!({"name": tool, "task": {"ttl": 60_000}}));
    let result = &answer["result"];
    let id = result["taskId"].as_str().or(result["task"]["taskId"].as_str());
    id.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Moves the task of that id on, whoever has it.
fn move_on(scene: &Scene, server: &str, id: &str, status: &str) {
    let own = id.splitn(3, ':').last().unwrap();
    let tool = format!("{server}__task_move");
    let moved = scene.client(1, json!({})).call(&tool, json!({"id": own, "status": status}));
    assert_eq!(moved["content"][0]["text"], status, "{moved}");
}

/// A stream that asks to hear of tasks, and of which it will hear.
fn hear_of(client: &Client, ids: &[&str]) -> (Stream, Value) {
    let wanted = json!({"notifications": {"taskIds": ids, "toolsListChanged": true}});
    let stream = client.begin("subscriptions/listen", wanted);
    let first = stream.next();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    let honoured = &first["params"]["notifications"];
    assert_eq!(honoured["toolsListChanged"], true);
    (stream, honoured["taskIds"].clone())
}

#[test]
fn a_task_is_told_of_to_whoever_listens_to_it() {
    let scene = scene(|script| script);
    let able = json!({"extensions": {TASKS: {}}});
    let (one, two) = (scene.client(0, able.clone()), scene.client(1, able.clone()));
    let told = |stream: &Stream, id: &str| {
        let told = stream.until("notifications/tasks");
        let params = &told["params"];
        assert_eq!(params["taskId"], id, "{params}");
        assert_eq!(params["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
        params.clone()
    };
    for server in ["tp", "th"] {
        let (mine, theirs) = (begin(&one, server), begin(&two, server));
        let (stream, honoured) = hear_of(&one, &[&theirs, &mine, "nonsense"]);
        assert_eq!(honoured, json!([mine]), "only what is one's own");
        let (other, honoured) = hear_of(&two, &[&theirs]);
        assert_eq!(honoured, json!([theirs]));
        move_on(&scene, server, &theirs, "working");
        assert_eq!(told(&other, &theirs)["status"], "working");
        // What the server does not lose outlasts the connection to it.
        if server == "th" {
            scene.context.ok(&["reconnect", server]);
            connected(&scene.context, &SERVERS);
            wait("the task is heard of again", || {
                move_on(&scene, server, &mine, "working");
                stream.soon("notifications/tasks").is_some()
            });
        }
        move_on(&scene, server, &mine, "completed");
        let mut last = told(&stream, &mine);
        while server == "th" && last["status"] == "working" {
            last = told(&stream, &mine);
        }
        assert_eq!(last["status"], "completed", "{last}");
        let uri = format!("mcp://{server}/scripted://static/text");
        assert_eq!(last["result"]["content"][0]["uri"], uri, "the names are the caller's");
        assert_eq!(stream.soon("notifications/tasks"), None);
        assert_eq!(other.soon("notifications/tasks"), None);
    }
    // A task that its server has lost is not promised, and neither is one of the session era.
    let mine = begin(&one, "tp");
    scene.context.ok(&["reconnect", "tp"]);
    connected(&scene.context, &SERVERS);
    let older = begin(&scene.session(0, json!({})), "sp");
    assert_eq!(hear_of(&one, &[&mine, &older]).1, Value::Null);
    let unable = scene.client(0, json!({}));
    let wanted = json!({"notifications": {"taskIds": [mine]}});
    let refused = unable.ask("subscriptions/listen", wanted);
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], able);
}

#[test]
fn a_task_of_the_session_era_is_told_of_to_the_session_that_began_it() {
    let scene = scene(|script| script);
    let one = scene.session(0, json!({}));
    let old = scene.client(0, json!({})).initialized("2025-06-18");
    let others = [scene.session(0, json!({})), scene.session(1, json!({}))];
    let own = one.hear();
    let heard = [&others[0], &others[1], &old].map(Client::hear);
    for server in ["sp", "sh"] {
        let (mine, unheard) = (begin(&one, server), begin(&old, server));
        move_on(&scene, server, &unheard, "working");
        move_on(&scene, server, &mine, "working");
        let told = own.until("notifications/tasks/status");
        let params = &told["params"];
        assert_eq!((&params["taskId"], &params["status"]), (&json!(mine), &json!("working")));
        assert_eq!(params["ttl"], 60_000, "everything else stays");
        move_on(&scene, server, &mine, "completed");
        let told = own.until("notifications/tasks/status");
        assert_eq!(told["params"]["status"], "completed");
    }
    for stream in heard {
        assert_eq!(stream.soon("notifications/tasks/status"), None);
    }
}

/// The token of a call is good for as long as the task that it began.
#[test]
fn how_far_a_task_is_is_told_to_the_session_that_began_it() {
    let scene = scene(|script| script);
    let one = scene.session(0, json!({}));
    let others = [scene.session(0, json!({})), scene.session(1, json!({}))];
    let (own, heard) = (one.hear(), others.each_ref().map(Client::hear));
    for server in ["sp", "sh"] {
        let task = |token: Value| {
            let tool = format!("{server}__task_begin");
            let wanted = json!({"name": tool, "task": {}, "_meta": {"progressToken": token}});
            let begun = one.ask("tools/call", wanted);
            begun["result"]["task"]["taskId"].as_str().expect("a task").to_owned()
        };
        let progress = |id: &str, far: f64| {
            let arguments = json!({"id": id.splitn(3, ':').last(), "progress": far});
            others[1].call(&format!("{server}__task_progress"), arguments);
        };
        let (mine, unheard) = (task(json!("mine")), task(Value::Null));
        progress(&unheard, 0.1);
        progress(&mine, 0.5);
        let told = own.until("notifications/progress");
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": mine}});
        let wanted = json!({"progressToken": "mine", "progress": 0.5, "_meta": related});
        assert_eq!(told["params"], wanted, "{server}");
        move_on(&scene, server, &mine, "completed");
        progress(&mine, 1.0);
        assert_eq!(own.soon("notifications/progress"), None, "{server}: it is over");
    }
    for stream in heard {
        assert_eq!(stream.soon("notifications/progress"), None);
    }
}

/// Two servers may choose the same token towards one client.
#[test]
fn how_far_an_answer_is_is_told_to_the_server_that_asks() {
    let scene = scene(|script| script);
    let one = scene.session(0, json!({"elicitation": {"form": {}}}));
    let calls = ["sp", "sh"].map(|server| {
        let tool = format!("{server}__elicit");
        one.begin("tools/call", json!({"name": tool, "arguments": {"token": "theirs"}}))
    });
    let asked = calls.each_ref().map(Stream::next);
    let tokens = asked.each_ref().map(|asked| &asked["params"]["_meta"]["progressToken"]);
    assert_ne!(tokens[0], tokens[1]);
    let told = json!({"progressToken": tokens[0], "progress": 0.5, "message": "half"});
    one.tell(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}));
    for asked in &asked {
        let result = json!({"action": "decline"});
        one.tell(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    }
    let heard = calls.map(|call| {
        let text = call.next()["result"]["content"][0]["text"].clone();
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap()
    });
    let own = json!({"progressToken": "theirs", "progress": 0.5, "message": "half"});
    assert_eq!(heard, [json!([own]), json!([])]);
}

/// What a server asks for a task is for whoever waits for its result, also where no stream says so.
#[test]
fn a_question_of_a_task_is_for_whoever_waits_for_its_result() {
    let scene = scene(|script| script);
    let able = json!({"elicitation": {"form": {}}});
    let one = scene.session(0, able.clone());
    let others = [scene.session(0, able.clone()), scene.session(1, able)];
    let id = begin(&one, "sp");
    let ask = |client: &Client, awaited: bool| {
        let own = id.splitn(3, ':').last().unwrap();
        let arguments = json!({"task": own, "awaited": awaited, "text": "which?"});
        client.begin("tools/call", json!({"name": "sp__task_ask", "arguments": arguments}))
    };
    let said = |call: &Stream| call.next()["result"]["content"][0]["text"].to_string();
    // Whose call it is that works on it does not matter, though there be no other.
    for client in &others {
        let refused = said(&ask(client, false));
        assert!(refused.contains("nobody waits for the result of the task"), "{refused}");
    }
    let waiting = one.begin("tasks/result", json!({"taskId": id}));
    for client in &others {
        let call = ask(client, true);
        let asked = waiting.next();
        let related = &asked["params"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(
            (&asked["params"]["message"], &related["taskId"]),
            (&json!("which?"), &json!(id))
        );
        let result = json!({"action": "accept", "content": {"answer": "this"}});
        one.tell(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        let answered = said(&call);
        assert!(answered.contains("this"), "{answered}");
    }
    move_on(&scene, "sp", &id, "completed");
    assert_eq!(said(&waiting), json!("the task is over").to_string());
}

/// Whoever listens is promised what the server has agreed to tell, and nothing else.
#[test]
fn a_subscription_is_promised_when_the_server_has_agreed() {
    let scene = scene(|script| script.tells(&["toolsListChanged"]));
    let (client, session) = (scene.client(0, json!({})), scene.session(0, json!({})));
    for (servers, agrees) in [(["tp", "th"], false), (["sp", "sh"], true)] {
        for server in servers {
            let uri = format!("mcp://{server}/scripted://static/text");
            let told = client.listen(&uri).next();
            assert_eq!(told["method"], "notifications/subscriptions/acknowledged", "{told}");
            let honoured = &told["params"]["notifications"];
            assert_eq!(honoured["toolsListChanged"], true, "{server}");
            let promised = if agrees { json!([uri]) } else { Value::Null };
            assert_eq!(honoured["resourceSubscriptions"], promised, "{server}");
            let answer = session.ask("resources/subscribe", json!({"uri": uri}));
            assert_eq!(answer["result"].is_object(), agrees, "{server}: {answer}");
        }
    }
}
