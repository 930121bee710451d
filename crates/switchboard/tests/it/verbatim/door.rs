//! Ways in for an agent that says its messages byte by byte: POSTs, the older transport, and the program on a pipe.
//! Never judges what comes back.

use std::io::{BufRead, BufReader, Read as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::client::Client;
use crate::context::Context;
use crate::hub::{Hub, sent};
use crate::mirror::Era;

/// How long something may take that must come.
const LONG: Duration = Duration::from_secs(60);
/// How a session begins.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What a client says its messages to. Its requests have the id 7.
pub(super) enum Door {
    /// A POST for each, which brings what it leads to.
    Posts(Client),
    /// One stream for all that the hub says, and a way in beside it.
    Stream { way_in: WayIn, said: Receiver<String> },
}

pub(super) enum WayIn {
    /// Standard input of the program.
    Pipe(ChildStdin),
    /// Where to post to: an address, and the head of the request.
    Posts { address: String, head: String },
}

impl Door {
    /// `switchboard mcp`, which joins the hub that runs.
    pub(super) fn pipe(context: &Context, agent: &str, era: Era) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        let command = context.prepare(command.args(["mcp", "--agent", agent]));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let way_in = WayIn::Pipe(input);
        let door = Self::Stream { way_in, said: said(BufReader::<ChildStdout>::new(output)) };
        // It ends when its input does.
        std::thread::spawn(move || child.wait());
        if era == Era::Session {
            door.greet();
        }
        door
    }

    /// The older transport, of the session era alone.
    pub(super) fn older(hub: &Hub, token: &str) -> Self {
        let address = hub.address.clone();
        let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n");
        let get = format!("GET /sse HTTP/1.1\r\n{head}Accept: text/event-stream\r\n\r\n");
        let mut stream = BufReader::new(sent(&address, &get));
        let mut line = String::new();
        while !line.starts_with("data: ") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0, "it says where to post to");
        }
        let place = line.trim_start_matches("data: ").trim();
        let head = format!(
            "POST {place} HTTP/1.1\r\n{head}Connection: close\r\nContent-Type: application/json\r\n"
        );
        let door = Self::Stream { way_in: WayIn::Posts { address, head }, said: said(stream) };
        door.greet();
        door
    }

    fn greet(&self) {
        let answer = self.messages(HELLO, "").last().unwrap();
        assert!(answer.contains(r#""capabilities""#), "{answer}");
        assert_eq!(self.messages(READY, "").next(), None);
    }

    /// The messages that these bytes bring, as bytes, each as soon as it is there.
    pub(super) fn messages<'d>(
        &'d self,
        body: &str,
        headers: &str,
    ) -> Box<dyn Iterator<Item = String> + 'd> {
        match self {
            Self::Posts(client) => Box::new(client.messages(body, headers)),
            Self::Stream { way_in, said } => {
                way_in.say(body);
                // What is no request is answered by nothing.
                let mut is_over = !body.starts_with(r#"{"jsonrpc":"2.0","id":7,"method":"#);
                Box::new(std::iter::from_fn(move || {
                    let next = (!is_over).then(|| said.recv_timeout(LONG).expect("a message"))?;
                    is_over = ["result", "error"].iter().any(|member| {
                        next.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":7,"{member}":"#))
                    });
                    Some(next)
                }))
            }
        }
    }
}

impl WayIn {
    fn say(&self, message: &str) {
        match self {
            Self::Pipe(input) => {
                use std::io::Write as _;
                let mut input = input;
                input.write_all(format!("{message}\n").as_bytes()).unwrap();
            }
            Self::Posts { address, head } => {
                let length = message.len();
                let request = format!("{head}Content-Length: {length}\r\n\r\n{message}");
                let mut answer = String::new();
                sent(address, &request).read_to_string(&mut answer).unwrap();
                assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
            }
        }
    }
}

/// The messages on a stream; that lists change belongs to none of ours. Ends with the stream.
fn said(stream: impl BufRead + Send + 'static) -> Receiver<String> {
    let (sender, said) = channel();
    std::thread::spawn(move || {
        for line in stream.lines().map_while(Result::ok) {
            let line = line.trim_start_matches("data: ");
            if line.starts_with('{') && !line.contains(r#"/list_changed""#) {
                let _ = sender.send(line.to_owned());
            }
        }
    });
    said
}
