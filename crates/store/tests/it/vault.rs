//! The vault: keys that are lost, wrong or readable, values that are moved, and rotation.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use switchboard_model::Secret;
use switchboard_store::{
    Counters, CredentialKind, Error, KeySource, NewCredential, Options, Recorder, RecorderOptions,
    Store,
};

use crate::kit::{World, ada, call, global, until, user};

suite! {
    a_wrong_key_is_an_error_at_open,
    a_lost_key_is_an_error_and_no_new_one_is_made,
    a_readable_key_is_refused,
    a_key_can_be_handed_in,
    a_value_that_is_moved_or_changed_does_not_open,
    rotation_changes_every_key_and_loses_nothing,
    a_rotation_cut_short_is_finished_at_the_next_start,
    another_instance_follows_a_rotation,
    a_key_that_is_changed_under_a_store_costs_no_record,
}

async fn fill(store: &Store, count: u32) {
    for n in 0..count {
        set(store, &format!("server-{n}"), &format!("secret-{n}")).await;
    }
}

async fn set(store: &Store, server: &str, value: &str) {
    let new = NewCredential {
        kind: CredentialKind::Bearer,
        value: Secret::new(value),
        issuer: None,
        scopes: None,
        expires_at: None,
        target: [7; 32],
    };
    store.credentials().set(&global(server), None, &new, &ada()).await.unwrap();
}

async fn get(store: &Store, server: &str) -> Result<String, Error> {
    let found = store.credentials().get(&global(server), None).await?;
    Ok(found.unwrap().1.expose().to_owned())
}

async fn all_there(store: &Store, count: u32) {
    for n in 0..count {
        assert_eq!(get(store, &format!("server-{n}")).await.unwrap(), format!("secret-{n}"));
    }
}

async fn a_wrong_key_is_an_error_at_open(world: World) {
    world.open().await.close().await.unwrap();
    fs::write(world.key_file(), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::KeyWrong { .. }), "{error}");
    fs::write(world.key_file(), "not a key").unwrap();
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::KeyMalformed { .. }), "{error}");
}

async fn a_lost_key_is_an_error_and_no_new_one_is_made(world: World) {
    world.open().await.close().await.unwrap();
    let kept = fs::read(world.key_file()).unwrap();
    fs::remove_file(world.key_file()).unwrap();
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::KeyLost { .. }), "{error}");
    assert!(!world.key_file().exists());
    fs::write(world.key_file(), kept).unwrap();
    fs::set_permissions(world.key_file(), fs::Permissions::from_mode(0o600)).unwrap();
    world.open().await.close().await.unwrap();
}

async fn a_readable_key_is_refused(world: World) {
    world.open().await.close().await.unwrap();
    fs::set_permissions(world.key_file(), fs::Permissions::from_mode(0o640)).unwrap();
    let error = world.try_open().await.unwrap_err();
    assert!(matches!(error, Error::KeyExposed { mode: 0o640, .. }), "{error}");
}

fn handed(world: &World, key: &str) -> Options {
    let key = KeySource::Value { key: Secret::new(key), place: "$KEY".to_owned() };
    Options { key, ..world.options() }
}

async fn a_key_can_be_handed_in(world: World) {
    let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let store = Store::open(handed(&world, hex)).await.unwrap();
    fill(&store, 3).await;
    store.close().await.unwrap();
    let store = Store::open(handed(&world, base64)).await.unwrap();
    all_there(&store, 3).await;
    store.close().await.unwrap();
    let error = Store::open(handed(&world, &base64.replace("AAEC", "BBEC"))).await.unwrap_err();
    assert!(matches!(error, Error::KeyWrong { .. }), "{error}");
    assert!(!world.key_file().exists());
}

async fn a_value_that_is_moved_or_changed_does_not_open(world: World) {
    let store = world.open().await;
    fill(&store, 2).await;
    world
        .raw(
            "UPDATE sealed SET value = (SELECT value FROM sealed WHERE id = ' global/server-0')
              WHERE id = ' global/server-1'",
        )
        .await;
    let error = get(&store, "server-1").await.unwrap_err();
    assert!(matches!(error, Error::Tampered { .. }), "{error}");
    assert_eq!(get(&store, "server-0").await.unwrap(), "secret-0");
    store.close().await.unwrap();
}

async fn rotation_changes_every_key_and_loses_nothing(world: World) {
    let store = world.peopled().await;
    fill(&store, 20).await;
    let before = fs::read(world.key_file()).unwrap();
    store.rotate(KeySource::File(world.key_file())).await.unwrap();
    all_there(&store, 20).await;
    set(&store, "server-0", "secret-0").await;
    assert_ne!(fs::read(world.key_file()).unwrap(), before);
    assert!(!world.scratch.path().join("state/master.key.next").exists());
    assert_eq!(world.count("SELECT COUNT(*) FROM data_keys").await, 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed WHERE key_id <> 2").await, 0);
    store.close().await.unwrap();
    let store = world.open().await;
    all_there(&store, 20).await;
    assert!(matches!(
        store.audit().verify().await.unwrap(),
        switchboard_store::Verdict::Whole { .. }
    ));
    // And on to a key that is handed in.
    let hex = "0f".repeat(32);
    let to = KeySource::Value { key: Secret::new(&hex), place: "$KEY".to_owned() };
    store.rotate(to).await.unwrap();
    all_there(&store, 20).await;
    store.close().await.unwrap();
    assert!(matches!(world.try_open().await.unwrap_err(), Error::KeyWrong { .. }));
    let store = Store::open(handed(&world, &hex)).await.unwrap();
    all_there(&store, 20).await;
    assert!(store.users().get(&user("ada")).await.unwrap().is_some());
    store.close().await.unwrap();
}

/// Every place at which it can be cut is one at which the future is dropped.
async fn a_rotation_cut_short_is_finished_at_the_next_start(world: World) {
    let store = world.open().await;
    fill(&store, 10).await;
    store.close().await.unwrap();
    let mut cut = 0;
    for polls in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
        let store = world.open().await;
        let mut rotation = Box::pin(store.rotate(KeySource::File(world.key_file())));
        let mut left = polls;
        let done = std::future::poll_fn(|context| {
            left -= 1;
            match rotation.as_mut().poll(context) {
                std::task::Poll::Pending if left > 0 => std::task::Poll::Pending,
                std::task::Poll::Pending => std::task::Poll::Ready(None),
                std::task::Poll::Ready(done) => std::task::Poll::Ready(Some(done)),
            }
        })
        .await;
        cut += u32::from(done.is_none());
        drop(rotation);
        store.close().await.unwrap();
        let store = world.open().await;
        all_there(&store, 10).await;
        assert_eq!(world.count("SELECT COUNT(*) FROM data_keys").await, 1, "after {polls}");
        store.close().await.unwrap();
    }
    assert!(cut >= 4, "only {cut} rotations were cut short");
}

async fn another_instance_follows_a_rotation(world: World) {
    let (here, there) = (world.open().await, world.open().await);
    fill(&here, 3).await;
    here.rotate(KeySource::File(world.key_file())).await.unwrap();
    all_there(&there, 3).await;
    set(&there, "server-1", "secret-1").await;
    all_there(&here, 3).await;
    here.close().await.unwrap();
    there.close().await.unwrap();
}

async fn a_key_that_is_changed_under_a_store_costs_no_record(world: World) {
    let (here, there) = (world.peopled().await, world.open().await);
    let recorder = Recorder::start(&here, RecorderOptions::default()).unwrap();
    let elsewhere = world.scratch.path().join("elsewhere.key");
    here.ping().await.unwrap();
    there.rotate(KeySource::File(elsewhere.clone())).await.unwrap();
    let error = here.ping().await.unwrap_err();
    assert!(matches!(error, Error::KeyWrong { .. }) && error.is_of_the_key(), "{error}");
    for n in 0..3 {
        recorder.record(call(&world, n));
    }
    until("they are tried", async || recorder.counters().queued == 3).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waiting = Counters { written: 0, dropped: 0, queued: 3 };
    assert_eq!(recorder.counters(), waiting);
    // Somebody brings the key.
    fs::copy(&elsewhere, world.key_file()).unwrap();
    until("they are written", async || recorder.counters().written == 3).await;
    here.ping().await.unwrap();
    assert_eq!(recorder.close(Duration::from_secs(60)).await.dropped, 0);
    here.close().await.unwrap();
    there.close().await.unwrap();
}
