//! A scripted server as a test holds it: a command line to declare, or a running program with a
//! URL. What it started it also ends.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::binary::binary;
use super::document::Script;

/// A running HTTP server; killed when dropped.
#[derive(Debug)]
pub struct Scripted {
    child: Child,
    transport: &'static str,
    script: Script,
    port: u16,
    url: String,
    other: Option<String>,
}

impl Scripted {
    /// The command and its arguments that serve the script over stdio.
    pub fn stdio(script: &Script) -> (PathBuf, Vec<String>) {
        let arguments = ["stdio".to_owned(), "--script".to_owned(), script.to_json()];
        (binary().to_owned(), arguments.to_vec())
    }

    /// Serves it over Streamable HTTP.
    pub fn http(script: &Script) -> Self {
        Self::start("http", script.clone(), 0)
    }

    /// Serves it over HTTP+SSE.
    pub fn sse(script: &Script) -> Self {
        Self::start("sse", script.clone(), 0)
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where its second origin is, which `redirect:to=other` leads to.
    pub fn other(&self) -> Option<&str> {
        self.other.as_deref()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it; the URL leads nowhere after that.
    pub fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Starts it again at the same URL, with another script.
    pub fn restart(&mut self, script: &Script) {
        self.kill();
        *self = Self::start(self.transport, script.clone(), self.port);
    }

    /// Starts it again at the same URL.
    pub fn restart_same(&mut self) {
        let script = self.script.clone();
        self.restart(&script);
    }

    fn start(transport: &'static str, script: Script, port: u16) -> Self {
        let mut child = Command::new(binary())
            .args([transport, "--while-stdin", "--port", &port.to_string()])
            .args(["--script", &script.to_json()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the scripted server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its stdout is piped");
        drop(BufReader::new(stdout).read_line(&mut line));
        let Ok(Value::Object(said)) = serde_json::from_str(&line) else {
            drop(child.kill());
            panic!("the scripted server said {line:?} instead of where it is");
        };
        let text = |key| said.get(key).and_then(Value::as_str).map(str::to_owned);
        let port = said["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        Self {
            child,
            transport,
            script,
            port: port.expect("a port"),
            url: text("url").expect("a URL"),
            other: text("other"),
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.kill();
    }
}
