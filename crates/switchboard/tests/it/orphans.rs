//! Nothing outlives the hub, however it ends. The servers are real processes, some behind `npx`.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use switchboard_testkit::repetitions;
use switchboard_testkit::script::{Script, Scripted};

use crate::context::Context;
use crate::hub::{Hub, entry, status, wait};

const SERVERS: usize = 10;
const BEHIND_NPX: usize = 3;

/// Ten servers, of which some are started by `npx` and some have children that outlive them.
fn machine() -> Context {
    let context = Context::new();
    let (command, arguments) = Scripted::stdio(&Script::new());
    let script = context.work().join("node_modules/.bin/scripted");
    let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let text = format!("#!/bin/sh\n{} {}\n", command.display(), words.join(" "));
    context.write_at(&script, &text);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut file = String::new();
    for nth in 0..SERVERS {
        let name = format!("s{nth}");
        file.push_str(&match nth {
            0..BEHIND_NPX => {
                format!("[servers.{name}]\ncommand = \"npx\"\nargs = [\"scripted\"]\n")
            }
            BEHIND_NPX => {
                let pids = context.work().join("pids");
                let fault = format!("fork_daemons:count=1,depth=1,pids={}", pids.display());
                entry(&name, &Script::new().fault(fault.as_str()))
            }
            _ => entry(&name, &Script::new()),
        });
    }
    let npx = which("npx");
    let path = format!("{}:/usr/bin:/bin", npx.parent().unwrap().display());
    context.with("switchboard.toml", &file).variable("PATH", &path)
}

#[expect(clippy::disallowed_methods, reason = "the tests run where npx is")]
fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|place| place.join(program));
    found.into_iter().find(|file| file.is_file()).expect("Node is installed")
}

/// Every process that a hub started: its servers by their mark, its guardian by its argument.
pub(crate) fn of_hub(pid: u32) -> Vec<String> {
    let mark = format!(":{pid}:");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let place = entry.path();
        let read = |name: &str| {
            let bytes = std::fs::read(place.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let environment = read("environ");
        let variable =
            environment.split(' ').find(|word| word.starts_with("SWITCHBOARD_INSTANCE="));
        let line = read("cmdline");
        let guards = line.contains(" guardian ") && line.contains(&mark);
        let stat = read("stat");
        let is_dead = stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X']));
        if !is_dead && (guards || variable.is_some_and(|variable| variable.contains(&mark))) {
            found.push(format!("{} {line}", place.display()));
        }
    }
    found
}

/// Within two seconds nothing of it is left. The machine may be slow, so time is counted in looks.
pub(crate) fn assert_none_left(hub: u32, when: &str) {
    let mut left = Vec::new();
    for _ in 0..40 {
        left = of_hub(hub);
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{when}: {left:#?}");
}

fn all_connected(context: &Context) {
    wait("all are connected", || {
        let now = status(context);
        now.len() == SERVERS && now.iter().all(|server| server["ok"] == true)
    });
}

#[test]
fn prove_nothing_outlives_a_killed_hub() {
    let context = machine();
    for round in 0..repetitions(200) {
        let mut hub = Hub::start(&context);
        if round == 0 {
            all_connected(&context);
            assert!(of_hub(hub.child.id()).len() > SERVERS, "each has a process, npx has more");
        } else {
            std::thread::sleep(Duration::from_millis(fastrand::u64(0..1500)));
        }
        hub.child.kill().unwrap();
        hub.child.wait().unwrap();
        assert_none_left(hub.child.id(), &format!("killed, round {round}"));
    }
}

#[test]
fn nothing_outlives_a_hub_that_is_stopped() {
    let context = machine();
    for (signals, code) in [(&["-TERM"][..], Some(0)), (&["-INT"], Some(0)), (&["-ABRT"], None)] {
        let mut hub = Hub::start(&context);
        all_connected(&context);
        signals.iter().for_each(|signal| hub.signal(signal));
        assert_eq!(hub.child.wait().unwrap().code(), code, "{signals:?}");
        assert_none_left(hub.child.id(), &format!("{signals:?}"));
    }
}

/// The second signal does not wait for a server that does not want to end.
#[test]
fn nothing_outlives_a_hub_that_is_stopped_twice() {
    let text =
        entry("stubborn", &Script::new().fault("ignore_sigterm").fault("ignore_stdin_close"));
    let text = format!("{text}stop_grace = \"120s\"\n");
    let context = Context::new().with("switchboard.toml", &text);
    let mut hub = Hub::start(&context);
    wait("it is connected", || status(&context).iter().all(|server| server["ok"] == true));
    hub.signal("-TERM");
    wait("it is stopping", || TcpStream::connect(&hub.address).is_err());
    hub.signal("-TERM");
    assert_eq!(hub.child.wait().unwrap().code(), Some(1));
    assert_none_left(hub.child.id(), "twice");
}

/// A shell that crashes takes its terminal with it, and so the hub that ran in it.
#[test]
fn nothing_outlives_the_shell_it_was_started_from() {
    let context = machine();
    let mut terminal = context.in_terminal("up --listen 127.0.0.1:0");
    wait("the hub answers", || context.run(&["status"]).code == 0);
    all_connected(&context);
    let hub = hub_pid(&context);
    let shell = std::fs::read_to_string(format!("/proc/{hub}/stat")).unwrap();
    let parent = shell.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().to_owned();
    assert_ne!(parent, terminal.id().to_string(), "the shell is between");
    assert!(Command::new("kill").args(["-KILL", &parent]).status().unwrap().success());
    wait("the hub has ended", || !std::fs::exists(format!("/proc/{hub}")).unwrap());
    assert_none_left(hub, "the shell crashed");
    let _ = terminal.kill();
    let _ = terminal.wait();
}

fn hub_pid(context: &Context) -> u32 {
    let lock = context.home().join(".local/state/switchboard/hub.lock");
    let text = std::fs::read_to_string(lock).unwrap();
    text.trim_start_matches("pid ").split(',').next().unwrap().parse().unwrap()
}

impl Context {
    /// Runs the program in a shell on a terminal of its own.
    fn in_terminal(&self, args: &str) -> std::process::Child {
        let program = env!("CARGO_BIN_EXE_switchboard");
        let mut command = Command::new("script");
        // The shell stays, as one that a person types into.
        command.args(["-qfec", &format!("{program} {args}; sleep 1"), "/dev/null"]);
        self.prepare(&mut command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}
