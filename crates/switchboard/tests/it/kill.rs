//! `kill -9` at random moments under a hub whose API is written to from all sides: every change that was
//! acknowledged is there afterwards, and none that was not half so; the database is sound, the chain
//! of the audit log whole, and every call in it that was not answered in the last moments.

mod caller;
mod door;
mod writer;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::{Clock as _, SystemClock};
use switchboard_testkit::script::Script;
use switchboard_testkit::{Postgres, repetitions};

use crate::context::Context;
use crate::hub::{Hub, entry, wait};
use crate::rest::person;
use crate::sqlite;
use caller::{Caller, LONG_LIFE};
use door::Door;
use writer::Writer;

/// How many write at once.
const WRITERS: usize = 4;
/// Every so many lives there is one in which records of calls grow old.
const LONG: u32 = 10;

#[test]
fn prove_a_killed_hub_on_sqlite_keeps_what_it_acknowledged() {
    let context = Context::new().with("switchboard.toml", &entry("a", &Script::new()));
    let database = context.home().join(".local/share/switchboard/switchboard.db");
    kill(&context, repetitions(200), || assert!(sqlite::is_sound(&database)));
}

#[test]
fn prove_a_killed_hub_on_postgres_keeps_what_it_acknowledged() {
    let server = Postgres::start();
    let url = server.database_by_tcp();
    let text = format!("[hub]\nstore = {url:?}\n{}", entry("a", &Script::new()));
    let context = Context::new().with("switchboard.toml", &text);
    kill(&context, repetitions(50), || assert_eq!(server.faults(&url), ""));
}

/// So many lives, each ended by a kill; `check` looks at what each left.
fn kill(context: &Context, lives: u32, check: impl Fn()) {
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let mut writers: Vec<Writer> = (0..WRITERS).map(|nr| Writer::new(nr, random.fork())).collect();
    let mut caller = Caller::new(random.fork());
    let (mut acknowledged, mut called, mut due, mut token) = (0, 0, 0, None);
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
        due += caller.look(&door, life);
        let pause = match life % LONG {
            0 => LONG_LIFE,
            _ => Duration::from_millis(random.u64(10..400)),
        };
        let (done, calls) = live(&mut hub, &door, (&mut writers, &mut caller), pause);
        (acknowledged, called) = (acknowledged + done, called + calls);
        check();
    }
    let hub = Hub::start(context);
    let door = Door::new(&hub.address, &token.unwrap());
    look(&door, &mut writers, lives);
    due += caller.look(&door, lives);
    eprintln!(
        "{lives} lives: {acknowledged} changes acknowledged and all there; of {called} calls between them {due} \
         were old enough to be in the log, and are"
    );
    assert!(acknowledged > lives && called > 0 && due > 0, "hardly anything was done");
    assert_eq!(context.json(&["audit", "verify"])["whole"], true);
    hub.stop();
}

/// Lets everybody write and call until the hub is killed; how many changes and calls were answered.
fn live(
    hub: &mut Hub,
    door: &Door,
    (writers, caller): (&mut [Writer], &mut Caller),
    pause: Duration,
) -> (u32, u32) {
    let done = AtomicU32::new(0);
    let (calls, killed) = std::thread::scope(|scope| {
        let writing: Vec<_> =
            writers.iter_mut().map(|writer| scope.spawn(|| writer.write(door, &done))).collect();
        let calling = scope.spawn(|| caller.call(door));
        // Not before it has begun: a start alone proves nothing.
        wait("something is acknowledged", || {
            done.load(Ordering::Relaxed) > 0 || writing.iter().any(|writing| writing.is_finished())
        });
        std::thread::sleep(pause);
        let killed = SystemClock.monotonic();
        hub.child.kill().unwrap();
        hub.child.wait().unwrap();
        writing.into_iter().for_each(|writing| writing.join().unwrap());
        (calling.join().unwrap(), killed)
    });
    caller.killed(killed);
    (done.into_inner(), calls)
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
