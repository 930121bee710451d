//! Faults of the process: its start, its end, its signals, its pipes, its children.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};
use switchboard_wire::{Revision, method};

use crate::client::{Client, now, text};
use crate::links::Pipes;

fn with(fault: &str) -> Client<Pipes> {
    Client::stdio(&Script::new().fault(fault), Revision::V2025_11_25)
}

fn start(fault: &str) -> Child {
    let (command, arguments) = Scripted::stdio(&Script::new().fault(fault));
    let mut command = Command::new(command);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ends_within(child: &mut Child, ms: u64) -> bool {
    (0..ms / 10).any(|_| {
        thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap().is_some()
    })
}

#[test]
fn a_slow_start_and_none() {
    let begun = now();
    let mut client = with("slow_start:ms=400");
    client.connect();
    assert!(begun.elapsed() >= Duration::from_millis(400));

    let output = start("crash_start:code=3,stderr=no luck").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "scripted: start 1\nno luck\n");
}

#[test]
fn floods() {
    let mut client = with("flood_stdout:lines=5000");
    client.connect();
    let mut junk = client.aside().iter().filter(|message| message.get("junk").is_some()).count();
    while junk < 5000 {
        junk += usize::from(client.receive().get("junk").is_some());
    }
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");

    let mut child = start("flood_stderr:bytes=1000000");
    let mut stderr = Vec::new();
    let mut pipe = child.stderr.take().unwrap().take(1_000_000);
    pipe.read_to_end(&mut stderr).unwrap();
    assert_eq!(stderr.len(), 1_000_000);
    drop(child.stdin.take());
    assert!(ends_within(&mut child, 20_000));
}

#[test]
fn what_ends_a_server() {
    let term = |child: &Child| {
        kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    };
    let mut by_end = with("delay");
    by_end.connect();
    drop(by_end.link.stdin.take());
    assert!(ends_within(&mut by_end.link.child, 20_000), "the end of stdin is its end");

    let mut by_signal = with("delay");
    by_signal.connect();
    term(&by_signal.link.child);
    assert!(ends_within(&mut by_signal.link.child, 20_000), "SIGTERM is its end");

    let mut deaf = with("ignore_stdin_close");
    deaf.connect();
    drop(deaf.link.stdin.take());
    assert!(!ends_within(&mut deaf.link.child, 500));
    term(&deaf.link.child);
    assert!(ends_within(&mut deaf.link.child, 20_000));

    let mut stubborn = with("ignore_sigterm");
    stubborn.connect();
    term(&stubborn.link.child);
    assert!(!ends_within(&mut stubborn.link.child, 500));
    assert_eq!(text(&stubborn.call("echo", json!({"text": "x"}))), "x");
}

#[test]
fn pipes_that_close_early() {
    let mut client = with("close_stdin:method=tools/list");
    client.connect();
    client.request(method::TOOLS_LIST, json!({}));
    let mut stdin = client.link.stdin.take().unwrap();
    let broken = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        stdin.write_all(b"{}\n").is_err()
    });
    assert!(broken, "nobody reads stdin any more");
    assert!(!ends_within(&mut client.link.child, 100), "but it runs");

    let mut client = with("close_stdout");
    client.connect();
    client.ask(method::TOOLS_CALL, json!({"name": "echo"}));
    assert_eq!(client.receive(), json!({"closed": true}));
    assert!(!ends_within(&mut client.link.child, 100), "but it runs");
}

#[test]
fn children_that_outlive_it() {
    for fault in ["fork_children", "fork_daemons"] {
        let scratch = Scratch::new();
        let file = scratch.path().join("pids");
        let mut client = with(&format!("{fault}:count=2,depth=1,pids={}", file.display()));
        client.connect();
        let pids = pids(&file, 4);
        drop(client.link.stdin.take());
        assert!(ends_within(&mut client.link.child, 20_000));
        let own = session("self");
        for pid in pids {
            assert!(test_kill_process(pid).is_ok(), "{fault}: {pid:?} outlives its parent");
            let its = session(&pid.as_raw_nonzero().to_string());
            assert_eq!(its == own, fault == "fork_children");
            kill_process(pid, Signal::KILL).unwrap();
        }
    }
}

/// The session of a process. It is 0 if its leader is in an outer namespace, as in a container, which
/// `getsid` of rustix does not allow for.
fn session(process: &str) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let after_name = stat.rsplit_once(") ").unwrap().1;
    after_name.split(' ').nth(3).unwrap().parse().unwrap()
}

fn pids(file: &std::path::Path, count: usize) -> Vec<Pid> {
    for _ in 0..3000 {
        let text = fs::read_to_string(file).unwrap_or_default();
        let pids: Vec<_> =
            text.lines().map(|line| Pid::from_raw(line.parse().unwrap()).unwrap()).collect();
        if pids.len() == count {
            return pids;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("fewer than {count} children");
}

#[test]
fn the_environment_is_told() {
    let (command, arguments) = Scripted::stdio(&Script::new());
    let mut child = Command::new(command)
        .args(arguments)
        .env_clear()
        .env("ONE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": method::INITIALIZE,
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": method::TOOLS_CALL,
        "params": {"name": "env", "arguments": {"name": "ONE"}}});
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{initialize}\n{call}\n").as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let last = lines.nth(1).unwrap().unwrap();
    drop(stdin);
    child.wait().unwrap();
    let answer: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(text(&answer), "1");
}
