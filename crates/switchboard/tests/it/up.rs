//! `up`: it comes up, follows the files, answers only to its own name, and stops when told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

use crate::context::Context;

/// A running hub, killed with the test.
struct Hub {
    child: Child,
    address: String,
}

impl Hub {
    fn start(context: &Context) -> Self {
        let mut child = context.start(&["up", "--listen", "127.0.0.1:0", "--json"]);
        let mut text = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        // The greeting is one JSON document.
        while serde_json::from_str::<serde_json::Value>(&text).is_err() {
            text.push_str(&lines.next().expect("a greeting").unwrap());
        }
        let greeting: serde_json::Value = serde_json::from_str(&text).unwrap();
        let url = greeting["url"].as_str().unwrap();
        Self { child, address: url.trim_start_matches("http://").to_owned() }
    }

    fn get(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits until the page says this.
    fn until(&self, words: &str) {
        for _ in 0..200 {
            if self.get("/", &self.address).contains(words) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the page never said {words:?}: {}", self.get("/", &self.address));
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn terminate(child: &Child) {
    signal(child, "-TERM");
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

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
        signal(&hub.child, "-HUP");
        hub.until(&servers(2));
        signal(&hub.child, stop);
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
}

#[test]
fn it_says_why_it_does_not_start() {
    let context = Context::new();
    let hub = Hub::start(&context);
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
