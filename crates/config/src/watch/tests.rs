//! What the watch sees, with real files: editors that rename, files that vanish and return, links
//! that are replaced, directories that come later, and files that break.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use switchboard_model::SystemClock;
use tempfile::TempDir;

use super::*;
use crate::locate::Selection;

struct Scene {
    dir: TempDir,
    updates: Receiver<Update>,
    watch: Watch,
}

/// Long enough for a busy machine; nothing waits that long when it works.
const PATIENCE: Duration = Duration::from_secs(20);

impl Scene {
    fn new(files: &[&str], before: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        before(dir.path());
        let files: Vec<PathBuf> = files.iter().map(|name| dir.path().join(name)).collect();
        let mut loader = Loader::new(Selection::Named(files), Arc::new(SystemClock));
        let loaded = Arc::new(loader.load());
        let (send, updates) = channel();
        let watch = Watch::start(loader, loaded, move |update| send.send(update).unwrap()).unwrap();
        // After that its own first look is over, and what comes is the test's doing.
        watch.reload();
        Self { dir, updates, watch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Waits until the desired state has exactly these servers.
    fn expect(&self, names: &[&str]) -> Arc<Loaded> {
        let mut seen = Vec::new();
        while let Ok(update) = self.updates.recv_timeout(PATIENCE) {
            let loaded = update.loaded();
            let servers: Vec<_> = loaded.desired.servers.keys().map(ToString::to_string).collect();
            if servers == names {
                return loaded.clone();
            }
            seen.push(servers);
        }
        panic!("{names:?} never came, only {seen:?}");
    }
}

fn toml(names: &[&str]) -> String {
    names.iter().map(|name| format!("[servers.{name}]\ncommand = \"x\"\n")).collect()
}

#[test]
fn what_is_saved_before_anybody_watches_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.toml");
    fs::write(&file, toml(&["a"])).unwrap();
    let selection = Selection::Named(vec![file.clone()]);
    let mut loader = Loader::new(selection, Arc::new(SystemClock));
    let loaded = Arc::new(loader.load());
    fs::write(&file, toml(&["a", "b"])).unwrap();
    let (send, updates) = channel();
    let watch = Watch::start(loader, loaded, move |update| send.send(update).unwrap()).unwrap();
    Scene { dir, updates, watch }.expect(&["a", "b"]);
}

#[test]
fn editors_that_write_and_editors_that_rename() {
    let scene = Scene::new(&["s.toml"], |dir| fs::write(dir.join("s.toml"), toml(&["a"])).unwrap());
    fs::write(scene.path("s.toml"), toml(&["a", "b"])).unwrap();
    scene.expect(&["a", "b"]);
    fs::write(scene.path("s.toml~"), toml(&["c"])).unwrap();
    fs::rename(scene.path("s.toml~"), scene.path("s.toml")).unwrap();
    scene.expect(&["c"]);
    // And once more, since the first rename replaced the watched file itself.
    fs::write(scene.path("s.toml"), toml(&["d"])).unwrap();
    scene.expect(&["d"]);
}

#[test]
fn several_files_and_a_burst_is_one_update() {
    let scene = Scene::new(&["a.toml", "b.toml"], |dir| {
        fs::write(dir.join("a.toml"), toml(&["a"])).unwrap();
        fs::write(dir.join("b.toml"), toml(&["b"])).unwrap();
    });
    for i in 0..10 {
        fs::write(scene.path("a.toml"), toml(&[&format!("a{i}")])).unwrap();
        fs::write(scene.path("b.toml"), toml(&[&format!("b{i}")])).unwrap();
    }
    scene.expect(&["a9", "b9"]);
    assert!(scene.updates.try_recv().is_err(), "nothing is published twice");
    // The same text once more says nothing new.
    fs::write(scene.path("a.toml"), toml(&["a9"])).unwrap();
    scene.watch.reload();
    assert!(scene.updates.try_recv().is_err());
}

#[test]
fn a_broken_file_keeps_the_last_good_state_and_says_so() {
    let scene = Scene::new(&["s.toml"], |dir| fs::write(dir.join("s.toml"), toml(&["a"])).unwrap());
    fs::write(scene.path("s.toml"), "[servers.a\n").unwrap();
    let told = scene.updates.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Update::Told(_)), "the state is the same: {told:?}");
    assert_eq!(told.loaded().problems.len(), 1);
    assert!(told.loaded().files[0].kept);
    fs::write(scene.path("s.toml"), toml(&["a", "b"])).unwrap();
    assert!(scene.expect(&["a", "b"]).problems.is_empty());
}

#[test]
fn a_file_that_vanishes_and_returns() {
    let scene = Scene::new(&["s.toml"], |dir| fs::write(dir.join("s.toml"), toml(&["a"])).unwrap());
    fs::remove_file(scene.path("s.toml")).unwrap();
    let told = scene.updates.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Update::Told(_)), "not gone yet: {told:?}");
    fs::write(scene.path("s.toml"), toml(&["b"])).unwrap();
    scene.expect(&["b"]);
    // Gone for good: after the grace its servers go too.
    fs::remove_file(scene.path("s.toml")).unwrap();
    scene.expect(&[]);
}

#[test]
fn a_directory_that_comes_later_and_goes() {
    let scene = Scene::new(&["x/y/s.toml"], |_| {});
    fs::create_dir_all(scene.path("x/y")).unwrap();
    std::thread::sleep(Duration::from_millis(700));
    fs::write(scene.path("x/y/s.toml"), toml(&["a"])).unwrap();
    scene.expect(&["a"]);
    // With its directory gone the file cannot be read, which removes nothing.
    fs::remove_dir_all(scene.path("x")).unwrap();
    let told = scene.updates.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Update::Told(_)), "{told:?}");
    fs::create_dir_all(scene.path("x/y")).unwrap();
    fs::write(scene.path("x/y/s.toml"), toml(&["b"])).unwrap();
    scene.expect(&["b"]);
}

#[cfg(unix)]
#[test]
fn links_that_are_replaced_as_kubernetes_does() {
    use std::os::unix::fs::symlink;
    let scene = Scene::new(&["conf/s.toml"], |dir| {
        fs::create_dir_all(dir.join("conf/..v1")).unwrap();
        fs::write(dir.join("conf/..v1/s.toml"), toml(&["a"])).unwrap();
        symlink("..v1", dir.join("conf/..data")).unwrap();
        symlink("..data/s.toml", dir.join("conf/s.toml")).unwrap();
    });
    for (version, name) in [("..v2", "b"), ("..v3", "c")] {
        fs::create_dir_all(scene.path("conf").join(version)).unwrap();
        fs::write(scene.path("conf").join(version).join("s.toml"), toml(&[name])).unwrap();
        symlink(version, scene.path("conf/..tmp")).unwrap();
        fs::rename(scene.path("conf/..tmp"), scene.path("conf/..data")).unwrap();
        scene.expect(&[name]);
    }
    // The directory itself may be a link too.
    fs::rename(scene.path("conf"), scene.path("old")).unwrap();
    fs::create_dir_all(scene.path("new")).unwrap();
    fs::write(scene.path("new/s.toml"), toml(&["d"])).unwrap();
    symlink("new", scene.path("conf")).unwrap();
    scene.expect(&["d"]);
    fs::create_dir_all(scene.path("newer")).unwrap();
    fs::write(scene.path("newer/s.toml"), toml(&["e"])).unwrap();
    symlink("newer", scene.path("conf.tmp")).unwrap();
    fs::rename(scene.path("conf.tmp"), scene.path("conf")).unwrap();
    scene.expect(&["e"]);
}

#[test]
fn internal_servers_come_change_and_go() {
    let manifest = |name: &str| {
        format!(r#"{{"annabelle": {{"name": "{name}", "command": "x", "args": []}}}}"#)
    };
    let scene = Scene::new(&["hub/s.toml"], |dir| {
        fs::create_dir_all(dir.join("hub")).unwrap();
        fs::write(dir.join("hub/s.toml"), "[hub]\n").unwrap();
        fs::create_dir_all(dir.join("a")).unwrap();
        fs::write(dir.join("a/package.json"), manifest("a")).unwrap();
    });
    fs::write(scene.path("hub/s.toml"), "[internal]\n").unwrap();
    scene.expect(&["a"]);
    fs::write(scene.path("a/package.json"), manifest("a2")).unwrap();
    scene.expect(&["a2"]);
    // A directory first, and long after it what makes it one of ours.
    fs::create_dir(scene.path("b")).unwrap();
    std::thread::sleep(DEBOUNCE * 2);
    fs::write(scene.path("b/package.json"), "{}").unwrap();
    std::thread::sleep(DEBOUNCE * 2);
    fs::write(scene.path("b/package.json"), manifest("b")).unwrap();
    scene.expect(&["a2", "b"]);
    fs::rename(scene.path("b"), scene.path("c")).unwrap();
    fs::write(scene.path("c/package.json"), manifest("c")).unwrap();
    scene.expect(&["a2", "c"]);
    fs::remove_dir_all(scene.path("a")).unwrap();
    scene.expect(&["c"]);
}
