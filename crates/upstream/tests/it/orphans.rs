//! Nothing outlives its hub, however the hub dies.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use switchboard_testkit::repetitions;
use switchboard_upstream::{Instance, reap};

use crate::kit::{PROGRAM, is_running};

const SERVERS: usize = 4;

/// Every process that carries the mark of that hub.
fn marked(hub: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().into_string().unwrap_or_default().parse::<u32>() else {
            continue;
        };
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let text = String::from_utf8_lossy(&environment);
        let mark =
            text.split('\0').find_map(|variable| variable.strip_prefix("SWITCHBOARD_INSTANCE="));
        if mark.and_then(Instance::parse).is_some_and(|mark| mark.pid == hub) && is_running(pid) {
            found.push(pid);
        }
    }
    found
}

fn start(state: &std::path::Path) -> (Child, BufReader<std::process::ChildStdout>) {
    start_to(state, "")
}

/// A hub that ends by itself, in this way.
fn start_to(state: &std::path::Path, end: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut hub = Command::new(PROGRAM)
        .arg("hub")
        .arg(state)
        .args([&SERVERS.to_string(), end])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(hub.stdout.take().unwrap());
    (hub, out)
}

fn expect(out: &mut impl BufRead, word: &str) {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), word);
}

fn assert_none_left(hub: u32, when: &str) {
    for _ in 0..1500 {
        if marked(hub).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{when}: {} left", marked(hub).len());
}

#[cfg(target_os = "linux")]
#[test]
fn prove_nothing_outlives_a_killed_hub() {
    for round in 0..repetitions(200) {
        let state = tempfile::tempdir().unwrap();
        let (mut hub, mut out) = start(state.path());
        expect(&mut out, "started");
        if round % 4 == 0 {
            expect(&mut out, "settled");
            assert_eq!(marked(hub.id()).len(), 2 * SERVERS, "each server and its child");
        } else {
            // In the middle of starting, when the guardian cannot have heard of all.
            std::thread::sleep(Duration::from_millis(fastrand::u64(0..60)));
        }
        hub.kill().unwrap();
        hub.wait().unwrap();
        assert_none_left(hub.id(), &format!("round {round}"));
    }
}

/// A panic unwinds, so everything is dropped in good order, but nobody waits for the servers.
#[cfg(target_os = "linux")]
#[test]
fn nothing_outlives_a_hub_that_panics() {
    for _ in 0..5 {
        let state = tempfile::tempdir().unwrap();
        let (mut hub, mut out) = start_to(state.path(), "panic");
        expect(&mut out, "started");
        expect(&mut out, "settled");
        assert_ne!(hub.wait().unwrap().code(), Some(0));
        assert_none_left(hub.id(), "it panicked");
    }
}

/// Without a guardian that lives, the next start finds them.
#[cfg(target_os = "linux")]
#[test]
fn what_was_left_behind_is_reaped_at_the_next_start() {
    let state = tempfile::tempdir().unwrap();
    let (mut hub, mut out) = start(state.path());
    expect(&mut out, "started");
    expect(&mut out, "settled");
    let guardian =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", hub.id())).unwrap();
    let guardian = guardian.split_whitespace().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("guardian")
    });
    let guardian: i32 = guardian.unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(guardian).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    hub.kill().unwrap();
    hub.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(!marked(hub.id()).is_empty(), "nobody is there to end them");
    // Another state directory is somebody else's business.
    assert_eq!(reap(&Instance::current(std::path::Path::new("/elsewhere"))), 0);
    assert!(reap(&Instance::current(state.path())) > 0);
    assert_none_left(hub.id(), "reaped");
}
