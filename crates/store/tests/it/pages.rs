//! Pages against the plainest way to make them: every row that was written, filtered one by one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_model::{CallOrigin, Decision, Outcome};
use switchboard_store::{Actor, Cursor, Entry, Filter, Retention, Store, Verdict};
use switchboard_testkit::repetitions;

use crate::kit::{World, agent, global, user};

suite! {
    prove_pages_are_what_a_plain_filter_finds,
}

/// Random numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn some<T>(&mut self, one_in: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.roll(one_in) == 0).then(|| make(self))
    }
}

const BEGIN: u64 = 1_800_000_000_000;

fn moment(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

/// A row somewhere around a time: most of them near, some hours late, a few of another year.
fn row(dice: &mut Dice, now: u64) -> Entry {
    let late = match dice.roll(40) {
        0 => dice.roll(100_000_000_000),
        1..4 => dice.roll(20_000_000),
        _ => dice.roll(1_000),
    };
    let early = if dice.roll(200) == 0 { dice.roll(100_000_000_000) } else { 0 };
    let action = ["mcp_tool_call", "mcp_tool_call", "server.create", "user.create"];
    let action = action[dice.roll(4) as usize];
    let mut entry = Entry::act(moment(now - late + early), &Actor::system(), action);
    entry.user = dice.some(1, |dice| user(["ada", "bob", "eve"][dice.roll(3) as usize]));
    entry.agent = dice.some(2, |dice| agent(&format!("a{}", dice.roll(4))));
    entry.server = dice.some(1, |dice| global(&format!("s{}", dice.roll(5))));
    entry.tool = dice.some(1, |dice| format!("t{}", dice.roll(3) * dice.roll(20)));
    entry.origin = dice.some(1, |dice| CallOrigin::ALL[dice.roll(3) as usize]);
    entry.decision = dice.some(1, |dice| match dice.roll(50) {
        0 => Decision::Deny,
        _ => Decision::Allow,
    });
    entry.outcome = dice.some(2, |dice| match dice.roll(300) {
        0 => Outcome::Lost,
        _ => Outcome::Done,
    });
    entry.duration = dice.some(2, |dice| Duration::from_micros(dice.roll(1_000_000)));
    entry.trace = dice.some(3, |dice| format!("trace \"{}\"\n", dice.roll(1_000)));
    let length = match dice.roll(100) {
        0 => 20_000,
        1..10 => 500,
        _ => 3,
    };
    entry.detail = dice.some(2, |_| serde_json::json!({"text": "é".repeat(length)}));
    entry
}

fn filter(dice: &mut Dice, now: u64) -> Filter {
    let time = |dice: &mut Dice| {
        let back = [1_000, 1_000_000, now - BEGIN + 1, 100_000_000_000][dice.roll(4) as usize];
        moment(now - dice.roll(back))
    };
    Filter {
        action: dice.some(4, |dice| {
            ["mcp_tool_call", "user.create", "none"][dice.roll(3) as usize].to_owned()
        }),
        user: dice.some(4, |dice| user(["ada", "bob", "none"][dice.roll(3) as usize])),
        agent: dice.some(5, |dice| agent(&format!("a{}", dice.roll(5)))),
        server: dice.some(4, |dice| global(&format!("s{}", dice.roll(5)))),
        tool: dice.some(4, |dice| format!("t{}", dice.roll(40))),
        origin: dice.some(6, |dice| CallOrigin::ALL[dice.roll(4) as usize]),
        decision: dice.some(6, |_| Decision::Deny),
        outcome: dice.some(6, |dice| [Outcome::Lost, Outcome::Done][dice.roll(2) as usize]),
        since: dice.some(3, time),
        until: dice.some(3, time),
    }
}

fn fits(filter: &Filter, entry: &Entry) -> bool {
    fn same<T: PartialEq>(wanted: &Option<T>, found: &Option<T>) -> bool {
        wanted.is_none() || wanted == found
    }
    filter.action.as_ref().is_none_or(|action| *action == entry.action)
        && same(&filter.user, &entry.user)
        && same(&filter.agent, &entry.agent)
        && same(&filter.server, &entry.server)
        && same(&filter.tool, &entry.tool)
        && same(&filter.origin, &entry.origin)
        && same(&filter.decision, &entry.decision)
        && same(&filter.outcome, &entry.outcome)
        && filter.since.is_none_or(|since| entry.at >= since)
        && filter.until.is_none_or(|until| entry.at < until)
}

async fn prove_pages_are_what_a_plain_filter_finds(world: World) {
    let store = world.open().await;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut now = BEGIN;
    let mut written: Vec<(i64, Entry)> = Vec::new();
    for round in 0..repetitions(50) {
        for _ in 0..40 {
            let most = if dice.roll(10) == 0 { 700 } else { 5 };
            let count = 1 + dice.roll(most);
            let rows: Vec<Entry> = (0..count).map(|_| row(&mut dice, now)).collect();
            store.audit().append_all(&rows).await.unwrap();
            let from = written.last().map_or(1, |(seq, _)| seq + 1);
            written.extend((from..).zip(rows));
            now += if dice.roll(3) == 0 { dice.roll(10_000_000) } else { dice.roll(1_000) };
        }
        for _ in 0..20 {
            let filter = filter(&mut dice, now);
            let limit = 1 + dice.roll(60) as u32;
            check(&store, &written, &filter, limit).await;
        }
        if round % 3 == 2 {
            let keep = Retention { rows: Some(written.len() as u64 / 2), ..Retention::default() };
            store.audit().retain(keep).await.unwrap();
            written = everything(&store).await;
        }
        let verdict = store.audit().verify().await.unwrap();
        assert!(matches!(verdict, Verdict::Whole { .. }), "{verdict:?}");
    }
    store.close().await.unwrap();
}

async fn check(store: &Store, written: &[(i64, Entry)], filter: &Filter, limit: u32) {
    let mut expected = written.iter().rev().filter(|(_, entry)| fits(filter, entry));
    let mut after = None;
    // Where there are many, the first ones will do.
    for _ in 0..6 {
        let page = store.audit().page(filter, after, limit).await.unwrap();
        for row in &page.rows {
            let (seq, entry) = expected.next().unwrap();
            assert_eq!((row.seq, &row.entry), (*seq, entry), "{filter:?}");
        }
        let Some(next) = page.next else {
            assert!(expected.next().is_none(), "{filter:?}");
            return;
        };
        assert_eq!(page.rows.len(), limit as usize);
        after = Some(Cursor::parse(&next.encode()).unwrap());
    }
}

async fn everything(store: &Store) -> Vec<(i64, Entry)> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = store.audit().page(&Filter::default(), after, 1_000).await.unwrap();
        rows.extend(page.rows.into_iter().map(|row| (row.seq, row.entry)));
        after = page.next;
        if after.is_none() {
            rows.reverse();
            return rows;
        }
    }
}
