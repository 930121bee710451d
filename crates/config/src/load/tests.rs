//! What stays when a file breaks, what closes where nothing was good before, and when a file that is
//! gone is gone.

use switchboard_model::{AgentId, Decision};
use switchboard_testkit::{ManualClock, Scratch};

use super::*;

struct Scene {
    scratch: Scratch,
    clock: Arc<ManualClock>,
    loader: Loader,
}

impl Scene {
    fn new(text: &str) -> Self {
        let (scratch, clock) = (Scratch::new(), Arc::new(ManualClock::new()));
        let path = scratch.write("switchboard.toml", text);
        let loader = Loader::new(Selection::Named(vec![path]), clock.clone());
        Self { scratch, clock, loader }
    }

    fn load(&mut self, text: &str) -> Loaded {
        self.scratch.write("switchboard.toml", text);
        self.loader.load()
    }
}

fn commands(loaded: &Loaded) -> Vec<String> {
    loaded.desired.servers.values().map(|spec| format!("{}={}", spec.name, spec.target())).collect()
}

const GOOD: &str = "[servers.a]\ncommand = \"one\"\n[servers.b]\ncommand = \"one\"\n";

#[test]
fn a_broken_file_keeps_its_last_good_state() {
    let mut scene = Scene::new(GOOD);
    assert_eq!(commands(&scene.load(GOOD)), ["a=one", "b=one"]);
    let broken = scene.load("[servers.a\n");
    assert_eq!(commands(&broken), ["a=one", "b=one"]);
    assert!(broken.files[0].kept && broken.problems.iter().any(Problem::is_error));
    assert_eq!(commands(&scene.load("[servers.c]\ncommand = \"two\"\n")), ["c=two"]);
}

#[test]
fn a_broken_entry_keeps_its_own_and_the_others_move_on() {
    let mut scene = Scene::new(GOOD);
    scene.loader.load();
    let bent =
        "[servers.a]\ncommand = 1\n[servers.b]\ncommand = \"two\"\n[servers.c]\ncommand = 1\n";
    let loaded = scene.load(bent);
    assert_eq!(commands(&loaded), ["a=one", "b=two"], "c never was good");
    // It stays through further reads, and goes when it is removed.
    assert_eq!(commands(&scene.load(&bent.replace("two", "three"))), ["a=one", "b=three"]);
    assert_eq!(commands(&scene.load("[servers.b]\ncommand = \"two\"\n")), ["b=two"]);
}

#[test]
fn a_table_that_stands_twice_is_neither_half() {
    let mut scene = Scene::new(GOOD);
    scene.loader.load();
    let twice = format!("{GOOD}[servers.a]\nargs = [\"more\"]\n");
    assert_eq!(commands(&scene.load(&twice)), ["a=one", "b=one"], "as it was");
    assert_eq!(commands(&Scene::new(&twice).loader.load()), ["b=one"], "never good");
}

#[test]
fn what_was_never_good_is_closed() {
    let mut scene = Scene::new("");
    let text = "[servers.a]\ncommand = \"x\"\n[agents.cto]\nserver = [\"a\"]\n[[policy]]\nserver = \"[\"\naction = \"allow\"\n[defaults]\nservers = 5\n";
    let loaded = scene.load(text);
    let cto = AgentId::parse("cto").unwrap();
    assert!(loaded.desired.servers_of(&cto, None).is_empty(), "a broken agent has nothing");
    assert_eq!(loaded.desired.policy.len(), 1);
    assert_eq!(loaded.desired.policy[0].action, Decision::Deny, "a broken rule denies");
    assert!(loaded.desired.policy[0].server.is_none(), "everything");
    assert!(loaded.desired.defaults == BTreeSet::new().into());
}

#[test]
fn broken_rules_and_agents_keep_their_last_good_state() {
    let good = "[servers.a]\ncommand = \"x\"\n[agents.cto]\nservers = [\"a\"]\n[[policy]]\nserver = \"a\"\naction = \"ask\"\n";
    let mut scene = Scene::new(good);
    let before = scene.loader.load();
    let after = scene.load(
        &good.replace("action = \"ask\"", "action = \"aks\"").replace("servers = [", "server = ["),
    );
    assert_eq!(after.problems.iter().filter(|p| p.is_error()).count(), 2);
    assert_eq!(before.desired, after.desired);
}

#[test]
fn a_file_that_is_gone_is_missed_for_a_while() {
    let mut scene = Scene::new(GOOD);
    scene.loader.load();
    std::fs::remove_file(scene.scratch.path().join("switchboard.toml")).unwrap();
    let missed = scene.loader.load();
    assert_eq!(commands(&missed), ["a=one", "b=one"]);
    assert_eq!(missed.problems[0].code, Code::VanishedFile);
    assert_eq!(scene.loader.next_deadline(), Some(scene.clock.monotonic() + VANISH_GRACE));
    scene.clock.advance(VANISH_GRACE - Duration::from_millis(1));
    assert_eq!(commands(&scene.loader.load()), ["a=one", "b=one"]);
    scene.clock.advance(Duration::from_millis(1));
    let gone = scene.loader.load();
    assert!(commands(&gone).is_empty());
    assert_eq!((gone.problems[0].code, scene.loader.next_deadline()), (Code::UnreadableFile, None));
    assert_eq!(commands(&scene.load(GOOD)), ["a=one", "b=one"]);
}

#[test]
fn a_directory_that_is_gone_removes_nothing() {
    let scratch = Scratch::new();
    let path = scratch.write("mount/switchboard.toml", GOOD);
    let clock = Arc::new(ManualClock::new());
    let mut loader = Loader::new(Selection::Named(vec![path]), clock.clone());
    loader.load();
    std::fs::remove_dir_all(scratch.path().join("mount")).unwrap();
    clock.advance(VANISH_GRACE * 10);
    let loaded = loader.load();
    assert_eq!(commands(&loaded), ["a=one", "b=one"]);
    assert_eq!(loaded.problems[0].code, Code::UnreadableFile);
}
