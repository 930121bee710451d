//! A server that dies and comes back while an agent's session lives costs the calls under way, and
//! nothing else.

use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};

use crate::agents::token;
use crate::client::{Client, Stream};
use crate::context::Context;
use crate::hub::{Hub, connected, status, wait};

/// The server's own URI of a resource, and what agents know it by.
const OWN: &str = "scripted://static/text";
const URI: &str = "mcp://a/scripted://static/text";

/// A server that can be killed and comes back as another script says.
struct Server {
    context: Context,
    /// Where it is not on a pipe.
    http: Option<Scripted>,
}

impl Server {
    /// The script is in a file, so that every start reads what it is by then.
    fn pipe(script: &Script) -> Self {
        let context = Context::new().with("script.json", &script.to_json());
        let (program, _) = Scripted::stdio(script);
        let (program, file) = (program.display(), context.work().join("script.json"));
        let line = format!(r#"exec '{program}' stdio --script "$(cat '{}')""#, file.display());
        let entry = format!("command = \"/bin/sh\"\nargs = [\"-c\", {line:?}]\n");
        Self { context: declared(context, &entry), http: None }
    }

    fn http(script: &Script) -> Self {
        let running = Scripted::http(script);
        let entry = format!("url = {:?}\n", running.url());
        Self { context: declared(Context::new(), &entry), http: Some(running) }
    }

    /// Kills it, and lets it come back as another one.
    fn replace(&mut self, script: &Script) {
        if let Some(running) = &mut self.http {
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

fn words(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Calls that are under way when the server dies; what each of them gets.
fn lost(server: &mut Server, clients: &[&Client], next: &Script) -> Vec<Value> {
    let count = clients.len();
    std::thread::scope(|scope| {
        let calls: Vec<_> = clients
            .iter()
            .map(|client| scope.spawn(|| client.call("a__sleep", json!({"ms": 120_000}))))
            .collect();
        wait("the calls are under way", || status(&server.context)[0]["in_flight"] == count);
        server.replace(next);
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
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
        for result in lost(&mut server, &[&session, &stateless], &next) {
            assert_eq!(result["isError"], true, "{result}");
            assert!(words(&result).contains("connection"), "{result}");
        }
        for stream in &streams {
            stream.until("notifications/tools/list_changed");
        }
        for client in [&session, &stateless] {
            assert_eq!(words(&client.call("a__echo", json!({"text": "back"}))), "back");
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
            assert_eq!(words(&client.call("a__touch", json!({"uri": OWN}))), "touched");
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
