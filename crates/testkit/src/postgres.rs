//! A PostgreSQL of the test's own: from `SWITCHBOARD_TEST_POSTGRES`, else Debian's programs in a
//! temporary directory, as an unprivileged user, on a socket and on a free port of loopback. Gone when the value drops.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
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
    port: u16,
    server: Option<Child>,
}

/// Every index in order, and nothing in a table that its index lacks.
const INDEXES: &str = "SELECT bt_index_parent_check(c.oid, true, true) FROM pg_class c \
    JOIN pg_am a ON a.oid = c.relam WHERE c.relkind = 'i' AND a.amname = 'btree' \
    AND c.relnamespace = 'public'::regnamespace";

/// What is wrong with rows, and with what lies beside them.
const ROWS: &str = "SELECT c.relname, v.msg FROM pg_class c, \
    LATERAL verify_heapam(c.oid, check_toast => true) v \
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace";

/// A question for each reference between tables: which rows refer to nothing.
const REFERENCES: &str = "SELECT format('SELECT %L, r.* FROM %s r LEFT JOIN %s t ON (%s) WHERE %s', \
    k.conname, k.conrelid::regclass, k.confrelid::regclass, \
    string_agg(format('r.%I = t.%I', a.attname, b.attname), ' AND '), \
    string_agg(format('r.%I IS NOT NULL AND t.%I IS NULL', a.attname, b.attname), ' AND ')) \
    FROM pg_constraint k, LATERAL unnest(k.conkey, k.confkey) AS u(here, there) \
    JOIN pg_attribute a ON a.attnum = u.here JOIN pg_attribute b ON b.attnum = u.there \
    WHERE k.contype = 'f' AND a.attrelid = k.conrelid AND b.attrelid = k.confrelid \
    GROUP BY k.oid, k.conname, k.conrelid, k.confrelid";

/// How long anything may take on a slow, loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

/// Below those that systems give to whoever connects somewhere: one that is free stays so, as a rule.
const PORTS: std::ops::Range<u16> = 15_000..32_000;
/// So many ports are tried.
const TRIES: u32 = 20;

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
        let mut cluster = Cluster { user: unprivileged(), home, bin, port: 0, server: None };
        cluster.initialise();
        let came = (0..TRIES).any(|_| {
            cluster.port = free_port();
            cluster.start()
        });
        assert!(came, "postgres did not start: {}", cluster.log());
        Self(Kind::Own(Box::new(cluster)))
    }

    /// The URL of a new, empty database, by the socket of our own.
    pub fn database(&self) -> String {
        self.made(Cluster::url)
    }

    /// The same by TCP.
    pub fn database_by_tcp(&self) -> String {
        self.made(Cluster::tcp_url)
    }

    fn made(&self, address: fn(&Cluster, &str) -> String) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("switchboard_{}_{next}", std::process::id());
        let url = match &self.0 {
            Kind::Given(url) => url.clone(),
            Kind::Own(cluster) => cluster.url("postgres"),
        };
        self.ask(&url, &format!("CREATE DATABASE {name}"));
        match &self.0 {
            Kind::Given(url) => with_database(url, &name),
            Kind::Own(cluster) => address(cluster, &name),
        }
    }

    /// The database of this URL as somebody would back it up.
    pub fn dump(&self, url: &str) -> String {
        run(self.program("pg_dump").arg(url))
    }

    /// Where our own has everything: its tables, its write-ahead log, and what it said.
    pub fn home(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Given(_) => None,
            Kind::Own(cluster) => Some(cluster.home.path()),
        }
    }

    /// What a query answers in the database of this URL, behind its user's back: a row a line.
    pub fn ask(&self, url: &str, query: &str) -> String {
        let mut command = self.program("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", query, url]);
        run(&mut command).trim().to_owned()
    }

    fn program(&self, name: &str) -> Command {
        Command::new(match &self.0 {
            Kind::Given(_) => PathBuf::from(name),
            Kind::Own(cluster) => cluster.bin.join(name),
        })
    }

    /// Finds what is broken in the database of this URL: every index against its table and its order, every
    /// row of every table as it lies on the disk, and every reference. Empty if all is sound.
    pub fn faults(&self, url: &str) -> String {
        self.ask(url, "CREATE EXTENSION IF NOT EXISTS amcheck");
        // An index that is broken is an error, which stops the test.
        self.ask(url, INDEXES);
        let references = self.ask(url, REFERENCES);
        let questions = references.lines().map(str::to_owned).chain([ROWS.to_owned()]);
        questions.map(|question| self.ask(url, &question)).collect()
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

    /// Starts it again, with what it had, where it was.
    pub fn start_again(&mut self) {
        if let Kind::Own(cluster) = &mut self.0 {
            let came = (0..TRIES).any(|_| cluster.start());
            assert!(came, "postgres did not start again: {}", cluster.log());
        }
    }
}

impl Cluster {
    fn url(&self, database: &str) -> String {
        let (port, home) = (self.port, self.home.path().display());
        format!("postgres://postgres@localhost:{port}/{database}?host={home}")
    }

    fn tcp_url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
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

    /// Whether it came up: not if somebody else has the port.
    fn start(&mut self) -> bool {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.home.path());
        command.arg("-p").arg(self.port.to_string());
        // The machine does not fail under a test, so nothing need be forced to the disk.
        let settings = ["fsync=off", "max_connections=200", "shared_buffers=16MB"];
        for setting in settings.iter().chain(&["listen_addresses=127.0.0.1"]) {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(self.home.path().join("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut server = command.spawn().expect("postgres starts");
        let port = self.port.to_string();
        let ready = || {
            let mut command = Command::new(self.bin.join("pg_isready"));
            command.args(["-q", "-p", &port, "-h"]).arg(self.home.path());
            command.status().is_ok_and(|status| status.success())
        };
        for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
            std::thread::sleep(STEP);
            if ready() {
                self.server = Some(server);
                return true;
            }
            if server.try_wait().is_ok_and(|ended| ended.is_some()) {
                return false;
            }
        }
        self.server = Some(server);
        panic!("postgres did not start: {}", self.log());
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

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} failed: {said}", command.get_program());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A port that nobody has at the moment.
fn free_port() -> u16 {
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(1000).find(free);
    port.expect("a free port")
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
