//! `up`: it comes up, follows the files, answers only to its own name, and stops when told.

use crate::context::Context;
use crate::hub::Hub;

fn servers(n: usize) -> String {
    format!("<dt>Servers</dt><dd>{n}</dd>")
}

#[test]
fn it_comes_up_with_nothing_and_follows_the_file() {
    let context = Context::new();
    let hub = Hub::start(&context);
    assert!(hub.get("/healthz", &hub.address).ends_with("{\"status\":\"ok\"}"));
    hub.until(&servers(0));
    context.write("switchboard.toml", "[servers.a]\ncommand = \"x\"\n");
    hub.until(&servers(1));
    context.write("switchboard.toml", "[servers.a\n");
    hub.until("<dt>Errors</dt><dd>1</dd>");
    hub.until(&servers(1));
    context.ok(&["add", "--file", "switchboard.json", "b", "cmd"]);
    hub.until(&servers(2));
}

#[test]
fn it_reads_again_on_sighup_and_stops_on_sigterm_and_sigint() {
    for stop in ["-TERM", "-INT"] {
        let context = Context::new().with("switchboard.toml", "[servers.a]\ncommand = \"x\"\n");
        let mut hub = Hub::start(&context);
        context.write(
            "switchboard.toml",
            "[servers.a]\ncommand = \"x\"\n[servers.b]\ncommand = \"x\"\n",
        );
        hub.signal("-HUP");
        hub.until(&servers(2));
        hub.signal(stop);
        assert_eq!(hub.child.wait().unwrap().code(), Some(0), "{stop}");
    }
}

#[test]
fn it_answers_only_to_its_own_name() {
    let context = Context::new();
    let hub = Hub::start(&context);
    let port = hub.address.rsplit_once(':').unwrap().1;
    for (host, status) in [
        (hub.address.clone(), "200"),
        (format!("localhost:{port}"), "200"),
        (format!("evil.example:{port}"), "421"),
        ("evil.example".to_owned(), "421"),
    ] {
        let answer = hub.get("/", &host);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
    }
    // Whoever speaks to the API is told as everything is told there.
    for (path, kind) in [("/api/v1/me", "application/problem+json"), ("/apiary", "text/plain")] {
        let answer = hub.get(path, "evil.example").to_lowercase();
        assert!(answer.contains(&format!("content-type: {kind}")), "{path}: {answer}");
        assert_eq!(answer.contains("\"code\":\"misdirected\""), path == "/api/v1/me", "{answer}");
    }
}

#[test]
fn it_says_why_it_does_not_start() {
    let context = Context::new();
    let hub = Hub::start(&context);
    let second = context.run(&["up"]);
    assert_eq!(second.code, 1);
    let who = format!("a hub already runs (pid {}, http://{})", hub.child.id(), hub.address);
    assert!(
        second.err.contains(&who) && second.err.contains("SWITCHBOARD_STATE_DIR"),
        "{second:?}"
    );
    let context = Context::new();
    let taken = context.run(&["up", "--listen", &hub.address]);
    assert_eq!(taken.code, 1);
    assert!(
        taken.err.contains("another program has it") && taken.err.contains("--listen"),
        "{}",
        taken.err
    );
    let open = context.run(&["up", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, 1);
    assert!(open.err.contains("beyond loopback the hub wants TLS"), "{}", open.err);
}
