//! What goes wrong with the process itself: its end, its signals, its pipes, its children.
//! Never looks at a message.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::emit::junk;
use super::world::now;
use crate::script::fault::{Fault, Junk};

/// The first argument of a process that only lives for a while.
pub(super) const SURVIVE: &str = "survive";

/// No process outlives its test by more, whatever it ignores.
const LIFE: Duration = Duration::from_secs(600);

/// Does what the fault says, if it is one of the process.
pub(super) fn act(fault: &Fault) {
    match fault {
        Fault::SlowStart { ms } => thread::sleep(Duration::from_millis(*ms)),
        Fault::CrashStart { code, stderr } => exit(*code, stderr),
        Fault::FloodStdout { lines, per_second } => {
            let (lines, per_second) = (*lines, *per_second);
            thread::spawn(move || flood_stdout(lines, per_second));
        }
        Fault::FloodStderr { bytes, per_second } => {
            let (bytes, per_second) = (*bytes, *per_second);
            thread::spawn(move || flood_stderr(bytes, per_second));
        }
        Fault::ForkChildren { count, depth, setsid, ms, pids } => {
            let daemon = if *setsid { Kinship::Daemon } else { Kinship::Child };
            (0..*count).for_each(|_| fork(*depth, daemon, *ms, pids));
        }
        Fault::IgnoreSigterm {} => ignore_signals(),
        Fault::CloseStdout {} => close_stdout(),
        _ => {}
    }
}

/// Says something and ends the process.
pub(super) fn exit(code: i32, stderr: &str) -> ! {
    if !stderr.is_empty() {
        drop(writeln!(io::stderr(), "{stderr}"));
    }
    std::process::exit(code)
}

/// Does nothing until it is killed.
pub(super) fn linger() -> ! {
    thread::sleep(LIFE);
    std::process::exit(0)
}

/// Whoever writes to it finds it closed.
pub(super) fn close_stdin() {
    let nothing = File::open("/dev/null").expect("/dev/null opens");
    rustix::stdio::dup2_stdin(nothing).expect("stdin can be replaced");
}

/// The life of a process that was forked: `survive MS DEPTH child|daemon PIDS`.
pub(super) fn survive(arguments: &[String]) -> ExitCode {
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (ms, depth) = (number(1).unwrap_or(0), number(2).unwrap_or(0));
    let kinship = match arguments.get(3).map(String::as_str) {
        Some("daemon") => Kinship::Daemon,
        _ => Kinship::Child,
    };
    let pids = arguments.get(4).map_or("", String::as_str);
    if kinship == Kinship::Daemon {
        rustix::process::setsid().expect("a child leads no group");
    }
    if !pids.is_empty() {
        let file = OpenOptions::new().create(true).append(true).open(pids);
        let line = format!("{}\n", std::process::id());
        drop(file.and_then(|mut file| file.write_all(line.as_bytes())));
    }
    if let Some(depth) = depth.checked_sub(1) {
        fork(u32::try_from(depth).unwrap_or(0), kinship, ms, pids);
    }
    thread::sleep(Duration::from_millis(ms).min(LIFE));
    ExitCode::SUCCESS
}

/// Whether a process stays in the session of its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinship {
    Child,
    Daemon,
}

/// Starts one that inherits the pipes, as children of real servers do.
fn fork(depth: u32, kinship: Kinship, ms: u64, pids: &str) {
    let program = std::env::current_exe().expect("a program knows where it is");
    let kinship = match kinship {
        Kinship::Child => "child",
        Kinship::Daemon => "daemon",
    };
    let child = Command::new(program)
        .args([SURVIVE, &ms.to_string(), &depth.to_string(), kinship, pids])
        .stdin(Stdio::null())
        .spawn();
    drop(child.expect("a child starts"));
}

fn ignore_signals() {
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::default()).expect("a signal can be caught");
    }
}

fn close_stdout() {
    let nothing = OpenOptions::new().write(true).open("/dev/null").expect("/dev/null opens");
    rustix::stdio::dup2_stdout(nothing).expect("stdout can be replaced");
}

fn flood_stdout(lines: u64, per_second: u64) {
    let start = now();
    for line in 0..lines {
        pace(start, line, per_second);
        let junk = junk(Junk::Mixed);
        let mut out = io::stdout().lock();
        if out.write_all(junk[line as usize % junk.len()]).is_err() || out.write_all(b"\n").is_err()
        {
            return;
        }
    }
}

fn flood_stderr(bytes: u64, per_second: u64) {
    let block = b"a line of no use to anybody, many times over\n".repeat(64);
    let start = now();
    let mut written = 0;
    while written < bytes {
        pace(start, written, per_second);
        let piece = block.len().min((bytes - written) as usize);
        if io::stderr().write_all(&block[..piece]).is_err() {
            return;
        }
        written += piece as u64;
    }
}

/// Waits until it is time for the unit of that number.
fn pace(start: std::time::Instant, number: u64, per_second: u64) {
    if let Some(due) = number.saturating_mul(1_000_000).checked_div(per_second) {
        thread::sleep(Duration::from_micros(due).saturating_sub(start.elapsed()));
    }
}
