//! Connections that take their time, against the real program: heads that do not end are cut, idle
//! connections are not, and there is room for newcomers.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use switchboard_model::{Clock as _, SystemClock};
use switchboard_testkit::script::Script;

use crate::context::Context;
use crate::hub::{Hub, connected, entry};

/// How long the head of a request may take, with some room for a busy machine.
const HEAD: Duration = Duration::from_secs(30);
const LATE: Duration = Duration::from_secs(60);

fn connect(hub: &Hub) -> TcpStream {
    let stream = TcpStream::connect(&hub.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    stream
}

fn request(hub: &Hub) -> String {
    format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", hub.address)
}

/// Whether the other side has closed it.
fn is_closed(mut stream: &TcpStream) -> bool {
    match stream.read(&mut [0; 64]) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// Asks on an open connection.
fn ask(mut stream: &TcpStream, hub: &Hub) -> String {
    stream.write_all(request(hub).as_bytes()).unwrap();
    let (mut answer, until) = (String::new(), SystemClock.monotonic() + LATE);
    while !answer.ends_with("\"ok\"}") && SystemClock.monotonic() < until {
        let mut some = [0; 1024];
        match stream.read(&mut some) {
            Ok(0) => break,
            Ok(read) => answer.push_str(std::str::from_utf8(&some[..read]).unwrap()),
            Err(_) => {}
        }
    }
    answer
}

#[test]
fn a_head_must_end_and_an_idle_connection_need_not() {
    let context = Context::new();
    let hub = Hub::start(&context);
    let (idle, silent, half, slow) = (connect(&hub), connect(&hub), connect(&hub), connect(&hub));
    let second = connect(&hub);
    let began = SystemClock.monotonic();
    assert!(ask(&idle, &hub).starts_with("HTTP/1.1 200"));
    let whole = request(&hub);
    (&half).write_all(&whole.as_bytes()[..whole.len() - 3]).unwrap();
    // A head that is not the connection's first has to end as well.
    assert!(ask(&second, &hub).starts_with("HTTP/1.1 200"));
    (&second).write_all(b"POST /mcp HTTP/1.1\r\nX-Long: ").unwrap();
    let mut open = vec![("silent", &silent), ("half", &half), ("slow", &slow), ("second", &second)];
    while !open.is_empty() {
        assert!(began.elapsed() < LATE, "still open: {open:?}");
        // One byte at a time, as those do who want to hold as many connections as they can.
        let _ = (&slow).write_all(b"x");
        open.retain(|(what, stream)| {
            let closed = is_closed(stream);
            assert!(!closed || began.elapsed() > HEAD / 2, "{what} after {:?}", began.elapsed());
            !closed
        });
        std::thread::sleep(Duration::from_millis(500));
    }
    std::thread::sleep((HEAD + Duration::from_secs(4)).saturating_sub(began.elapsed()));
    assert!(ask(&idle, &hub).starts_with("HTTP/1.1 200"), "after {:?}", began.elapsed());
}

#[test]
fn idle_connections_make_room() {
    let context = Context::new();
    let log = context.work().join("log");
    let mut command = Command::new("sh");
    let limited = "ulimit -n 200; exec \"$0\" up --listen 127.0.0.1:0 --json";
    let command = command.args(["-c", limited, env!("CARGO_BIN_EXE_switchboard")]);
    let command = context.prepare(command.stdin(Stdio::null()).stdout(Stdio::piped()));
    let command = command.stderr(std::fs::File::create(&log).unwrap());
    let hub = Hub::greeted(command.spawn().unwrap());
    let mut held = Vec::new();
    for number in 0..120 {
        let stream = connect(&hub);
        assert!(ask(&stream, &hub).starts_with("HTTP/1.1 200"), "connection {number}");
        held.push(stream);
        if held.len() == 100 {
            let closed = held.iter().filter(|stream| is_closed(stream)).count();
            assert_eq!(closed, 0, "nobody needs the room yet");
        }
    }
    let closed = held.iter().filter(|stream| is_closed(stream)).count();
    assert!(closed >= 20, "{closed} are closed");
    assert!(!is_closed(held.last().unwrap()), "the newest is not idle longest");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("100 connections are open, as many as there may be"), "{log}");
}

/// The soft and the hard limit of a process's open files.
fn files(pid: u64) -> Vec<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let row = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    row.split_whitespace().skip(3).take(2).map(|number| number.parse().unwrap()).collect()
}

/// A shell gives few files; the hub takes what it may have, and its servers get what there was.
#[test]
fn the_hub_takes_all_files_that_it_may_have_and_its_servers_do_not() {
    let text = entry("a", &Script::new().tools(1));
    let context = Context::new().with("switchboard.toml", &text);
    let mut command = Command::new("sh");
    let limited = "ulimit -S -n 300; ulimit -H -n 3000; exec \"$0\" up --listen 127.0.0.1:0 --json";
    let command = command.args(["-c", limited, env!("CARGO_BIN_EXE_switchboard")]);
    let command = context.prepare(command.stdin(Stdio::null()).stdout(Stdio::piped()));
    let hub = Hub::greeted(command.spawn().unwrap());
    connected(&context, &["a"]);
    assert_eq!(files(hub.child.id().into()), [3000, 3000]);
    // One that is started now: the first may have been there before.
    context.ok(&["reconnect", "a"]);
    let pid = connected(&context, &["a"])[0]["pid"].as_u64().unwrap();
    assert_eq!(files(pid), [300, 3000]);
}
