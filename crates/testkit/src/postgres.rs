//! A PostgreSQL of the test's own: from `SWITCHBOARD_TEST_POSTGRES`, else Debian's programs in a
//! temporary directory, as an unprivileged user, on a socket. Gone when the value drops.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::data::variable;

/// A running PostgreSQL.
#[derive(Debug)]
pub struct Postgres(Kind);

#[derive(Debug)]
enum Kind {
    /// Somebody else's, by its URL.
    Given(String),
    /// Our own.
    Own(Box<Cluster>),
}

#[derive(Debug)]
struct Cluster {
    home: TempDir,
    bin: PathBuf,
    user: Option<(u32, u32)>,
    server: Option<Child>,
}

/// How long anything may take on a slow, loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

impl Postgres {
    /// Starts one, or takes the one that is given.
    pub fn start() -> Self {
        if let Some(url) = variable("SWITCHBOARD_TEST_POSTGRES") {
            return Self(Kind::Given(url));
        }
        let bin = binaries().expect(
            "PostgreSQL's programs in /usr/lib/postgresql (`apt-get install postgresql`), or SWITCHBOARD_TEST_POSTGRES",
        );
        let home =
            tempfile::Builder::new().prefix("swpg").tempdir().expect("a temporary directory");
        let mut cluster = Cluster { user: unprivileged(), home, bin, server: None };
        cluster.initialise();
        cluster.start();
        Self(Kind::Own(Box::new(cluster)))
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("switchboard_{}_{next}", std::process::id());
        let (psql, url) = match &self.0 {
            Kind::Given(url) => (PathBuf::from("psql"), url.clone()),
            Kind::Own(cluster) => (cluster.bin.join("psql"), cluster.url("postgres")),
        };
        let mut command = Command::new(psql);
        command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c"]);
        run(command.arg(format!("CREATE DATABASE {name}")).arg(url));
        match &self.0 {
            Kind::Given(url) => with_database(url, &name),
            Kind::Own(cluster) => cluster.url(&name),
        }
    }

    /// Whether it is our own and can be stopped.
    pub fn is_own(&self) -> bool {
        matches!(self.0, Kind::Own(_))
    }

    /// Stops it, as if the machine were away.
    pub fn stop(&mut self) {
        if let Kind::Own(cluster) = &mut self.0 {
            cluster.stop(Signal::INT);
        }
    }

    /// Starts it again, with what it had.
    pub fn start_again(&mut self) {
        if let Kind::Own(cluster) = &mut self.0 {
            cluster.start();
        }
    }
}

impl Cluster {
    fn url(&self, database: &str) -> String {
        format!("postgres://postgres@localhost/{database}?host={}", self.home.path().display())
    }

    fn initialise(&self) {
        if let Some((user, group)) = self.user {
            chown(self.home.path(), Some(user), Some(group)).expect("a directory to give away");
        }
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(self.home.path(), private).expect("a directory to protect");
        let mut command = self.command("initdb");
        command.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"]);
        run(command.args(["--no-locale", "--pgdata"]).arg(self.data()));
    }

    fn start(&mut self) {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.home.path());
        // The machine does not fail under a test, so nothing need be forced to the disk.
        for setting in
            ["listen_addresses=", "fsync=off", "max_connections=200", "shared_buffers=16MB"]
        {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(self.home.path().join("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(command.spawn().expect("postgres starts"));
        let ready = || {
            let mut command = Command::new(self.bin.join("pg_isready"));
            command.arg("-q").arg("-h").arg(self.home.path()).status().is_ok_and(|s| s.success())
        };
        let tries = PATIENCE.as_millis() / STEP.as_millis();
        let came = (0..tries).any(|_| {
            std::thread::sleep(STEP);
            ready()
        });
        assert!(came, "postgres did not start: {}", self.log());
    }

    fn stop(&mut self, signal: Signal) {
        let Some(mut server) = self.server.take() else { return };
        if let Some(pid) = i32::try_from(server.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
        let _ = server.wait();
    }

    /// One of its programs, as the unprivileged user; it dies with the test, however that dies.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        if let Some((user, group)) = self.user {
            command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
            command.arg("--clear-groups");
        }
        command.args(["--pdeathsig=QUIT", "--"]).arg(self.bin.join(program));
        command.current_dir(self.home.path()).env("LC_ALL", "C");
        command
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop(Signal::QUIT);
    }
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} failed: {said}", command.get_program());
}

/// The newest version's directory.
fn binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let versions = versions.filter_map(|entry| {
        let path = entry.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let bin = path.join("bin");
        bin.join("postgres").is_file().then_some((number, bin))
    });
    versions.max().map(|(_, bin)| bin)
}

/// PostgreSQL refuses root: then it is its own user, or nobody.
fn unprivileged() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("a list of users");
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("an unprivileged user"))
}

fn with_database(url: &str, name: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(a, q)| (a, Some(q)));
    let server = match address.match_indices('/').nth(2) {
        Some((at, _)) => &address[..at],
        None => address,
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{server}/{name}{query}")
}
