//! Clients that ask and do not read, or begin and do not go on, against the real program: they hold neither a place
//! that somebody else needs nor the end of the hub.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use switchboard_model::{Clock as _, SystemClock};
use switchboard_testkit::script::Script;

use crate::agents::token;
use crate::context::Context;
use crate::hub::{Hub, connected, entry};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// As many lists as two sockets have no room for, whose requests are read at once.
const LISTS: usize = 6;
/// How long anything may take on a busy machine; less than after which clients that read nothing are cut anyway.
const LATE: Duration = Duration::from_secs(40);

struct Scene {
    context: Context,
    hub: Hub,
    token: String,
    log: PathBuf,
}

impl Scene {
    /// A hub that may have so many files open, and that has long lists.
    fn new(files: usize) -> Self {
        let file = entry("a", &Script::new().tools(8_000));
        let file = format!("{file}\n[agents.cto]\nservers = [\"a\"]\n");
        let context = Context::new().with("switchboard.toml", &file);
        let (token, _) = token(&context, "cto");
        let mut command = Command::new("sh");
        let limited = format!("ulimit -n {files}; exec \"$0\" up --listen 127.0.0.1:0 --json");
        let command = command.args(["-c", &limited, env!("CARGO_BIN_EXE_switchboard")]);
        let command = context.prepare(command.stdin(Stdio::null()).stdout(Stdio::piped()));
        let log = context.work().join("log");
        let command = command.stderr(std::fs::File::create(&log).unwrap());
        let hub = Hub::greeted(command.spawn().unwrap());
        connected(&context, &["a"]);
        Self { context, hub, token, log }
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.hub.address).unwrap();
        // As the system likes it, it would take tens of megabytes.
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4 * 1024).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn list(&self, framing: &str, body: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n{framing}\r\n\r\n{body}",
            self.hub.address, self.token,
        )
    }

    /// Asks for very much and reads nothing; the hub reads it by itself.
    fn unread(&self) -> TcpStream {
        let one = self.list(&format!("Content-Length: {}", LIST.len()), LIST);
        self.send(&one.repeat(LISTS))
    }

    /// The same, read by the library.
    fn unread_by_the_library(&self) -> TcpStream {
        let body = format!("{:x}\r\n{LIST}\r\n0\r\n\r\n", LIST.len());
        self.send(&self.list("Transfer-Encoding: chunked", &body).repeat(LISTS))
    }

    /// Whether somebody who comes now is answered.
    fn is_answered(&self) -> bool {
        let health = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", self.hub.address);
        let mut stream = self.send(&health);
        stream.set_read_timeout(Some(LATE)).unwrap();
        let mut some = [0; 12];
        stream.read_exact(&mut some).is_ok() && some == *b"HTTP/1.1 200"
    }
}

#[test]
fn whoever_reads_nothing_makes_room_for_others() {
    let scene = Scene::new(80);
    let held: Vec<TcpStream> = (0..40).map(|_| scene.unread()).collect();
    // Until all of them are as full as they get.
    std::thread::sleep(Duration::from_secs(2));
    assert!(scene.is_answered(), "all {} places are held by clients that read nothing", held.len());
}

#[test]
fn nobody_keeps_the_hub_from_ending() {
    let mut scene = Scene::new(1_000);
    let head = scene.list("Content-Length: 100", "");
    let session = "GET /mcp HTTP/1.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: ";
    let held = [
        scene.send(""),
        scene.send("P"),
        scene.send("POST /mcp HTTP/1.1\r\nX-Long: "),
        scene.send(&head),
        scene.send(&format!("{head}{{")),
        scene.send(session),
        scene.unread(),
        scene.unread_by_the_library(),
    ];
    assert!(scene.is_answered());
    // So that whatever is to be written has been begun.
    std::thread::sleep(Duration::from_secs(1));
    let began = SystemClock.monotonic();
    scene.hub.signal("-TERM");
    let ended = loop {
        match scene.hub.child.try_wait().unwrap() {
            Some(ended) => break ended,
            None => assert!(began.elapsed() < LATE, "{held:?} keep it"),
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(ended.code(), Some(0), "after {:?}", began.elapsed());
    let log = std::fs::read_to_string(&scene.log).unwrap();
    assert!(!log.contains("did not end"), "{log}");
    let again = Hub::start(&scene.context);
    drop(again);
}
