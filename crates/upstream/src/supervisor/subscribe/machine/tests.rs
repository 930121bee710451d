//! Courses of a subscription: at which moment what happens, what is wanted by then, and what is done.

use super::*;

/// Milliseconds, the resources that are wanted, what happens, and the steps that follow.
type Row<'r> = (u64, &'r str, &'r str, &'r str);

/// Of a server with lists; nothing was subscribed to before. What is not acknowledged in five seconds is late.
fn check(course: &str, rows: &[Row<'_>]) {
    let machine = Machine::new(Vec::new(), Duration::from_secs(5));
    play(machine, course, true, rows);
}

fn play(mut machine: Machine, course: &str, tools: bool, rows: &[Row<'_>]) {
    for (at, wanted, happens, expected) in rows {
        let now = Duration::from_millis(*at);
        let wanted = Filter { tools, uris: words(wanted), ..Filter::default() };
        let place = format!("{course}, {happens} at {at}");
        let event = event(happens);
        match event {
            Event::Time => assert_eq!(machine.due(), Some(now), "{place}"),
            Event::Wanted => assert!(machine.takes_wishes(), "{place}"),
            _ => assert!(machine.due().is_none_or(|due| due >= now), "{place}: it was due before"),
        }
        let steps: Vec<_> = machine.next(now, wanted, event).iter().map(show).collect();
        assert_eq!(steps.join(", "), *expected, "{place}");
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn event(text: &str) -> Event {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let refused = |refusal| Event::Refused { refusal, leaving: rest == "leaving" };
    match name {
        "wanted" => Event::Wanted,
        "time" => Event::Time,
        "acknowledged" => Event::Acknowledged { untold: words(rest) },
        "passed" => Event::Passed { untold: words(rest) },
        "fell" => Event::Fell,
        "away" => refused(Refusal::Away),
        "busy" => refused(Refusal::Now),
        "refused" => refused(Refusal::Request),
        "never" => refused(Refusal::Never),
        other => panic!("nothing happens that is called {other}"),
    }
}

fn show(step: &Step) -> String {
    let all = |name: &str, uris: &[String]| format!("{name} {}", uris.join(" ")).trim().to_owned();
    match step {
        Step::Open(asked) => all("open", &asked.uris),
        Step::Drop => "drop".to_owned(),
        Step::Promote => "promote".to_owned(),
        Step::Close => "close".to_owned(),
        Step::Dismiss => "dismiss".to_owned(),
        Step::Confirm(wanted) => all("confirm", &wanted.uris),
        Step::Refuse(more) => all("refuse", more),
        Step::Remark(uri) => format!("remark {uri}"),
        Step::Lose(uri) => format!("lose {uri}"),
        Step::Look(uri) => format!("look {uri}"),
        Step::Read => "read".to_owned(),
        Step::Reckon => "reckon".to_owned(),
        Step::End => "end".to_owned(),
    }
}

#[test]
fn asked_anew_beside_what_stands() {
    check(
        "more, and less",
        &[
            (0, "", "wanted", "open"),
            (9, "", "acknowledged", "reckon, promote"),
            (20, "a b", "wanted", "open a b"),
            (29, "a b", "acknowledged b", "remark b, reckon, promote"),
            (40, "a", "wanted", "open a"),
            (49, "a", "acknowledged", "reckon, promote"),
            (60, "a", "wanted", "confirm a"),
            (70, "", "wanted", "open"),
            (79, "", "fell", ""),
            (89, "", "acknowledged", "read, reckon, promote"),
        ],
    );
    let nothing = Machine::new(Vec::new(), Duration::from_secs(5));
    play(
        nothing,
        "no lists",
        false,
        &[
            (0, "", "wanted", "dismiss"),
            (9, "a", "wanted", "open a"),
            (19, "a", "acknowledged", "reckon, promote"),
            (29, "", "wanted", "close, dismiss"),
        ],
    );
}

#[test]
fn what_was_subscribed_to_before() {
    let machine = || Machine::new(words("a b"), Duration::from_secs(5));
    play(
        machine(),
        "it agrees to one",
        true,
        &[
            (0, "a b", "wanted", "open a b"),
            (9, "a b", "acknowledged b", "look a, remark b, lose b, reckon, promote"),
        ],
    );
    play(
        machine(),
        "it refuses, later and later",
        true,
        &[
            (0, "a b", "wanted", "open a b"),
            (10, "a b", "busy", "refuse, lose a, lose b, reckon"),
            (210, "", "time", "open"),
            (220, "", "busy", "refuse, reckon"),
            (620, "", "time", "open"),
            (630, "", "acknowledged", "reckon, promote"),
            (640, "", "fell", ""),
            (840, "", "time", "open"),
            (850, "", "busy", "refuse, reckon"),
            (1050, "", "time", "open"),
        ],
    );
    play(
        machine(),
        "it is away, and comes back",
        true,
        &[
            (0, "a b", "wanted", "open a b"),
            (10, "a b", "away", "refuse, reckon"),
            (210, "a b", "time", "open a b"),
            (220, "a b", "acknowledged", "look a, look b, reckon, promote"),
        ],
    );
    play(
        machine(),
        "it cannot be listened to",
        true,
        &[
            (0, "a b c", "wanted", "open a b c"),
            (10, "a b c", "never", "refuse, lose a, lose b, reckon, end"),
        ],
    );
}

#[test]
fn less_is_no_reason_to_close_what_stands() {
    let begin = [(0, "a b", "wanted", "open a b"), (9, "a b", "acknowledged", "reckon, promote")];
    for refusal in ["refused", "busy", "never", "away", "busy leaving"] {
        let course = [
            (20, "a", "wanted", "open a"),
            (29, "a", refusal, "confirm a"),
            (40, "a", "wanted", "open a"),
            (5040, "a", "time", "confirm a, drop"),
            (5050, "a b", "wanted", "confirm a b"),
            (5060, "a b c", "wanted", "open a b c"),
            // Who wanted more has given up.
            (5070, "a", refusal, "confirm a"),
        ];
        check(refusal, &[&begin[..], &course[..]].concat());
    }
    let one = [
        (20, "a b c", "wanted", "open a b c"),
        (30, "a b c", "busy", "close"),
        (230, "a b c", "time", "open a b c"),
        (240, "a b c", "acknowledged", "read, look a, look b, reckon, promote"),
        (250, "a b", "wanted", "confirm a b"),
        (260, "a", "wanted", "confirm a"),
        (270, "a c", "wanted", "confirm a c"),
        (280, "a d", "wanted", "close"),
        (290, "a", "wanted", ""),
        (480, "a", "time", "open a"),
    ];
    check("one stream", &[&begin[..], &one[..]].concat());
}

#[test]
fn a_refusal_of_one_is_none_of_the_others() {
    let begin = [(0, "a", "wanted", "open a"), (9, "a", "acknowledged", "reckon, promote")];
    let unknown = [
        (20, "a x", "wanted", "open a x"),
        (30, "a x", "refused", "close"),
        (40, "a x", "wanted", ""),
        (230, "a x", "time", "open a x"),
        (240, "a x", "refused", "refuse, lose x, reckon, open a"),
        // Who wishes for it again waits until the others are heard.
        (250, "a x", "acknowledged", "read, look a, reckon, promote"),
        (251, "a x", "wanted", "open a x"),
        (260, "a x", "refused", "close"),
    ];
    check("while it may wait for the end of another", &[&begin[..], &unknown[..]].concat());
    let several = [
        (20, "a b", "wanted", "open a b"),
        (30, "a b", "acknowledged", "reckon, promote"),
        (40, "a b x", "wanted", "open a b x"),
        (50, "a b x", "refused", "refuse, lose x, reckon"),
        (60, "a b", "wanted", "confirm a b"),
        (70, "a b x", "wanted", "open a b x"),
        // It may not have seen yet that its first stream was closed.
        (80, "a b x", "busy", ""),
        (280, "a b x", "time", "open a b x"),
        (290, "a b x", "acknowledged x", "remark x, reckon, promote"),
        (5000, "a b x", "wanted", "open a b x"),
        (5010, "a b x", "busy", "refuse, lose x, reckon"),
        (5210, "a b", "time", "open a b"),
    ];
    check("of several streams", &[&begin[..], &several[..]].concat());
    let slow = [
        (20, "a x", "wanted", "open a x"),
        (30, "a x", "busy", "close"),
        (230, "a x", "time", "open a x"),
        (240, "a x", "busy", ""),
        (640, "a x", "time", "open a x"),
        (650, "a x", "refused", "refuse, lose x, reckon, open a"),
        (660, "a", "busy", ""),
        (1460, "a", "time", "open a"),
        (1470, "a", "acknowledged", "read, look a, reckon, promote"),
        // That says nothing of how many streams it bears.
        (1480, "a b", "wanted", "open a b"),
    ];
    check("that is slow to see the end of a stream", &[&begin[..], &slow[..]].concat());
    let again = [
        (20, "a x", "wanted", "open a x"),
        (30, "a x", "refused", "close"),
        (230, "a x", "time", "open a x"),
        (240, "a x", "refused", "refuse, lose x, reckon, open a"),
        (250, "a", "refused", "refuse, lose a, reckon"),
        (450, "", "time", "open"),
    ];
    check("that refuses everything", &[&begin[..], &again[..]].concat());
}

#[test]
fn several_that_are_refused_are_asked_for_one_by_one() {
    let begin = [
        (0, "", "wanted", "open"),
        (9, "", "acknowledged", "reckon, promote"),
        (10, "a", "wanted", "open a"),
        (19, "a", "acknowledged", "reckon, promote"),
    ];
    let one = [
        (20, "a b c d x", "wanted", "open a b c d x"),
        (30, "a b c d x", "refused", "reckon, open a b"),
        (40, "a b c d x", "acknowledged", "reckon, promote"),
        (40, "a b c d x", "time", "open a b c d x"),
        (50, "a b c d x", "refused", "reckon, open a b c"),
        (60, "a b d x", "acknowledged", "reckon, promote"),
        (60, "a b d x", "time", "open a b d x"),
        (70, "a b d x", "refused", "reckon, open a b d"),
        (80, "a b d x", "acknowledged", "reckon, promote"),
        (80, "a b d x", "time", "open a b d x"),
        (90, "a b d x", "refused", "refuse, lose x, reckon"),
    ];
    check("one is bad", &[&begin[..], &one[..]].concat());
    let two = [
        (20, "a x y", "wanted", "open a x y"),
        (30, "a x y", "refused", "reckon, open a x"),
        (40, "a x y", "refused", "refuse, lose x, reckon, open a y"),
        (50, "a x y", "refused", "refuse, lose y, reckon"),
        (60, "a", "wanted", "confirm a"),
    ];
    check("all are bad", &[&begin[..], &two[..]].concat());
    let slow = [
        (20, "a x y", "wanted", "open a x y"),
        (30, "a x y", "refused leaving", "dismiss"),
        (230, "a x y", "time", "open a x y"),
        (240, "a x y", "refused", "reckon, open a x"),
        (250, "a x y", "refused", "refuse, lose x, reckon, open a y"),
        // It has not seen yet that a stream was closed.
        (260, "a y", "busy", ""),
        (660, "a y", "time", "open a y"),
        (670, "a y", "acknowledged", "reckon, promote"),
    ];
    check("slow to see the end of a stream", &[&begin[..], &slow[..]].concat());
    let fallen = [
        (20, "a x y", "wanted", "open a x y"),
        (25, "a x y", "fell", ""),
        (30, "a x y", "refused", "reckon, open a"),
        (40, "a x y", "acknowledged", "read, look a, reckon, promote"),
        (40, "a x y", "time", "open a x"),
        (50, "a x y", "fell", ""),
        (60, "a x y", "refused", "refuse, lose x, reckon, open a"),
        (70, "a y", "refused", "refuse y, lose a, reckon"),
        (270, "", "time", "open"),
    ];
    check("nothing stands", &[&begin[..], &fallen[..]].concat());
}

#[test]
fn one_that_is_late() {
    let begin = [(0, "a", "wanted", "open a"), (9, "a", "acknowledged", "reckon, promote")];
    let waits = [
        (20, "a b", "wanted", "open a b"),
        (5020, "a b", "time", "close, reckon"),
        (5030, "a b", "acknowledged", "read, look a, reckon, promote"),
        // It bears one.
        (5040, "a b c", "wanted", "close"),
    ];
    check("for the end of another", &[&begin[..], &waits[..]].concat());
    let silent = [
        (20, "a b", "wanted", "open a b"),
        (5020, "a b", "time", "close, reckon"),
        (10020, "a b", "time", "lose a, reckon"),
        (10030, "b", "wanted", "open b"),
        (15030, "b", "time", "reckon"),
        // It has twice as long from then on.
        (18030, "b", "acknowledged", "read, reckon, promote"),
        (18040, "b c", "wanted", "open b c"),
        (34040, "b c", "time", "close, reckon"),
    ];
    check("for good", &[&begin[..], &silent[..]].concat());
    let several = [
        (20, "a b", "wanted", "open a b"),
        (30, "a b", "acknowledged", "reckon, promote"),
        (40, "a b c", "wanted", "open a b c"),
        (5040, "a b c", "time", "reckon"),
        (5050, "a b c", "fell", "lose a, lose b, reckon"),
        (5060, "c", "acknowledged", "read, reckon, promote"),
    ];
    check("beside one that ends", &[&begin[..], &several[..]].concat());
}

#[test]
fn one_that_ends_again_and_again() {
    check(
        "what it has just acknowledged",
        &[
            (0, "a", "wanted", "open a"),
            (10, "a", "passed", "reckon"),
            (210, "a", "time", "open a"),
            (220, "a", "passed", "read, look a, reckon"),
            (620, "a", "time", "open a"),
            (630, "a", "acknowledged", "read, look a, reckon, promote"),
            (640, "a", "fell", ""),
            (1440, "a", "time", "open a"),
            (1450, "a", "acknowledged", "read, look a, reckon, promote"),
            // That one lived.
            (9000, "a", "fell", ""),
            (9200, "a", "time", "open a"),
        ],
    );
}
