//! Which directories' packages are internal servers, what their manifests say, and what stays when
//! one breaks or goes.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    AgentId, Clock as _, ServerKey, ServerName, ServerSpec, Standing, Transport,
};
use switchboard_testkit::{ManualClock, Scratch};

use super::*;
use crate::load::Loader;
use crate::locate::Selection;

/// A system of parts: `hub` has the file, the others are beside it.
struct Scene {
    scratch: Scratch,
    clock: Arc<ManualClock>,
    loader: Loader,
}

impl Scene {
    fn new(file: &str, packages: &[(&str, &str)]) -> Self {
        let (scratch, clock) = (Scratch::new(), Arc::new(ManualClock::new()));
        let path = scratch.write("hub/switchboard.toml", file);
        let loader = Loader::new(Selection::Named(vec![path]), clock.clone());
        let scene = Self { scratch, clock, loader };
        packages.iter().for_each(|(directory, text)| scene.package(directory, text));
        scene
    }

    fn package(&self, directory: &str, text: &str) {
        self.scratch.write(&format!("{directory}/package.json"), text);
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.scratch.path()).unwrap().join(name)
    }
}

/// `name=command line`, with the directory of all of them left out.
fn servers(scene: &Scene, loaded: &Loaded) -> Vec<String> {
    let root = scene.path("").display().to_string();
    let line = |spec: &Arc<ServerSpec>| format!("{}={}", spec.name, spec.target());
    loaded.desired.servers.values().map(line).map(|line| line.replace(&root, "")).collect()
}

fn codes(loaded: &Loaded) -> Vec<String> {
    let code = |p: &Problem| format!("{} {}", p.severity.as_str(), p.code);
    loaded.problems.iter().map(code).collect()
}

fn spec(loaded: &Loaded, name: &str) -> ServerSpec {
    let key = ServerKey::global(ServerName::parse(name).unwrap());
    (*loaded.desired.servers[&key]).clone()
}

const ASKED: &str = "[internal]\n";
const ONE: &str = r#"{"annabelle": {"name": "one", "command": "one", "args": []}}"#;
const TWO: &str = r#"{"annabelle": {"name": "two", "command": "two", "args": []}}"#;

#[test]
fn what_a_manifest_can_say() {
    for (package, expected) in [
        (ONE, "one=one"),
        // What is in use: a name of its own, a program of its own, and the package's `main`.
        (r#"{"main": "build/x.js", "hexa-puffs": {"mcpName": "a"}}"#, "a=node p/build/x.js"),
        (r#"{"annabelle": {"mcpName": "a", "role": "guardian"}}"#, "a=node p/dist/index.js"),
        (
            r#"{"main": "s.py", "annabelle": {"name": "a", "command": "uv", "commandArgs": ["run"]}}"#,
            "a=uv run p/s.py",
        ),
        (
            r#"{"main": "s.py", "annabelle": {"name": "a", "command": ".venv/bin/python"}}"#,
            "a=p/.venv/bin/python p/s.py",
        ),
        // A command alone is started as it is, `args` are all that it gets.
        (r#"{"annabelle": {"name": "a", "command": "serve"}}"#, "a=serve"),
        (
            r#"{"main": "x", "annabelle": {"name": "a", "command": "serve", "args": ["-q"]}}"#,
            "a=serve -q",
        ),
        (r#"{"annabelle": {"name": "a", "command": "/bin/x", "args": []}}"#, "a=/bin/x"),
    ] {
        let mut scene = Scene::new(ASKED, &[("p", package)]);
        let loaded = scene.loader.load();
        assert_eq!(servers(&scene, &loaded), [expected], "{package} {:?}", loaded.problems);
        assert!(loaded.problems.is_empty(), "{package} {:?}", loaded.problems);
    }
}

#[test]
fn everything_in_it_counts() {
    let package = r#"{
        "description": "of the package",
        "annabelle": {
            "name": "guard", "command": "g", "args": ["${PORT}"], "env": {"TOKEN": "${TOKEN}", "A": "b"},
            "transport": "stdio", "required": true, "sensitive": true, "timeout": 1500
        }
    }"#;
    let mut scene = Scene::new(ASKED, &[("guard", package), ("one", ONE)]);
    let loaded = scene.loader.load();
    let guard = spec(&loaded, "guard");
    assert_eq!((guard.standing, guard.sensitive), (Standing::Required, true));
    assert_eq!(guard.timing.connect, Duration::from_millis(1500));
    assert_eq!(guard.description.as_deref(), Some("of the package"));
    let Transport::Stdio(stdio) = &guard.transport else { panic!("{guard:?}") };
    assert_eq!(stdio.env.keys().collect::<Vec<_>>(), ["A", "TOKEN"]);
    assert_eq!(stdio.cwd.as_ref().unwrap().source(), scene.path("guard").display().to_string());
    let one = spec(&loaded, "one");
    assert_eq!((one.standing, one.sensitive), (Standing::Internal, false));
    let file = |path: &str| LoadedFile {
        path: scene.path(path),
        dialect: Some(Dialect::Annabelle),
        servers: 1,
        kept: false,
    };
    assert_eq!(loaded.manifests, [file("guard/package.json"), file("one/package.json")]);
    // Everybody has them, as where nothing is said everybody has everything.
    let anybody = AgentId::parse("anybody").unwrap();
    assert_eq!(loaded.desired.servers_of(&anybody, None).len(), 2);
}

#[test]
fn only_where_it_is_asked_for() {
    let packages = [("one", ONE), ("parts/two", TWO), ("hub", TWO), (".git", TWO)];
    let own = r#"{"acme": {"name": "own", "command": "own", "args": []}}"#;
    for (file, expected) in [
        ("", &[][..]),
        ("[internal]\nenabled = false", &[]),
        ("[internal]\n", &["one=one"]),
        ("[internal]\nenabled = true\nroot = '../parts'", &["two=two"]),
        ("[internal]\nmanifests = ['acme']", &["own=own"]),
        ("[internal]\nmanifests = ['acme', 'annabelle']", &["one=one", "own=own"]),
        // What cannot be read finds nothing.
        ("[internal]\nmanifest = ['annabelle']", &[]),
        ("internal = true", &[]),
    ] {
        let mut scene = Scene::new(file, &packages);
        scene.package("own", own);
        let loaded = scene.loader.load();
        assert_eq!(servers(&scene, &loaded), expected, "{file} {:?}", loaded.problems);
    }
}

#[test]
fn what_is_wrong_is_a_warning_and_spoils_nothing_else() {
    for (package, code, words) in [
        (r#"{"annabelle": {"command": "x"}}"#, "missing-key", "names no server"),
        (r#"{"annabelle": {"name": ""}}"#, "bad-name", ""),
        (r#"{"annabelle": true}"#, "wrong-type", ""),
        (r#"{"annabelle": {"name": "a", "args": "x"}}"#, "wrong-type", "`args`"),
        (r#"{"annabelle": {"name": "a", "requird": true}}"#, "unknown-key", "requird"),
        (r#"{"annabelle": {"name": "a", "transport": "http"}}"#, "unsupported", "a command"),
        (r#"{"annabelle": {"name": "a""#, "syntax", ""),
    ] {
        let mut scene = Scene::new(ASKED, &[("bad", package), ("one", ONE)]);
        let loaded = scene.loader.load();
        assert_eq!(codes(&loaded), [format!("warning {code}")], "{package}");
        let problem = &loaded.problems[0];
        assert!(problem.message.contains(words), "{package}: {problem}");
        assert!(problem.place.is_some() && !problem.remedy.is_empty(), "{package}");
        assert!(servers(&scene, &loaded).contains(&"one=one".to_owned()), "{package}");
    }
    // Somebody else's package is none of our business, however broken.
    for package in ["{", "[]", r#"{"name": "x"}"#, "", r#"{"annabelle": null}"#] {
        let mut scene = Scene::new(ASKED, &[("other", package)]);
        assert_eq!(scene.loader.load().problems, [], "{package}");
    }
    let mut scene = Scene::new("[internal]\nroot = '../nowhere'", &[]);
    assert_eq!(codes(&scene.loader.load()), ["error unreadable-file"]);
}

#[test]
fn its_name_is_nobody_elses() {
    let file = "[internal]\n[servers.one]\ncommand = 'other'\n[servers.two]\ncommand = 'other'\n\
                [servers.three]\ncommand = 'other'\n[servers.switchboard]\ncommand = 'x'\n";
    let broken = TWO.replace("[]", "1");
    let mut scene = Scene::new(file, &[("one", ONE), ("twin", ONE), ("two", &broken)]);
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["one=one", "three=other"]);
    assert_eq!(
        codes(&loaded),
        [
            "warning wrong-type",
            "warning conflict",
            "warning reserved-name",
            "warning reserved-name",
            "warning reserved-name",
        ]
    );
    let taken = loaded.problems.iter().find(|p| p.message.contains("`one` is the name")).unwrap();
    let (place, _) = taken.related.as_ref().unwrap();
    assert_eq!(place.source.path(), scene.path("one/package.json"));
    // Files may give it to agents by name.
    let file = "[internal]\n[agents.cto]\nservers = ['one']\n[defaults]\nservers = []\n";
    let mut scene = Scene::new(file, &[("one", ONE), ("two", TWO)]);
    let loaded = scene.loader.load();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let has = |id: &str| loaded.desired.servers_of(&AgentId::parse(id).unwrap(), None).len();
    assert_eq!((has("cto"), has("ceo")), (1, 0));
}

#[test]
fn what_breaks_stays_as_it_was() {
    let mut scene = Scene::new(ASKED, &[("one", ONE), ("two", TWO)]);
    scene.loader.load();
    for broken in
        [r#"{"annabelle": {"name": "one""#, r#"{"annabelle": {"name": "one", "args": 1}}"#]
    {
        scene.package("one", broken);
        let loaded = scene.loader.load();
        assert_eq!(servers(&scene, &loaded), ["one=one", "two=two"], "{broken}");
        assert_eq!(loaded.manifests.iter().filter(|file| file.kept).count(), 1, "{broken}");
    }
    scene.package("one", &ONE.replace("\"one\", \"args\"", "\"other\", \"args\""));
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["one=other", "two=two"]);
    // A package that is no part any more goes at once; a file that breaks changes nothing.
    scene.package("one", "{}");
    scene.scratch.write("hub/switchboard.toml", "[internal]\nroot = 5\n");
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["two=two"]);
    scene.scratch.write("hub/switchboard.toml", "");
    let loaded = scene.loader.load();
    assert!(loaded.manifests.is_empty() && loaded.desired.servers.is_empty());
    assert_eq!(scene.loader.directory(), None);
}

#[test]
fn one_that_is_gone_is_missed_for_a_while() {
    let mut scene = Scene::new(ASKED, &[("one", ONE), ("two", TWO)]);
    scene.loader.load();
    fs::remove_dir_all(scene.path("one")).unwrap();
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["one=one", "two=two"]);
    assert_eq!(codes(&loaded), ["warning vanished-file"]);
    let deadline = scene.clock.monotonic() + VANISH_GRACE;
    assert_eq!(scene.loader.next_deadline(), Some(deadline));
    scene.clock.advance(VANISH_GRACE);
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["two=two"]);
    assert_eq!((codes(&loaded), scene.loader.next_deadline()), (vec![], None));
    // It returns.
    scene.package("one", ONE);
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded), ["one=one", "two=two"]);
}

#[test]
fn a_root_that_is_gone_removes_nothing() {
    let mut scene = Scene::new("[internal]\nroot = '../parts'\n", &[("parts/one", ONE)]);
    scene.loader.load();
    fs::rename(scene.path("parts"), scene.path("away")).unwrap();
    for _ in 0..2 {
        let loaded = scene.loader.load();
        assert_eq!(servers(&scene, &loaded), ["one=one"]);
        assert_eq!(codes(&loaded), ["error unreadable-file"]);
        assert!(loaded.manifests[0].kept);
        scene.clock.advance(VANISH_GRACE * 10);
    }
    fs::rename(scene.path("away"), scene.path("parts")).unwrap();
    let loaded = scene.loader.load();
    assert_eq!((servers(&scene, &loaded), codes(&loaded)), (vec!["one=one".to_owned()], vec![]));
}

#[cfg(unix)]
#[test]
fn a_directory_by_two_ways_is_one_and_a_strangers_is_none() {
    use std::os::unix::fs::{MetadataExt as _, chown, symlink};
    let mut scene = Scene::new(ASKED, &[("one", ONE), ("two", TWO)]);
    symlink("one", scene.path("current")).unwrap();
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded).len(), 2);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    // Only root can give things away.
    if fs::metadata(scene.path("two")).unwrap().uid() != 0 {
        return;
    }
    for path in ["two", "two/package.json"] {
        chown(scene.path(path), Some(12_345), None).unwrap();
        let loaded = scene.loader.load();
        assert_eq!(servers(&scene, &loaded).len(), 1, "{path}");
        assert_eq!(codes(&loaded), ["warning writable-by-others"], "{path}");
        chown(scene.path(path), Some(0), None).unwrap();
    }
    // What the file's owner has is good, and root's too.
    chown(scene.path("hub/switchboard.toml"), Some(12_345), None).unwrap();
    chown(scene.path("two"), Some(12_345), None).unwrap();
    let loaded = scene.loader.load();
    assert_eq!(servers(&scene, &loaded).len(), 2);
}
