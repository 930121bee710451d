//! `up`: it comes up, follows the files, answers only to its own name, tells strangers nothing, lets its
//! administrator in, and stops when told.

use crate::context::Context;
use crate::hub::{Hub, declared};

#[test]
fn it_comes_up_with_nothing_and_follows_the_file() {
    let context = Context::new();
    let hub = Hub::start(&context);
    assert!(hub.get("/healthz", &hub.address).ends_with("{\"status\":\"ok\"}"));
    declared(&context, 0, 0);
    context.write("switchboard.toml", "[servers.a]\ncommand = \"x\"\n");
    declared(&context, 1, 0);
    context.write("switchboard.toml", "[servers.a\n");
    declared(&context, 1, 1);
    context.ok(&["add", "--file", "switchboard.json", "b", "cmd"]);
    declared(&context, 2, 1);
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
        declared(&context, 2, 0);
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

#[test]
fn it_tells_strangers_nothing_of_what_it_has() {
    let text = "[servers.wiki]\ncommand = \"x\"\n[servers.a\n";
    let context =
        Context::new().with("switchboard.json", r#"{"servers": {"wiki": {"command": "x"}}}"#);
    let empty = Context::new();
    let (some, none) = (Hub::start(&context), Hub::start(&empty));
    declared(&context, 1, 0);
    context.write("switchboard.toml", text);
    declared(&context, 1, 1);
    for path in ["/", "/healthz", "/readyz"] {
        let body = |hub: &Hub| {
            let answer = hub.get(path, &hub.address);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200"), "{path}: {answer}");
            body.to_owned()
        };
        assert_eq!(body(&some), body(&none), "{path} is the same whatever is declared");
    }
}

#[test]
fn its_link_signs_the_administrator_in_once() {
    let context = Context::new();
    let hub = Hub::start(&context);
    let link = hub.greeting["sign_in"].as_str().unwrap();
    let path = link.strip_prefix(&format!("http://{}", hub.address)).unwrap();
    let opened = hub.get(path, &hub.address);
    assert!(opened.starts_with("HTTP/1.1 303"), "{opened}");
    let header = |name: &str| {
        let mut lines = opened.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap()
    };
    assert_eq!(header("location"), "/");
    let cookie = header("set-cookie");
    for word in ["__Host-", "Secure", "HttpOnly", "SameSite=", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    let me = hub.rest_with("GET", "/api/v1/me", &format!("Cookie: {cookie}\r\n"), None);
    assert_eq!((me.status, &me.body["user"]["id"]), (200, &"admin".into()), "{}", me.text);
    assert_eq!(hub.rest_with("GET", "/api/v1/me", "", None).status, 401);
    // It is used up, and said so.
    let again = hub.get(path, &hub.address);
    assert!(again.starts_with("HTTP/1.1 401") && again.contains("used up"), "{again}");
    assert!(!again.to_lowercase().contains("set-cookie"), "{again}");
}
