//! The master key in the keyring of the operating system, on a bus and in a keyring of the test's
//! own. Where these cannot be had, it says that it tested nothing.

use switchboard_store::{KeySource, Options, Store};

use crate::kit::{World, ada};

const INSIDE: &str = "SWITCHBOARD_TEST_KEYRING";

#[test]
fn a_key_is_made_found_and_rotated_in_the_keyring() {
    if inside() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(made_found_and_rotated());
    }
    let home = switchboard_testkit::Scratch::new();
    let itself = std::env::current_exe().unwrap();
    let Some(mut command) = switchboard_testkit::keyring::session(home.path(), itself) else {
        return;
    };
    command.args(["--exact", "keyring::a_key_is_made_found_and_rotated_in_the_keyring"]);
    let ran = command.arg("--nocapture").env(INSIDE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}\n{said}", String::from_utf8_lossy(&ran.stdout));
}

async fn made_found_and_rotated() {
    let world = World::sqlite();
    let source = || KeySource::Keyring {
        service: "switchboard-test".to_owned(),
        account: "master".to_owned(),
    };
    let open = || Store::open(Options { key: source(), ..world.options() });
    let secret = switchboard_model::Secret::new("canary");
    let store = open().await.unwrap();
    store.settings().set_secret("s", Some(&secret), &ada()).await.unwrap();
    store.close().await.unwrap();
    let store = open().await.unwrap();
    store.rotate(source()).await.unwrap();
    store.close().await.unwrap();
    let store = open().await.unwrap();
    assert_eq!(store.settings().secret("s").await.unwrap().unwrap().expose(), "canary");
    store.close().await.unwrap();
    assert!(!world.key_file().exists());
}

#[expect(clippy::disallowed_methods, reason = "the test tells itself where it runs")]
fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}
