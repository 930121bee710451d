//! Events in, events out, whatever the chunks.

use proptest::prelude::*;

use super::*;

/// What comes out when `chunks` go in: `kind|data`, or `!` for an event that was too long.
fn decode<'c>(
    max_event: usize,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<String>, Decoder) {
    let mut decoder = Decoder::new(max_event);
    let mut items = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        items.extend(std::iter::from_fn(|| decoder.next_item()));
    }
    let shown = items.iter().map(|item| match item {
        Item::TooLong => "!".to_owned(),
        Item::Event(event) => format!(
            "{}|{}",
            event.kind.as_deref().unwrap_or_default(),
            String::from_utf8_lossy(&event.data)
        ),
    });
    (shown.collect(), decoder)
}

#[test]
fn events() {
    let check = |stream: &str, expected: &[&str]| {
        assert_eq!(decode(1000, [stream.as_bytes()]).0, expected, "{stream:?}");
        let single = decode(1000, stream.as_bytes().chunks(1)).0;
        assert_eq!(single, expected, "{stream:?} byte by byte");
    };
    check("", &[]);
    check("data: a\n\n", &["|a"]);
    check("data:a\r\n\r\ndata:  b\r\r", &["|a", "| b"]);
    check("\u{feff}data: a\n\n", &["|a"]);
    check("\u{feff}\u{feff}data: a\n\n", &[]);
    check("data: a\ndata: b\n\n", &["|a\nb"]);
    check("data: a\rdata\r\ndata:\n\n", &["|a\n\n"]);
    check("data\n\n", &["|"]);
    check("data:\n\n", &["|"]);
    check("event: x\n\n", &[]);
    check("event: x\n\ndata: a\n\n", &["|a"]);
    check("event: x\ndata: a\nevent: y\n\ndata: b\n\n", &["y|a", "|b"]);
    check("event:\ndata: a\n\n", &["|a"]);
    check(": comment\n:\n\ndata: a\n:data: no\n\n", &["|a"]);
    check("Data: a\nfoo: b\nnothing\n\n", &[]);
    check("data: a:b: c\n\n", &["|a:b: c"]);
    check("\n\n\ndata: a\n\n\n\n", &["|a"]);
    check("data: cut off", &[]);
    check("data: cut off\n", &[]);
    check("data: {\"a\":1}\n\ndata: é日\n\n", &["|{\"a\":1}", "|é日"]);
}

#[test]
fn ids_and_retries() {
    let check = |stream: &str, id: Option<&str>, retry| {
        for size in [1, 1000] {
            let (_, decoder) = decode(1000, stream.as_bytes().chunks(size));
            assert_eq!((decoder.last_event_id(), decoder.retry()), (id, retry), "{stream:?}");
        }
    };
    check("data: a\n\n", None, None);
    check("id: 1\n\n", Some("1"), None);
    check("id: 1\ndata:\n\nid: 2\ndata: cut off\n", Some("1"), None);
    check("id: 1\n\ndata: a\n\n", Some("1"), None);
    check("id: 1\n\nid\n\n", Some(""), None);
    check("id: 1\nid: a\0b\n\n", Some("1"), None);
    check("retry: 1500\n", None, Some(1500));
    check("retry: 1500\nretry: soon\nretry:\nretry: -1\n", None, Some(1500));
    check("retry: 99999999999999999999999\n", None, None);
}

#[test]
fn overlong() {
    let check = |chunks: &[&str], expected: &[&str], id: Option<&str>| {
        let chunks = chunks.iter().map(|chunk| chunk.as_bytes());
        let (items, decoder) = decode(20, chunks);
        assert_eq!(items, expected);
        assert_eq!(decoder.last_event_id(), id);
    };
    let ok = "data: ok\n\n";
    check(&["data: 12345678901234\n\n", ok], &["|12345678901234", "|ok"], None);
    check(&["data: 123456789012345\n\n", ok], &["!", "|ok"], None);
    check(&["data: 1234567890", "1234567890", "123\ndata: x\n", "\n", ok], &["!", "|ok"], None);
    check(&["id: 7\ndata: 123456789\ndata: 1\n\n", ok], &["!", "|ok"], Some("7"));
    check(&["data: 12345678901234567890", "\r", "\n", "\r\n", ok], &["!", "|ok"], None);
    check(&["data: 12345678901234567890"], &["!"], None);
    let comments = ": keep-alive\n\n".repeat(50);
    check(&[&comments, ok], &["|ok"], None);
}

#[test]
fn a_gigabyte_in_one_event_is_not_kept() {
    let mut decoder = Decoder::new(1024 * 1024);
    let line = format!("data: {}\n", "x".repeat(64 * 1024));
    let mut reports = 0;
    for nth in 0..(1 << 30) / line.len() {
        // Half of it in one line, half of it in many.
        let whole = if nth % 2 == 0 { line.len() } else { line.len() - 1 };
        decoder.feed(&line.as_bytes()[..whole]);
        reports += std::iter::from_fn(|| decoder.next_item()).count();
    }
    assert_eq!(reports, 1);
    decoder.feed(b"\n\ndata: ok\n\n");
    let event = Event { kind: None, data: "ok".into() };
    assert_eq!(decoder.next_item(), Some(Item::Event(event)));
}

#[test]
fn encoded() {
    let check = |write: &dyn Fn(&mut Vec<u8>), expected: &str| {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    };
    check(&|out| event(out, None, None, b"{}"), "data: {}\n\n");
    check(
        &|out| event(out, Some("endpoint"), Some("7"), b"/x"),
        "event: endpoint\nid: 7\ndata: /x\n\n",
    );
    check(
        &|out| event(out, None, None, b"a\nb\r\nc\rd\n"),
        "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n",
    );
    check(
        &|out| event(out, Some("a\ndata: b"), Some("1\r\n\0"), b""),
        "event: adata: b\nid: 1\ndata: \n\n",
    );
    check(&|out| retry(out, 1500), "retry: 1500\n\n");
    check(&|out| comment(out, "still\nhere"), ": stillhere\n\n");
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        stream in "((data|event|id|:|x)(: ?[a-c:\u{feff}]{0,8})?(\n|\r|\r\n)|\n|\r\n){0,14}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &stream.as_bytes()[cut[0]..cut[1]]);
        for limit in [15, 1000] {
            let (whole, first) = decode(limit, [stream.as_bytes()]);
            let (pieces, second) = decode(limit, chunks.clone());
            prop_assert_eq!(pieces, whole);
            prop_assert_eq!(second.last_event_id(), first.last_event_id());
        }
    }

    #[test]
    fn any_message_comes_through(payload in crate::json::tests::any_json(), id in "[!-~]{0,8}") {
        let mut out = Vec::new();
        event(&mut out, None, Some(&id), payload.as_bytes());
        let (items, decoder) = decode(usize::MAX, [out.as_slice()]);
        let joined = payload.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(items, [format!("|{joined}")]);
        prop_assert_eq!(decoder.last_event_id(), Some(id.as_str()));
    }
}
