//! A running hub, and what is seen of it from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;

const UP: [&str; 4] = ["up", "--listen", "127.0.0.1:0", "--json"];

/// A running hub, killed with the test.
pub(crate) struct Hub {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// What it said when it was up.
    pub(crate) greeting: Value,
}

impl Hub {
    pub(crate) fn start(context: &Context) -> Self {
        Self::greeted(context.start(&UP))
    }

    /// The same, with what it logs in a file.
    pub(crate) fn start_logging(context: &Context, log: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        let command = context.prepare(command.args(UP).stdin(Stdio::null()));
        let log = std::fs::File::create(log).unwrap();
        Self::greeted(command.stdout(Stdio::piped()).stderr(log).spawn().unwrap())
    }

    /// One that was started otherwise.
    pub(crate) fn greeted(mut child: Child) -> Self {
        let mut text = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        // The greeting is one JSON document.
        while serde_json::from_str::<Value>(&text).is_err() {
            text.push_str(&lines.next().expect("a greeting").unwrap());
        }
        let greeting: Value = serde_json::from_str(&text).unwrap();
        let url = greeting["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").to_owned();
        Self { child, address, greeting }
    }

    pub(crate) fn get(&self, path: &str, host: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut stream = sent(&self.address, &head);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it in good order, and waits until it has ended.
    pub(crate) fn stop(mut self) {
        self.signal("-TERM");
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }
}

/// Sends a process a signal.
pub(crate) fn signal(pid: impl ToString, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection on which a request was sent in one piece: one that is written bit by bit may be read by the hub
/// itself or be left to the HTTP library, as it happens, and no test would know which.
pub(crate) fn sent(address: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Waits for something that comes by itself.
pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came about that {what}");
}

/// An entry that serves the script.
pub(crate) fn entry(name: &str, script: &Script) -> String {
    let (command, arguments) = Scripted::stdio(script);
    format!("[servers.{name}]\ncommand = {:?}\nargs = {arguments:?}\n", command.to_str().unwrap())
}

/// How the hub's servers stand, by name.
pub(crate) fn status(context: &Context) -> Vec<Value> {
    let status = context.json(&["status"]);
    assert_eq!(status["running"], true, "{status}");
    status["servers"].as_array().unwrap().clone()
}

/// Waits until the hub has so many servers and so many problems.
pub(crate) fn declared(context: &Context, servers: usize, problems: usize) {
    wait(&format!("there are {servers} servers and {problems} problems"), || {
        let status = context.json(&["status"]);
        let count = |name: &str| status[name].as_array().unwrap().len();
        (count("servers"), count("problems")) == (servers, problems)
    });
}

/// Waits until every server is connected, and returns how they stand.
pub(crate) fn connected(context: &Context, names: &[&str]) -> Vec<Value> {
    let mut now = Vec::new();
    wait(&format!("{names:?} are connected"), || {
        now = status(context);
        let are: Vec<&str> = now.iter().map(|server| server["server"].as_str().unwrap()).collect();
        are == names && now.iter().all(|server| server["ok"] == true)
    });
    now
}
