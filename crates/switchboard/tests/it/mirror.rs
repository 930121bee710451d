//! Servers that note what they get as it comes, byte for byte, and say what they were given to say: on a pipe and
//! behind HTTP, as JSON and as events, of either era. What they tell and ask before an answer comes as events always.
//! How they are reached is in `mirror/ways.rs`.

mod ways;

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use switchboard_model::{HttpKind, HttpSpec, StdioSpec, Template, Transport};

/// What it says when it is met, and of what it has.
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{},"logging":{}},"serverInfo":{"name":"mirror","version":"1"}}"#;
const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{},"logging":{}},"ttlMs":60000,"cacheScope":"public"}"#;
const LISTS: [(&str, &str); 3] = [
    ("resources", r#"[{"name":"it","uri":"mirror:it"}]"#),
    ("resourceTemplates", "[]"),
    ("prompts", r#"[{"name":"tell"}]"#),
];

/// What it can do: just so, after having told something, after having asked, and not at all.
pub(crate) const TOOLS: [&str; 4] = ["say", "work", "ask", "fail"];

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
    /// The older transport, of the session era alone: one stream for all that it says.
    Sse,
}

/// What it says: results without their end, which is the era's, and params.
#[derive(Clone)]
pub(crate) struct Words {
    /// An entry of its list of tools, by the tool's name.
    pub(crate) tool: fn(&str) -> String,
    /// Of its tools, but for `fail`. `work` tells of progress and logs before, and `ask` asks before.
    pub(crate) call: String,
    /// Of its tool `fail`: an error.
    pub(crate) error: String,
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

    /// The result of a request that is for nothing it has, nor for what it has.
    fn result(self, message: &str) -> Option<String> {
        match self {
            Self::Session if is(message, "initialize") => Some(INITIALIZED.to_owned()),
            Self::Session if is(message, "ping") || is(message, "logging/setLevel") => {
                Some("{}".to_owned())
            }
            Self::Stateless if is(message, "server/discover") => Some(DISCOVERED.to_owned()),
            _ => None,
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
    /// Whether nobody is let in.
    is_away: AtomicBool,
    /// The stream of the older transport.
    stream: Mutex<Option<TcpStream>>,
}

impl Mirror {
    pub(crate) fn start(era: Era, way: Way, words: &Words) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Arc::new(Server {
            era,
            words: words.clone(),
            notes: Mutex::default(),
            noted: Condvar::new(),
            is_away: AtomicBool::new(false),
            stream: Mutex::default(),
        });
        let own = Arc::clone(&server);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let server = Arc::clone(&own);
                if !server.is_away.load(Ordering::SeqCst) {
                    std::thread::spawn(move || ways::serve(&stream, &server, way));
                }
            }
        });
        Self { way, port, server }
    }

    /// How it is declared.
    pub(crate) fn entry(&self, name: &str) -> String {
        let how = match self.way {
            Way::Pipe => format!("command = \"bash\"\nargs = {:?}", self.pipe()),
            Way::Json | Way::Events => format!("url = {:?}", self.url()),
            Way::Sse => format!("url = {:?}\ntransport = \"sse\"", self.url()),
        };
        format!("[servers.{name}]\n{how}\n")
    }

    /// The same to whoever embeds the hub.
    pub(crate) fn transport(&self) -> Transport {
        let http = |kind| {
            let (url, headers) = (Template::literal(self.url()), [].into());
            Transport::Http(HttpSpec { kind, url, headers })
        };
        match self.way {
            Way::Pipe => Transport::Stdio(StdioSpec {
                command: Template::literal("bash"),
                args: self.pipe().map(Template::literal).into(),
                env: [].into(),
                cwd: None,
            }),
            Way::Json | Way::Events => http(HttpKind::Streamable),
            Way::Sse => http(HttpKind::Sse),
        }
    }

    /// The arguments of a program that is nothing but a pipe to here.
    fn pipe(&self) -> [String; 2] {
        let port = self.port;
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3");
        ["-c".to_owned(), script]
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn era(&self) -> Era {
        self.server.era
    }

    /// From now on it is there for nobody who comes.
    pub(crate) fn leave(&self) {
        self.server.is_away.store(true, Ordering::SeqCst);
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
            let outcome = match is_for(message, "fail") {
                true => format!(r#""error":{}"#, self.words.error),
                false => format!(r#""result":{result}"#),
            };
            return say(&format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
        }
        let error = || r#""error":{"code":-32601,"message":"Method not found"}"#.to_owned();
        let result = self.era.result(message).or_else(|| self.list(message));
        let outcome = result.map(|result| format!(r#""result":{result}"#));
        say(&format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, outcome.unwrap_or_else(error)));
    }

    /// What it has of a kind, if that is asked.
    fn list(&self, message: &str) -> Option<String> {
        let tools = format!("[{}]", TOOLS.map(self.words.tool).join(","));
        let mut lists = LISTS.into_iter().chain([("tools", &*tools)]);
        let (list, rows) = lists.find(|(list, _)| {
            let method = if *list == "resourceTemplates" { "resources/templates" } else { list };
            is(message, &format!("{method}/list"))
        })?;
        Some(format!(
            r#"{{"resultType":"complete","{list}":{rows},"ttlMs":60000,"cacheScope":"public"}}"#
        ))
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
