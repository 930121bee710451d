//! `kill -9` at random moments under a hub whose API is written to from all sides: every change that was
//! acknowledged is there afterwards, and none that was not half so; the database is sound, the chain
//! of the audit log whole.

mod door;
mod writer;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::script::Script;
use switchboard_testkit::{Postgres, repetitions};

use crate::context::Context;
use crate::hub::{Hub, entry, wait};
use crate::rest::person;
use crate::sqlite;
use door::Door;
use writer::Writer;

/// How many write at once.
const WRITERS: usize = 4;

#[test]
fn prove_a_killed_hub_on_sqlite_keeps_what_it_acknowledged() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let database = context.home().join(".local/share/switchboard/switchboard.db");
    kill(&context, repetitions(200), || assert!(sqlite::is_sound(&database)));
}

#[test]
fn prove_a_killed_hub_on_postgres_keeps_what_it_acknowledged() {
    let server = Postgres::start();
    let url = server.database();
    let text = format!("[hub]\nstore = {url:?}\n{}", entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &text);
    kill(&context, repetitions(50), || assert_eq!(server.faults(&url), ""));
}

/// So many lives, each ended by a kill; `check` looks at what each left.
fn kill(context: &Context, lives: u32, check: impl Fn()) {
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let mut writers: Vec<Writer> = (0..WRITERS).map(|nr| Writer::new(nr, random.fork())).collect();
    let (mut acknowledged, mut called, mut token) = (0, 0, None);
    for life in 0..lives {
        let mut hub = Hub::start(context);
        let token = token.get_or_insert_with(|| person(context, "admin"));
        let door = Door::new(&hub.address, token);
        look(&door, &mut writers, life);
        if life == 0 {
            // A life is short: its server need not be connected before the end of any.
            wait("the server answers", || call(&door).is_some_and(|(status, _)| status == 200));
            called += 1;
        }
        let pause = Duration::from_millis(random.u64(10..400));
        let (done, calls) = live(&mut hub, &door, &mut writers, pause);
        (acknowledged, called) = (acknowledged + done, called + calls);
        check();
    }
    let hub = Hub::start(context);
    look(&Door::new(&hub.address, &token.unwrap()), &mut writers, lives);
    eprintln!(
        "{lives} lives: {acknowledged} changes acknowledged and all there, {called} calls between them"
    );
    assert!(acknowledged > lives && called > 0, "hardly anything was done");
    assert_eq!(context.json(&["audit", "verify"])["whole"], true);
    hub.stop();
}

/// Lets everybody write and call until the hub is killed; how many changes and calls were answered.
fn live(hub: &mut Hub, door: &Door, writers: &mut [Writer], pause: Duration) -> (u32, u32) {
    let done = AtomicU32::new(0);
    let calls = std::thread::scope(|scope| {
        let writing: Vec<_> =
            writers.iter_mut().map(|writer| scope.spawn(|| writer.write(door, &done))).collect();
        let calling = scope.spawn(move || {
            std::iter::from_fn(|| call(door)).filter(|(status, _)| *status == 200).count()
        });
        // Not before it has begun: a start alone proves nothing.
        wait("something is acknowledged", || {
            done.load(Ordering::Relaxed) > 0 || writing.iter().any(|writing| writing.is_finished())
        });
        std::thread::sleep(pause);
        hub.child.kill().unwrap();
        hub.child.wait().unwrap();
        writing.into_iter().for_each(|writing| writing.join().unwrap());
        calling.join().unwrap()
    });
    (done.into_inner(), u32::try_from(calls).unwrap())
}

fn call(door: &Door) -> Option<(u16, Value)> {
    let call = json!({"name": "mcp__a__echo", "arguments": {"text": "x"}});
    door.ask("POST", "/api/v1/tools/call", Some(&call))
}

/// Everything is as it was acknowledged, and the chain is whole.
fn look(door: &Door, writers: &mut [Writer], life: u32) {
    for writer in writers {
        writer.look(door, life);
    }
    let (status, verdict) = door.ask("GET", "/api/v1/audit/verify", None).unwrap();
    assert_eq!((status, &verdict["whole"]), (200, &json!(true)), "life {life}: {verdict}");
}
