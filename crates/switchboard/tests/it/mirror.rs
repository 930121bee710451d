//! Servers that note what they get as it comes, byte for byte, and say what they were given to say: on a pipe and
//! behind HTTP, as JSON and as events, of either era. What they tell and ask before an answer comes as events always.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What it says when it is met, and of what it has.
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{},"logging":{}},"serverInfo":{"name":"mirror","version":"1"}}"#;
const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{},"logging":{}},"ttlMs":60000,"cacheScope":"public"}"#;
const LISTS: [(&str, &str); 4] = [
    (
        "tools",
        r#"[{"name":"say","inputSchema":{"type":"object"}},{"name":"work","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}}]"#,
    ),
    ("resources", r#"[{"name":"it","uri":"mirror:it"}]"#),
    ("resourceTemplates", "[]"),
    ("prompts", r#"[{"name":"tell"}]"#),
];

/// How long an answer may take that must come.
const LONG: Duration = Duration::from_secs(60);

/// The era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Session,
    Stateless,
}

/// How it is reached, and how it answers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Pipe,
    Json,
    Events,
}

/// What it says: results without their end, which is the era's, and params.
#[derive(Clone)]
pub(crate) struct Words {
    /// Of its tools. `work` tells of progress and logs before, and `ask` asks before.
    pub(crate) call: String,
    /// Of its resource `mirror:it`.
    pub(crate) read: String,
    /// Of its prompt `tell`.
    pub(crate) prompt: String,
    /// What is told of progress besides whose it is.
    pub(crate) progress: String,
    /// What is logged.
    pub(crate) log: String,
    /// What is asked; in the stateless era by the name of `q`.
    pub(crate) question: String,
}

impl Era {
    /// A whole result.
    pub(crate) fn whole(self, said: &str) -> String {
        match self {
            Self::Session => format!("{said} }}"),
            Self::Stateless => format!(r#"{said},"resultType":"complete" }}"#),
        }
    }

    /// The result of a request that is for nothing it has.
    fn result(self, message: &str) -> Option<String> {
        let list = |(list, rows): &(&str, &str)| {
            let method = if *list == "resourceTemplates" { "resources/templates" } else { list };
            let result = format!(
                r#"{{"resultType":"complete","{list}":{rows},"ttlMs":60000,"cacheScope":"public"}}"#
            );
            is(message, &format!("{method}/list")).then_some(result)
        };
        match self {
            Self::Session if is(message, "initialize") => Some(INITIALIZED.to_owned()),
            Self::Session if is(message, "ping") || is(message, "logging/setLevel") => {
                Some("{}".to_owned())
            }
            Self::Stateless if is(message, "server/discover") => Some(DISCOVERED.to_owned()),
            _ => LISTS.iter().find_map(list),
        }
    }
}

fn is(message: &str, method: &str) -> bool {
    message.contains(&format!(r#""method":"{method}""#))
}

fn is_for(message: &str, tool: &str) -> bool {
    message.contains(&format!(r#""name":"{tool}""#))
}

/// What stands between one word and the next that ends it.
pub(crate) fn between<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// One that runs. Its threads end with the test.
pub(crate) struct Mirror {
    way: Way,
    port: u16,
    server: Arc<Server>,
}

struct Server {
    era: Era,
    words: Words,
    notes: Mutex<Vec<String>>,
    noted: Condvar,
}

impl Mirror {
    pub(crate) fn start(era: Era, way: Way, words: &Words) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (notes, noted) = (Mutex::default(), Condvar::new());
        let server = Arc::new(Server { era, words: words.clone(), notes, noted });
        let own = Arc::clone(&server);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let server = Arc::clone(&own);
                std::thread::spawn(move || match way {
                    Way::Pipe => read_lines(&stream, &server),
                    Way::Json | Way::Events => read_request(&stream, &server, way),
                });
            }
        });
        Self { way, port, server }
    }

    /// How it is declared.
    pub(crate) fn entry(&self, name: &str) -> String {
        let port = self.port;
        let how = match self.way {
            // A program that is nothing but a pipe to here.
            Way::Pipe => format!(
                "command = \"bash\"\nargs = [\"-c\", \"exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3\"]"
            ),
            Way::Json | Way::Events => format!("url = \"http://127.0.0.1:{port}/mcp\""),
        };
        format!("[servers.{name}]\n{how}\n")
    }

    pub(crate) fn era(&self) -> Era {
        self.server.era
    }

    /// What it got since it was last asked, as it came: what is for what it has, and answers.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.server.notes.lock().unwrap())
    }
}

impl Server {
    /// Says what there is to say to a message, the answer last.
    fn hear(&self, message: &str, mut say: impl FnMut(&str)) {
        if !message.contains(r#""method":""#) {
            return self.note(message);
        }
        let Some(id) = between(message, r#"{"jsonrpc":"2.0","id":"#, ",") else { return };
        let known = [
            ("tools/call", &self.words.call),
            ("resources/read", &self.words.read),
            ("prompts/get", &self.words.prompt),
        ];
        let known = known.into_iter().find(|(method, _)| is(message, method));
        if let Some((_, said)) = known {
            self.note(message);
            if is_for(message, "work") {
                self.tell(message, &mut say);
            }
            let asks = is_for(message, "ask") && !message.contains(r#""inputResponses":"#);
            let result = match self.era {
                Era::Stateless if asks => self.question(),
                _ => self.era.whole(said),
            };
            if asks && self.era == Era::Session {
                self.ask(&mut say);
            }
            return say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        let error = || r#""error":{"code":-32601,"message":"Method not found"}"#.to_owned();
        let outcome = self.era.result(message).map(|result| format!(r#""result":{result}"#));
        say(&format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, outcome.unwrap_or_else(error)));
    }

    fn tell(&self, message: &str, mut say: impl FnMut(&str)) {
        let Words { progress, log, .. } = &self.words;
        let rest = message.split_once(r#""progressToken":"#).map(|(_, rest)| rest);
        let token = rest.and_then(|rest| rest.split([',', '}']).next()).unwrap_or_default();
        for (method, params) in
            [("progress", &format!(r#"{{"progressToken":{token},{progress}}}"#)), ("message", log)]
        {
            say(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#
            ));
        }
    }

    /// A question of the session era, and when it was answered.
    fn ask(&self, mut say: impl FnMut(&str)) {
        let question = &self.words.question;
        say(&format!(
            r#"{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{question}}}"#
        ));
        let is_open =
            |notes: &mut Vec<String>| notes.iter().all(|note| note.contains(r#""method":""#));
        let notes = self.notes.lock().unwrap();
        drop(self.noted.wait_timeout_while(notes, LONG, is_open).unwrap());
    }

    /// One of the stateless era.
    fn question(&self) -> String {
        let question = &self.words.question;
        format!(
            r#"{{"resultType":"input_required","inputRequests":{{"q":{{"method":"elicitation/create","params":{question}}}}},"requestState":"s"}}"#
        )
    }

    fn note(&self, message: &str) {
        self.notes.lock().unwrap().push(message.to_owned());
        self.noted.notify_all();
    }
}

fn read_lines(stream: &TcpStream, server: &Arc<Server>) {
    let out = Arc::new(Mutex::new(stream.try_clone().unwrap()));
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let (server, out) = (Arc::clone(server), Arc::clone(&out));
        std::thread::spawn(move || {
            server.hear(&line, |message| write(&out.lock().unwrap(), &format!("{message}\n")));
        });
    }
}

/// One request; the connection ends with its answer.
fn read_request(stream: &TcpStream, server: &Server, way: Way) {
    let Some((method, body)) = read(stream) else { return };
    if method != "POST" {
        return write(stream, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
    }
    let is_more = is_for(&body, "work") || is_for(&body, "ask");
    let (kind, before, after) = match way {
        Way::Json if !is_more => ("application/json", "", ""),
        _ => ("text/event-stream", "data: ", "\n\n"),
    };
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
    server.hear(&body, |message| {
        write(stream, &format!("{}{before}{message}{after}", std::mem::take(&mut head)));
    });
    if !head.is_empty() {
        write(stream, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}

fn read(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        let line = head[start..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head.split(' ').next()?.to_owned(), String::from_utf8(body).ok()?))
}

fn write(mut stream: &TcpStream, text: &str) {
    // Whoever does not wait for it is a hub that ends.
    let _ = stream.write_all(text.as_bytes());
}
