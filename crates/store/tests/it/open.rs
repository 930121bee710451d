//! Opening: the schema, several at once, a newer version, what others may read.

use switchboard_store::{Address, Error, Verdict};

use crate::kit::World;

suite! {
    a_second_start_changes_nothing,
    several_start_at_once,
    a_newer_store_is_refused,
    another_schema_is_refused,
}

async fn a_second_start_changes_nothing(world: World) {
    let store = world.peopled().await;
    let before = store.audit().head().await.unwrap();
    store.close().await.unwrap();
    let store = world.open().await;
    assert_eq!(store.users().list().await.unwrap().len(), 2);
    assert_eq!(store.audit().head().await.unwrap(), before);
    assert_eq!(world.count("SELECT COUNT(*) FROM data_keys").await, 1);
    store.close().await.unwrap();
}

async fn several_start_at_once(world: World) {
    let starts = (0..4).map(|_| world.try_open());
    let (a, b, c, d) = {
        let mut starts = starts;
        let mut next = || starts.next().unwrap();
        tokio::join!(next(), next(), next(), next())
    };
    for store in [a, b, c, d] {
        let store = store.unwrap();
        assert!(matches!(store.audit().verify().await.unwrap(), Verdict::Whole { .. }));
        store.close().await.unwrap();
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM schema_steps").await, 5);
    assert_eq!(world.count("SELECT COUNT(*) FROM data_keys").await, 1);
}

async fn a_newer_store_is_refused(world: World) {
    world.open().await.close().await.unwrap();
    world.raw("INSERT INTO schema_steps SELECT 99, hash FROM schema_steps WHERE version = 1").await;
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::TooNew { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("newer version"), "{error}");
}

async fn another_schema_is_refused(world: World) {
    world.open().await.close().await.unwrap();
    let other = "'0000000000000000000000000000000000000000000000000000000000000000'";
    let hash = match world.address {
        Address::Sqlite(_) => format!("x{other}"),
        Address::Postgres(_) => format!("decode({other}, 'hex')"),
    };
    world.raw(&format!("UPDATE schema_steps SET hash = {hash}")).await;
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::OtherSchema { version: 1 }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_the_embedded_database() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::sqlite();
    let store = world.peopled().await;
    let state = world.scratch.path().join("state");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    let mut names = Vec::new();
    for file in std::fs::read_dir(&state).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["master.key", "store.db", "store.db-shm", "store.db-wal"]);
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_database_that_is_not_there_is_a_clear_error_without_its_password() {
    let mut world = World::sqlite();
    let url = "postgres://ada:canary-password@127.0.0.1:1/none";
    world.address = Address::Postgres(switchboard_model::Secret::new(url));
    let error = world.try_open().await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert!(!format!("{error:?} {error} {:?}", world.address).contains("canary"));
}
