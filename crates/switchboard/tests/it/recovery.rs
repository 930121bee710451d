//! A server that dies and comes back while an agent's session lives costs the calls under way, and
//! nothing else.

use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted, Speaks};
use switchboard_wire::Era;

use crate::agents::token;
use crate::client::{Client, Stream};
use crate::context::Context;
use crate::hub::{Hub, connected, status, wait};

/// The server's own URI of a resource, and what agents know it by.
const OWN: &str = "scripted://static/text";
const URI: &str = "mcp://a/scripted://static/text";

/// How a server is started that can be killed.
type Start = fn(&Script) -> Server;

/// A server that can be killed and comes back as another script says.
struct Server {
    context: Context,
    /// Where it is not on a pipe.
    far: Option<Scripted>,
}

impl Server {
    /// The script is in a file, so that every start reads what it is by then.
    fn pipe(script: &Script) -> Self {
        let context = Context::new().with("script.json", &script.to_json());
        let (program, _) = Scripted::stdio(script);
        let (program, file) = (program.display(), context.work().join("script.json"));
        let line = format!(r#"exec '{program}' stdio --script "$(cat '{}')""#, file.display());
        let entry = format!("command = \"/bin/sh\"\nargs = [\"-c\", {line:?}]\n");
        Self { context: declared(context, &entry), far: None }
    }

    fn http(script: &Script) -> Self {
        Self::far(Scripted::http(script))
    }

    fn sse(script: &Script) -> Self {
        Self::far(Scripted::sse(script))
    }

    fn far(running: Scripted) -> Self {
        let entry = format!("url = {:?}\n", running.url());
        Self { context: declared(Context::new(), &entry), far: Some(running) }
    }

    /// Kills it, and lets it come back as another one.
    fn replace(&mut self, script: &Script) {
        if let Some(running) = &mut self.far {
            return running.restart(script);
        }
        self.context.write("script.json", &script.to_json());
        let pid = status(&self.context)[0]["pid"].to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    }
}

fn declared(context: Context, entry: &str) -> Context {
    let text = format!("[servers.a]\n{entry}\n[agents.cto]\nservers = [\"a\"]\n");
    context.with("switchboard.toml", &text)
}

/// What is asked of a server, in a way that takes so many milliseconds, and what it says then.
fn asks(ms: u64) -> [(&'static str, Value, &'static str); 3] {
    let slow = json!({"uri": format!("mcp://a/scripted://slow/{ms}")});
    [
        ("tools/call", json!({"name": "a__sleep", "arguments": {"ms": ms}}), "slept"),
        ("resources/read", slow, "slow"),
        (
            "prompts/get",
            json!({"name": "a__plain", "arguments": {"ms": ms.to_string()}}),
            "This is the prompt plain.",
        ),
    ]
}

/// What an answer says, wherever its method has that.
fn text(answer: &Value) -> &str {
    let result = &answer["result"];
    let places = ["/content/0/text", "/contents/0/text", "/messages/0/content/text"];
    places.iter().find_map(|place| result.pointer(place)?.as_str()).unwrap_or_default()
}

/// The answer says that the connection to the server was lost, in the way of its method.
fn check_lost(method: &str, answer: &Value) {
    let said = match method {
        "tools/call" => {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            text(answer)
        }
        _ => {
            assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
            answer["error"]["message"].as_str().unwrap()
        }
    };
    assert!(said.starts_with("The connection to the server `a` ended: "), "{method}: {said}");
    assert_eq!(said.matches("connection ended").count(), 0, "{method}: it is said once: {said}");
}

/// Requests of everything are under way when the server dies: each is answered, and says why it failed.
fn lost(server: &mut Server, clients: &[&Client], next: &Script) {
    std::thread::scope(|scope| {
        let each = clients.iter().flat_map(|client| asks(120_000).map(|asks| (client, asks)));
        let under_way: Vec<_> = each
            .map(|(client, (method, params, _))| {
                (method, scope.spawn(move || client.ask(method, params)))
            })
            .collect();
        let count = under_way.len();
        wait("they are under way", || status(&server.context)[0]["in_flight"] == count);
        server.replace(next);
        for (method, answer) in under_way {
            check_lost(method, &answer.join().unwrap());
        }
    });
}

fn check(mut server: Server, script: &Script) {
    let (token, _) = token(&server.context, "cto");
    let hub = Hub::start(&server.context);
    connected(&server.context, &["a"]);
    let session = Client::session(&hub, "/mcp", &token);
    let stateless = Client::stateless(&hub, "/mcp", &token);
    let streams = [session.listen(URI), stateless.listen(URI)];
    streams[1].until("notifications/subscriptions/acknowledged");
    let tools = session.tools();
    for lives in 1..=2 {
        let next = script.clone().tools(lives);
        lost(&mut server, &[&session, &stateless], &next);
        for stream in &streams {
            stream.until("notifications/tools/list_changed");
        }
        for client in [&session, &stateless] {
            for (method, params, says) in asks(1) {
                assert_eq!(text(&client.ask(method, params)), says, "{method}");
            }
            assert_eq!(client.tools().len(), tools.len() + lives);
        }
        touched(&stateless, URI, &streams);
    }
    connected(&server.context, &["a"]);
}

/// A change of the resource is heard on every stream.
fn touched(client: &Client, uri: &str, streams: &[Stream]) {
    const UPDATED: &str = "notifications/resources/updated";
    for stream in streams {
        // The connection is there a moment before it has subscribed again.
        let mut told = None;
        wait("the change of a resource is told", || {
            let touch = json!({"name": "a__touch", "arguments": {"uri": OWN}});
            assert_eq!(text(&client.ask("tools/call", touch)), "touched");
            told = stream.soon(UPDATED);
            told.is_some()
        });
        assert_eq!(told.unwrap()["params"]["uri"], uri);
    }
}

/// One that is taken out of the file and put back is another server: whoever subscribes again really does.
#[test]
fn declared_anew() {
    for era in ["2025-11-25", "2026-07-28"] {
        let server = Server::http(&Script::new().only(era));
        let context = &server.context;
        let (token, _) = token(context, "cto");
        let hub = Hub::start(context);
        connected(context, &["a"]);
        let session = Client::session(&hub, "/mcp", &token);
        drop(session.listen(URI));
        let file = std::fs::read_to_string(context.work().join("switchboard.toml")).unwrap();
        context.write("switchboard.toml", "[agents.cto]\nservers = []\n");
        wait("it is gone", || status(context).is_empty());
        context.write("switchboard.toml", &file);
        connected(context, &["a"]);
        touched(&session, URI, &[session.listen(URI)]);
    }
}

/// One that comes back and is not ready to be subscribed to: nobody new is promised anything, and it is asked again
/// for who was promised it before.
#[test]
fn that_refuses_a_subscription_for_a_while() {
    let scratch = Scratch::new();
    let loading = scratch.path().join("loading");
    let fault = "error:code=-32603,method=resources/subscribe";
    let script = Script::new().only("2025-11-25").while_file(&loading).fault(fault);
    let mut server = Server::http(&script);
    let (token, _) = token(&server.context, "cto");
    let hub = Hub::start(&server.context);
    connected(&server.context, &["a"]);
    let [one, two] = [(); 2].map(|()| Client::session(&hub, "/mcp", &token));
    let stream = one.listen(URI);
    std::fs::write(&loading, "").unwrap();
    server.replace(&script);
    wait("whoever subscribes is refused", || {
        two.ask("resources/subscribe", json!({"uri": URI}))["error"]["code"] == -32603
    });
    std::fs::remove_file(&loading).unwrap();
    let told = stream.until("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], URI, "it is told to look");
    touched(&one, URI, &[stream]);
}

#[test]
fn over_a_pipe_in_the_session_era() {
    let script = Script::new().only("2025-11-25");
    check(Server::pipe(&script), &script);
}

#[test]
fn over_a_pipe_in_the_stateless_era() {
    let script = Script::new().only("2026-07-28");
    check(Server::pipe(&script), &script);
}

#[test]
fn over_http_in_the_session_era() {
    let script = Script::new().only("2025-11-25");
    check(Server::http(&script), &script);
}

#[test]
fn over_http_in_the_stateless_era() {
    let script = Script::new().only("2026-07-28");
    check(Server::http(&script), &script);
}

#[test]
fn over_sse() {
    for revision in ["2024-11-05", "2025-11-25"] {
        let script = Script::new().only(revision);
        check(Server::sse(&script), &script);
    }
}

/// A client was asked and comes back when the server has died: a server of the session era has forgotten all of it, and
/// one of the stateless era has nothing to forget.
#[test]
fn while_the_client_is_asked() {
    let starts: [(Start, Era); 5] = [
        (Server::pipe, Era::Session),
        (Server::http, Era::Session),
        (Server::sse, Era::Session),
        (Server::pipe, Era::Stateless),
        (Server::http, Era::Stateless),
    ];
    for (start, era) in starts {
        let script = Script::new().speaks(Speaks::Era(era));
        asked(start(&script), &script, era);
    }
}

fn asked(mut server: Server, script: &Script, era: Era) {
    let (token, _) = token(&server.context, "cto");
    let hub = Hub::start(&server.context);
    connected(&server.context, &["a"]);
    let client = Client::stateless(&hub, "/mcp", &token).able(json!({"elicitation": {}}));
    let say = json!({"action": "accept", "content": {"answer": "yes"}});
    let begin = |method: &str, params: &Value| {
        let answer = client.ask(method, params.clone());
        let result = &answer["result"];
        assert_eq!(result["resultType"], "input_required", "{answer}");
        let mut again = params.clone();
        for name in result["inputRequests"].as_object().unwrap().keys() {
            again["inputResponses"][name] = say.clone();
        }
        again["requestState"] = result["requestState"].clone();
        again
    };
    let asks = [
        ("tools/call", json!({"name": "a__elicit", "arguments": {}})),
        ("resources/read", json!({"uri": "mcp://a/scripted://asks/elicit"})),
    ];
    let again = asks.each_ref().map(|(method, params)| begin(method, params));
    server.replace(script);
    let echo = json!({"name": "a__echo", "arguments": {"text": "back"}});
    wait("it is back", || text(&client.ask("tools/call", echo.clone())) == "back");
    for ((method, params), again) in asks.iter().zip(again) {
        let answer = client.ask(method, again);
        match era {
            Era::Session => check_lost(method, &answer),
            Era::Stateless => assert_eq!(text(&answer), say.to_string(), "{method}: {answer}"),
        }
        let answer = client.ask(method, begin(method, params));
        assert_eq!(text(&answer), say.to_string(), "{method}: {answer}");
    }
}
