//! Every fault beside healthy servers under load: these lose no call, the faulty one comes back by
//! itself when its fault ends, and nothing is left behind.

mod level;
mod rows;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use switchboard_model::{HttpKind, ServerName, ServerSpec, ServerState};
use switchboard_testkit::script::{Script, Scripted, Speaks, names};
use switchboard_testkit::{Scratch, repetitions};
use switchboard_upstream::Waits;
use tokio::task::block_in_place;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::kit::{self, Hub, command, desired, is_running, key, url};
use crate::remote::{Manner, Remote};
use level::Level;
use rows::{Eras, Harm, ROWS, Row, Way};

/// However loaded the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
/// Callers of each healthy server.
const CALLERS: usize = 4;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn prove_faults_harm_nobody_and_leave_nothing() {
    let known: BTreeSet<_> = names().collect();
    let tried: BTreeSet<_> = ROWS.iter().map(Row::name).collect();
    assert_eq!(known, tried, "every fault has its row");

    let near = Scripted::http(&Script::new());
    let healthy = [command("near", &Script::new()), url("far", near.url(), HttpKind::Streamable)];
    let mut context = kit::context();
    context.waits = Waits {
        probe: Duration::from_secs(1),
        silence: Duration::from_secs(3),
        check: Duration::from_secs(1),
        ..Waits::default()
    };
    let hub = Arc::new(Hub::with(context, healthy.clone()).await);
    let before = ["near", "far"].map(|name| hub.upstreams.get(&key(name)).unwrap());
    let load = Load::on(&hub);

    let mut levels: Vec<Level> = Vec::new();
    for round in 0..repetitions(50) {
        Round::begin(round, &hub, &healthy).await.play(&hub).await;
        hub.upstreams.reconcile(&desired(healthy.clone())).await;
        let base = levels.get(1).copied();
        levels.push(Level::settled(base, round).await);
    }
    level::memory_is_level(&levels);
    for (name, before) in ["near", "far"].into_iter().zip(&before) {
        let now = hub.upstreams.get(&key(name)).unwrap();
        assert!(Arc::ptr_eq(&now, before), "the connection to {name} was never touched");
    }
    drop(before);
    load.end().await;
    Arc::into_inner(hub).unwrap().stop().await;
    assert_eq!(level::processes(), Vec::<u32>::new());
}

/// Callers of the healthy servers, all the time.
struct Load {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicU64>,
    lost: Arc<std::sync::Mutex<Vec<String>>>,
    tasks: TaskTracker,
}

impl Load {
    fn on(hub: &Arc<Hub>) -> Self {
        let load = Self {
            stop: Arc::default(),
            made: Arc::default(),
            lost: Arc::default(),
            tasks: TaskTracker::new(),
        };
        for name in ["near", "far"].repeat(CALLERS) {
            let (hub, stop) = (hub.clone(), load.stop.clone());
            let (made, lost) = (load.made.clone(), load.lost.clone());
            load.tasks.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    if let Err(error) = hub.tool(name, "sleep", r#"{"ms":5}"#).await {
                        lost.lock().unwrap().push(format!("{name}: {error}"));
                    }
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        load
    }

    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tasks.close();
        self.tasks.wait().await;
        let (lost, made) = (self.lost.lock().unwrap(), self.made.load(Ordering::Relaxed));
        assert!(lost.is_empty() && made > 0, "{} of {made} lost: {:?}", lost.len(), lost.first());
        eprintln!("{made} calls of healthy servers, none lost");
    }
}

/// Every fault at once, each on a server of its own.
struct Round {
    scratch: Scratch,
    lanes: Vec<Lane>,
}

/// One faulty server.
struct Lane {
    row: &'static Row,
    name: String,
    /// The fault lasts as long as this file is there.
    file: PathBuf,
    /// A server that the hub does not start.
    remote: Option<Scripted>,
    spec: ServerSpec,
}

impl Round {
    async fn begin(number: u32, hub: &Hub, healthy: &[ServerSpec]) -> Self {
        let scratch = Scratch::new();
        let every = ROWS.iter().flat_map(|row| row.ways.iter().map(move |way| (row, *way)));
        let lanes = every.enumerate().map(|(at, (row, way))| {
            let file = scratch.path().join(format!("fault-{at}"));
            std::fs::write(&file, "").unwrap();
            Lane::new(row, way, at, number, file)
        });
        let lanes: Vec<Lane> = block_in_place(|| lanes.collect());
        let specs = lanes.iter().map(|lane| lane.spec.clone());
        hub.upstreams.reconcile(&desired(specs.chain(healthy.iter().cloned()))).await;
        Self { scratch, lanes }
    }

    async fn play(self, hub: &Hub) {
        let trouble = join_all(self.lanes.into_iter().map(|lane| lane.play(hub))).await;
        let trouble: Vec<String> = trouble.into_iter().filter_map(Result::err).collect();
        drop(self.scratch);
        assert!(trouble.is_empty(), "{}", trouble.join("\n"));
    }
}

impl Lane {
    fn new(row: &'static Row, way: Way, at: usize, round: u32, file: PathBuf) -> Self {
        let era = match (row.eras, way) {
            (Eras::Session, _) | (_, Way::Sse) => "session",
            (Eras::Stateless, _) => "stateless",
            (Eras::Both, _) if (at + round as usize).is_multiple_of(2) => "session",
            (Eras::Both, _) => "stateless",
        };
        let script = Script::new().speaks(Speaks::parse(era).unwrap());
        let script = script.fault(row.fault).while_file(&file);
        let name = format!("lane-{at}");
        let (remote, mut spec) = match way {
            Way::Stdio => (None, command(&name, &script)),
            Way::Http => {
                let server = Scripted::http(&script);
                let spec = url(&name, server.url(), HttpKind::Streamable);
                (Some(server), spec)
            }
            Way::Sse => {
                let server = Scripted::sse(&script);
                let spec = url(&name, server.url(), HttpKind::Sse);
                (Some(server), spec)
            }
        };
        spec.name = ServerName::parse(&name).unwrap();
        spec.timing.stop_grace = Duration::from_millis(300);
        match row.harm {
            // No limit may be what makes a harmless fault harmful on a slow machine.
            Harm::None => {}
            Harm::Call | Harm::Perhaps | Harm::SignIn => {
                spec.timing.connect = Duration::from_millis(1500);
                spec.timing.call = Duration::from_millis(1500);
                spec.timing.health_interval = Duration::from_millis(300);
            }
        }
        Self { row, name: format!("{} over {way:?}, {era}", row.fault), file, remote, spec }
    }

    async fn play(mut self, hub: &Hub) -> Result<(), String> {
        let server = self.spec.name.to_string();
        self.begin(hub, &server).await;
        let calls = (0..4).map(|_| hub.tool(&server, "echo", r#"{"text":"hello"}"#));
        let answers = join_all(calls).await;
        let good = answers.iter().filter(|answer| answer.as_deref() == Ok("hello")).count();
        let as_said = match self.row.harm {
            Harm::None => good == answers.len(),
            Harm::Call | Harm::SignIn => good < answers.len(),
            Harm::Perhaps => true,
        };
        if !as_said {
            return Err(format!("{}: {answers:?}, {:?}", self.name, hub.state(&server)));
        }
        self.end();
        self.comes_back(hub, &server).await
    }

    /// Waits until the server is there, or shows what is wrong.
    async fn begin(&self, hub: &Hub, server: &str) {
        if self.row.harm == Harm::SignIn {
            hub.until(server, |state| matches!(state, ServerState::NeedsAuth { .. })).await;
        }
        let end = Instant::now() + Duration::from_millis(1500);
        while !hub.state(server).is_settled() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The fault ends; somebody starts again what the hub cannot.
    fn end(&mut self) {
        std::fs::remove_file(&self.file).unwrap();
        if let Some(remote) = &mut self.remote
            && !is_running(remote.pid())
        {
            block_in_place(|| remote.restart_same());
        }
    }

    async fn comes_back(&self, hub: &Hub, server: &str) -> Result<(), String> {
        if self.row.harm == Harm::SignIn {
            hub.upstreams.reconnect(&key(server)).await;
        }
        let end = Instant::now() + PATIENCE;
        let mut last = None;
        while Instant::now() < end {
            match hub.tool(server, "echo", r#"{"text":"back"}"#).await {
                Ok(text) if text == "back" => return Ok(()),
                other => last = Some(other),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(format!("{} does not come back: {last:?}, {:?}", self.name, hub.state(server)))
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn prove_remote_sessions_leave_no_handle() {
    let remote = Remote::start(Manner::Events).await;
    let hub = Hub::start([]).await;
    let mut level = 0;
    for round in 0..repetitions(50) {
        hub.upstreams.reconcile(&desired([remote.spec("r")])).await;
        hub.upstreams.settle(Duration::from_secs(60)).await;
        hub.tool("r", "echo", "{}").await.unwrap();
        hub.upstreams.reconcile(&desired([])).await;
        // Both ends of a few pooled connections are in this process.
        if round == 0 {
            level = level::handles();
        }
        let mut looks = 0..3000;
        while level::handles() > level + 8 && looks.next().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let now = level::handles();
        assert!(now <= level + 8, "round {round}: {level} became {now}");
    }
}
