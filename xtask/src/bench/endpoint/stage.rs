//! What runs while something is measured: hubs with a home of their own, floors and servers. All of
//! it ends with the value that stands for it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::load::{Target, resident};
use super::programs::Programs;
use crate::process;

/// How often something that should come up is looked for, fifty milliseconds apart.
const TRIES: usize = 1200;
const PAUSE: Duration = Duration::from_millis(50);
/// For so many looks a hub may not have become smaller, to be at rest.
const REST: usize = 60;

/// A child that ends with this.
pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let shown = format!("{} does not start", command.get_program().to_string_lossy());
        Ok(Self(command.spawn().context(shown)?))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    /// A hub has children of its own to end, so it is asked first.
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        for _ in 0..100 {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server or a floor, and how it is reached.
pub(super) struct Hop {
    process: Process,
    pub(super) address: String,
}

impl Hop {
    /// A fast server.
    pub(super) fn server(programs: &Programs, arguments: &[&str]) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(&programs.upstream);
        command.args(["--listen", &address]).args(arguments);
        Self::begin(command, address)
    }

    /// A floor in front of a server.
    pub(super) fn floor(floor: &Path, server: &Self) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(floor);
        command.args(["--listen", &address, "--upstream", &server.url()]);
        Self::begin(command, address)
    }

    /// The same floor, counted.
    pub(super) fn counted(floor: &Path, server: &Self, mut counter: Command) -> Result<Self> {
        let address = free_address()?;
        counter.arg(floor).args(["--listen", &address, "--upstream", &server.url()]);
        Self::begin(counter, address)
    }

    fn begin(command: Command, address: String) -> Result<Self> {
        let process = Process::start(command)?;
        let there = || std::net::TcpStream::connect(&address).is_ok();
        wait(&format!("{address} listens"), there)?;
        Ok(Self { process, address })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) fn target(&self, name: &'static str, tool: &'static str) -> Target {
        Target {
            name,
            url: self.url(),
            tool: tool.to_owned(),
            token: None,
            pid: self.process.pid(),
            child: None,
        }
    }
}

/// A directory for a hub, with its files and a token of the agent `bench`.
pub(super) struct Home {
    path: PathBuf,
    program: PathBuf,
    pub(super) token: String,
    pub(super) address: String,
}

impl Home {
    /// The servers in TOML, of which the agent has all.
    pub(super) fn new(programs: &Programs, name: &str, servers: &str) -> Result<Self> {
        let path = programs.scratch.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)
                .with_context(|| format!("cannot clear {}", path.display()))?;
        }
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let names: Vec<String> = servers
            .lines()
            .filter_map(|line| line.strip_prefix("[servers.")?.strip_suffix(']'))
            .map(|name| format!("{name:?}"))
            .collect();
        let agent = format!("\n[agents.bench]\nservers = [{}]\n", names.join(", "));
        let file = path.join("switchboard.toml");
        fs::write(&file, format!("{servers}{agent}"))
            .with_context(|| format!("cannot write {}", file.display()))?;
        let (program, address) = (programs.hub.clone(), free_address()?);
        let mut home = Self { path, program, token: String::new(), address };
        let mut command = home.put(Command::new(&home.program));
        command.args(["token", "create", "--agent", "bench", "--json"]);
        let made: serde_json::Value = serde_json::from_str(&process::output(command)?)?;
        home.token = made["token"].as_str().context("no token was made")?.to_owned();
        Ok(home)
    }

    /// A command in this home.
    pub(super) fn put(&self, mut command: Command) -> Command {
        command.current_dir(&self.path).env_clear();
        command.env("HOME", &self.path).env("PATH", "/usr/bin:/bin");
        command.env("SWITCHBOARD_LOG", "warn");
        command
    }

    /// The program and its arguments that make the hub.
    pub(super) fn up(&self) -> Vec<String> {
        let program = self.program.to_string_lossy().into_owned();
        vec![program, "up".to_owned(), "--listen".to_owned(), self.address.clone()]
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Starts the hub.
    pub(super) fn start(&self, programs: &Programs) -> Result<Hub> {
        self.start_as(programs, None)
    }

    /// Starts the hub below another program.
    pub(super) fn start_as(&self, programs: &Programs, below: Option<Command>) -> Result<Hub> {
        let words = self.up();
        let mut command = match below {
            Some(mut below) => {
                below.arg(&words[0]);
                self.put(below)
            }
            None => self.put(Command::new(&words[0])),
        };
        command.args(&words[1..]);
        let socket = self.path.join(".local/state/switchboard/hub.sock");
        let (process, token) = (Process::start(command)?, self.token.clone());
        let hub = Hub { process, url: self.url(), token, socket };
        wait("the hub answers", || hub.tools(programs, 1))?;
        Ok(hub)
    }
}

/// A running hub.
pub(super) struct Hub {
    process: Process,
    url: String,
    token: String,
    /// Where this machine's user asks it.
    socket: PathBuf,
}

impl Hub {
    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(super) fn target(&self, name: &'static str, tool: &str) -> Target {
        Target {
            name,
            url: self.url.clone(),
            tool: tool.to_owned(),
            token: Some(self.token.clone()),
            pid: self.process.pid(),
            child: None,
        }
    }

    /// Waits until so many tools are on offer and this one can be called.
    pub(super) fn ready(&self, programs: &Programs, tools: usize, tool: &str) -> Result<()> {
        wait(&format!("the hub offers {tools} tools"), || self.tools(programs, tools))?;
        let target = self.target("hub", tool);
        wait(&format!("`{tool}` can be called"), || target.once(programs))
    }

    /// Waits until it gives no memory back any more: after a start it does for a while.
    pub(super) fn rest(&self) -> Result<()> {
        let (mut least, mut since) = (f64::INFINITY, 0);
        let mut failed = None;
        wait("the hub is at rest", || match resident(self.pid()) {
            Ok(now) => {
                since = if now < 0.99 * least { 0 } else { since + 1 };
                least = least.min(now);
                since >= REST
            }
            Err(error) => {
                failed = Some(error);
                true
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// What it counts, as it tells this machine's user.
    pub(super) fn metrics(&self) -> Result<String> {
        let mut socket = UnixStream::connect(&self.socket).context("the hub has no socket")?;
        let ask = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        socket.write_all(ask.as_bytes()).context("the hub is gone")?;
        let mut said = String::new();
        socket.read_to_string(&mut said).context("the hub is gone")?;
        Ok(said)
    }

    fn tools(&self, programs: &Programs, at_least: usize) -> bool {
        self.target("hub", "").lists(programs, at_least)
    }

    /// The one process of a server that the hub started, however many use it.
    pub(super) fn child(&self, program: &Path) -> Result<u32> {
        let wanted = program.to_string_lossy().into_owned();
        let of_hub = |pid: &u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            parent.is_some_and(|parent| parent.trim() == self.pid().to_string())
                && line.starts_with(&wanted)
        };
        let all = fs::read_dir("/proc").context("there is no /proc")?;
        let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let found: Vec<u32> = pids.filter(of_hub).collect();
        match found[..] {
            [one] => Ok(one),
            _ => {
                bail!("the hub has started {} processes of its server instead of one", found.len())
            }
        }
    }
}

fn free_address() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on loopback")?;
    Ok(listener.local_addr()?.to_string())
}

pub(super) fn wait(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    for _ in 0..TRIES {
        if is_so() {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    bail!("it never came about that {what}")
}
