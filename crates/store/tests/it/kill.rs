//! `kill -9` at random moments under write load: what was acknowledged is there, the database is
//! sound, the chain verifies.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::SystemClock;
use switchboard_store::{Address, Options, Store, Verdict};
use switchboard_testkit::{Postgres, repetitions};

use crate::kit::{World, global};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prove_sqlite_loses_nothing_acknowledged() {
    // Its own check is made in each round.
    kill(World::sqlite(), repetitions(200), || {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prove_postgres_loses_nothing_acknowledged() {
    let server = Postgres::start();
    let world = World::postgres(&server);
    let Address::Postgres(url) = world.address.clone() else { unreachable!("it is PostgreSQL") };
    kill(world, repetitions(50), || assert_eq!(server.faults(url.expose()), "")).await;
}

async fn kill(world: World, times: u32, sound: impl Fn()) {
    let mut acknowledged = BTreeSet::new();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..times {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let lines = run_and_kill(&world, Duration::from_millis(50 + random % 400), round);
        acknowledged.extend(lines);
        sound();
        check(&world, &acknowledged).await;
    }
    eprintln!(
        "{} changes were acknowledged in {times} lives, and all are there",
        acknowledged.len()
    );
    assert!(acknowledged.len() > times as usize, "the writer hardly wrote");
}

/// What a writer said it had done, until it was killed.
fn run_and_kill(world: &World, after: Duration, round: u32) -> Vec<String> {
    let (kind, address) = match &world.address {
        Address::Sqlite(path) => ("sqlite", path.display().to_string()),
        Address::Postgres(url) => ("postgres", url.expose().to_owned()),
    };
    let mut writer = Command::new(env!("CARGO_BIN_EXE_store-test-writer"))
        .args([kind, &address, world.key_file().to_str().unwrap(), &round.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    // Not before it has begun: a start alone proves nothing.
    let mut said: Vec<String> = lines.by_ref().take(1).map(Result::unwrap).collect();
    let reading = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    std::thread::sleep(after);
    writer.kill().unwrap();
    writer.wait().unwrap();
    said.extend(reading.join().unwrap());
    said
}

async fn check(world: &World, acknowledged: &BTreeSet<String>) {
    if let Address::Sqlite(path) = &world.address {
        let url = format!("sqlite://{}", path.display());
        let mut connection =
            <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.unwrap();
        let query = sqlx::query_scalar::<_, String>("PRAGMA integrity_check");
        assert_eq!(query.fetch_one(&mut connection).await.unwrap(), "ok");
        sqlx::Connection::close(connection).await.unwrap();
    }
    let options = Options { clock: Arc::new(SystemClock), ..world.options() };
    let store = Store::open(options).await.unwrap();
    let verdict = store.audit().verify().await.unwrap();
    assert!(matches!(verdict, Verdict::Whole { .. }), "{verdict:?}");
    let servers = store.servers().declared().await.unwrap();
    let users: BTreeSet<_> =
        store.users().list().await.unwrap().into_iter().map(|u| u.id).collect();
    for line in acknowledged {
        let (kind, name) = line.split_once(' ').unwrap();
        let there = match kind {
            "server" => servers.contains_key(&global(name)),
            "user" => users.contains(name),
            "credential" => {
                let found = store.credentials().get(&global(name), None).await.unwrap();
                found.is_some_and(|(_, value)| value.expose() == name)
            }
            "rotated" => true,
            other => panic!("the writer said {other}"),
        };
        assert!(there, "{line} was acknowledged and is gone");
    }
    store.close().await.unwrap();
}
