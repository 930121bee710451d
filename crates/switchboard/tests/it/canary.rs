//! A canary for every kind of secret that the hub is given or gives; afterwards it is found nowhere: not in the
//! database, its log, its backups, the state directory, what the hub wrote, nor in any answer. On both engines.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::Postgres;
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::{Hub, wait};
use crate::rest::person;
use crate::sqlite;

/// Every kind of secret, each with its own bird.
const BIRDS: [&str; 9] = [
    "canary-in-the-environment-7f3a",
    "canary-in-the-env-of-a-file-91bc",
    "canary-in-an-env-value-22de",
    "canary-in-a-header-5e0f",
    "canary-as-an-api-key-c4d1",
    "canary-as-a-credential-8a76",
    "canary-as-a-password-0b3e",
    // No shape of a key: only who knows them can tell that they are secret.
    "a canary that a server repeats",
    "a canary that an address repeats",
];

/// Secrets of others, which an agent passes on as arguments; the hub knows them by their names, by their kind, or
/// by the words before them.
const PASSED: [&str; 8] = [
    "canary-under-a-name-6d2b",
    "ghp_canaryByItsPrefix0123456789abcdef",
    "eyJjYW5hcnkiOiJ0b2tlbiJ9.eyJjYW5hcnkiOjF9.Y2FuYXJ5LXNpZw",
    "canary-in-a-url-3c9e",
    "canary-behind-a-word-b7f0",
    "canary-on-a-command-line-e81d",
    "MIICanaryOfAPrivateKey",
    "f3CaNaRy9zQ0x7Lk2Vb8Wm4T",
];

/// Lets PostgreSQL keep every text as it is.
const UNCOMPRESSED: &str = "DO $$ DECLARE c record; BEGIN FOR c IN \
    SELECT table_name, column_name FROM information_schema.columns \
    WHERE table_schema = 'public' AND data_type IN ('text', 'bytea') \
    LOOP EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE EXTERNAL', c.table_name, c.column_name); \
    END LOOP; END $$";

/// What has nothing secret in it, and is to be found.
const HARMLESS: &str = "a harmless sparrow";

/// Arguments with every kind of secret in them: others' and the hub's own.
fn arguments() -> Value {
    let [name, token, jwt, url, word, line, key, random] = PASSED;
    json!({
        "text": format!("{HARMLESS}, and {}, {}", BIRDS[1], BIRDS[3]),
        "deep": {"list": [{"Api-Key": name, "say": format!("use {token} or Bearer {jwt}, please")}]},
        "url": format!("postgres://joe:{url}@db/x?sslmode=off"),
        "fields": [{"name": "Password", "value": word}, {"name": "own", "value": BIRDS[2]}],
        "command": format!("deploy --token {line} --to {}", BIRDS[4]),
        "note": format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n{random}"),
        "json": json!({"password": word, "env": BIRDS[0], "stored": BIRDS[5]}).to_string(),
        (token): 1,
    })
}

/// Every bird there is, those too that the hub itself made.
struct Birds(Vec<String>);

impl Birds {
    fn new(made: &[&str]) -> Self {
        Self(BIRDS.iter().chain(&PASSED).chain(made).map(|bird| bird.to_string()).collect())
    }

    /// Every file below a directory that holds a bird.
    fn found(&self, directory: &Path, said: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.found(&path, said);
            } else if let Ok(bytes) = std::fs::read(&path) {
                said.extend(self.heard(&path.display().to_string(), &bytes));
            }
        }
    }

    fn heard(&self, place: &str, bytes: &[u8]) -> Vec<String> {
        let sings = |bird: &&String| holds(bytes, bird);
        self.0.iter().filter(sings).map(|bird| format!("{bird} in {place}")).collect()
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A hub that knows one secret of each kind from its file and its environment.
fn scene(store: &str) -> (Context, Value) {
    let (command, arguments) = Scripted::stdio(&Script::new());
    let command = command.to_str().unwrap();
    let text = format!(
        "[hub]\naudit_arguments = \"values\"\n{store}[servers.filed]\ncommand = {command:?}\nargs = {arguments:?}\n\
         env = {{ API_TOKEN = \"${{CANARY}}\", OTHER_TOKEN = {:?} }}\n\
         [servers.away]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = {{ authorization = \"Bearer ${{CANARY}}\" }}\n",
        BIRDS[1]
    );
    let context = Context::new()
        .with("switchboard.toml", &text)
        .variable("CANARY", BIRDS[0])
        .variable("SWITCHBOARD_LOG", "debug,sqlx=debug,hyper=debug");
    (context, json!({"command": command, "args": arguments, "env": {"KEY": BIRDS[2]}}))
}

/// Gives the hub the others, looks at everything there is to see, and returns what it said.
fn sung(hub: &Hub, admin: &str, kept: Value) -> String {
    let (echo, mut answers) = (echo(), String::new());
    let mut ask = |method: &str, path: &str, body: Option<Value>| {
        let answer = hub.rest(method, path, admin, body.as_ref());
        assert!(answer.status < 400, "{method} {path}: {}", answer.body);
        answers.push_str(&answer.head);
        answers.push_str(&answer.body.to_string());
    };
    let far = json!({"url": "http://127.0.0.1:9/mcp", "headers": {"x-key": BIRDS[3]}});
    let lent = json!({"url": "http://127.0.0.1:9/mcp", "auth": "bearer"});
    for (name, entry) in [("kept", kept), ("far", far), ("lent", lent)] {
        let new = json!({"name": name, "scope": "global", "entry": entry, "approve": true});
        ask("POST", "/api/v1/servers", Some(new));
    }
    // Servers that repeat what they are given: on standard error, and in what they refuse with.
    let said = json!({"command": "/bin/sh", "args": ["-c", "echo it is $KEY. >&2; exit 3"],
        "env": {"KEY": BIRDS[7]}});
    let refused = json!({"url": echo, "headers": {"x-key": BIRDS[8]}});
    for (name, entry) in [("said", said), ("refused", refused)] {
        let new = json!({"name": name, "scope": "global", "entry": entry, "approve": true});
        ask("POST", "/api/v1/servers", Some(new));
    }
    let known = json!({"catalog": "linear", "scope": "global", "apiKey": BIRDS[4]});
    ask("POST", "/api/v1/servers", Some(known));
    let credential = json!({"kind": "bearer", "value": BIRDS[5]});
    ask("PUT", "/api/v1/servers/global:lent/credential", Some(credential));
    ask("POST", "/api/v1/users", Some(json!({"id": "anna", "password": BIRDS[6]})));
    for name in ["filed", "away", "kept", "far", "lent", "linear", "said", "refused"] {
        for (method, act) in [("GET", ""), ("POST", "/test"), ("GET", "/logs")] {
            ask(method, &format!("/api/v1/servers/global:{name}{act}"), None);
        }
    }
    // One that says nothing of what it was told.
    let call = json!({"name": "mcp__kept__pid", "arguments": arguments()});
    ask("POST", "/api/v1/tools/call", Some(call));
    for path in ["servers", "tools", "audit", "usage/totals", "agents", "tokens", "users"] {
        ask("GET", &format!("/api/v1/{path}"), None);
    }
    ask("GET", "/metrics", None);
    // What goes wrong is told, too.
    for name in ["said", "refused"] {
        let call = json!({"name": format!("mcp__{name}__echo"), "arguments": {}});
        let answer = hub.rest("POST", "/api/v1/tools/call", admin, Some(&call));
        assert!(answer.status >= 400, "{}", answer.body);
        answers.push_str(&answer.body.to_string());
    }
    let events = events(hub, admin);
    for word in TOLD {
        assert!(events.contains(word), "{word}: {events}");
    }
    answers.push_str(&events);
    answers
}

/// What is told of servers that repeat their secrets.
const TOLD: [&str; 2] = ["it is ***.", "you sent ***"];

/// What the stream of events has said so far; it never ends.
fn events(hub: &Hub, admin: &str) -> String {
    let mut stream = TcpStream::connect(&hub.address).unwrap();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {admin}\r\nLast-Event-ID: 0\r\n\r\n",
        hub.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let (mut said, mut part) = (Vec::new(), [0; 4096]);
    // Until it is quiet; a minute for what must come.
    for _ in 0..30 {
        while let Ok(length @ 1..) = stream.read(&mut part) {
            said.extend_from_slice(&part[..length]);
        }
        let text = String::from_utf8_lossy(&said);
        if TOLD.iter().all(|word| text.contains(word)) {
            break;
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// An HTTP server that refuses everything and repeats the key that it was sent; its address.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut head, mut part) = (String::new(), [0; 4096]);
            while let Ok(length @ 1..) = stream.read(&mut part) {
                head.push_str(&String::from_utf8_lossy(&part[..length]));
                if head.contains("\r\n\r\n") {
                    break;
                }
            }
            let key =
                head.lines().find_map(|line| line.strip_prefix("x-key: ")).unwrap_or_default();
            let body = format!("you sent {key}");
            let length = body.len();
            let head = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain";
            let _ = write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        }
    });
    format!("http://{address}/mcp")
}

/// A hub to which everything was done; what it said, and the birds.
fn scenario(context: &Context, kept: Value, password: &str) -> (Hub, Birds, Vec<String>) {
    let hub = Hub::start_logging(context, &context.home().join("hub.log"));
    let admin = person(context, "admin");
    let link = hub.greeting["sign_in"].as_str().unwrap().to_owned();
    let secret = link.rsplit_once("link=").unwrap().1;
    let birds = Birds::new(&[&admin, secret, password]);
    let mut answers = hub.get(&format!("/sign-in?link={secret}"), &hub.address);
    assert!(answers.starts_with("HTTP/1.1 303"), "{answers}");
    answers.push_str(&sung(&hub, &admin, kept));
    wait("the call is in the log", || {
        let rows = context.json(&["audit", "--action", "mcp_tool_call"]);
        rows["items"].as_array().is_some_and(|rows| !rows.is_empty())
    });
    let audit = hub.rest("GET", "/api/v1/audit", &admin, None).text;
    assert!(audit.contains(HARMLESS), "{audit}");
    answers.push_str(&audit);
    answers.push_str(&context.ok(&["audit", "--json"]).out);
    for args in [&["status"][..], &["list"], &["logs"], &["audit"], &["check"]] {
        let ran = context.run(args);
        answers.push_str(&ran.out);
        answers.push_str(&ran.err);
    }
    let said = birds.heard("an answer", answers.as_bytes());
    (hub, birds, said)
}

#[test]
fn no_secret_is_found_anywhere() {
    let (context, kept) = scene("");
    let (hub, birds, mut said) = scenario(&context, kept, "canary-that-is-not-there");
    // While it runs, with the write-ahead log beside the database and a backup that somebody made.
    let database = context.home().join(".local/share/switchboard/switchboard.db");
    let backup = context.home().join("backup.db");
    sqlite::back_up(&database, &backup);
    assert!(sqlite::is_sound(&backup));
    let bytes = std::fs::read(&backup).unwrap();
    assert!(["linear", HARMLESS].iter().all(|text| holds(&bytes, text)));
    birds.found(&context.home(), &mut said);
    hub.stop();
    birds.found(&context.home(), &mut said);
    assert!(said.is_empty(), "{said:#?}");

    // An edit of the file, which may hold what its owner wrote, leaves no copy of it.
    context.ok(&["add", "extra", "true"]);
    context.ok(&["remove", "extra"]);
    birds.found(&context.work(), &mut said);
    let file = context.work().join("switchboard.toml");
    assert_eq!(said, [format!("{} in {}", BIRDS[1], file.display())]);
}

#[test]
fn no_secret_is_found_anywhere_on_postgres() {
    const PASSWORD: &str = "canary-in-the-url-of-the-store-4c1d";
    let server = Postgres::start();
    let url = server.database_by_tcp();
    // A server of the test's own takes any password; one that was given has its own.
    let (lock, password) = match server.is_own() {
        true => (url.replacen("postgres@", &format!("postgres:{PASSWORD}@"), 1), PASSWORD),
        false => (url.clone(), "canary-that-is-not-there"),
    };
    let (context, kept) = scene(&format!("store = {lock:?}\n"));
    // What is compressed could not be found.
    Hub::start(&context).stop();
    server.ask(&url, UNCOMPRESSED);
    let (hub, birds, mut said) = scenario(&context, kept, password);
    let dump = server.dump(&url);
    assert!(["linear", HARMLESS].iter().all(|text| holds(dump.as_bytes(), text)));
    said.extend(birds.heard("the backup", dump.as_bytes()));
    hub.stop();
    birds.found(&context.home(), &mut said);
    if let Some(home) = server.home() {
        server.ask(&url, "CHECKPOINT");
        let mut harmless = Vec::new();
        Birds(vec![HARMLESS.to_owned()]).found(home, &mut harmless);
        assert!(harmless.iter().any(|place| place.contains("pg_wal")), "{harmless:?}");
        assert!(harmless.iter().any(|place| place.contains("base")), "{harmless:?}");
        birds.found(home, &mut said);
    }
    assert!(said.is_empty(), "{said:#?}");
}
