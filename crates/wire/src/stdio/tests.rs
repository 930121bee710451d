//! Lines in, lines out, whatever the chunks.

use proptest::prelude::*;

use super::*;

/// What comes out when `chunks` go in, as one string each; `!` marks a line that was too long.
fn decode<'c>(max_line: usize, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<String> {
    let mut decoder = Decoder::new(max_line);
    let mut lines = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        lines.extend(std::iter::from_fn(|| decoder.next_line()));
    }
    lines.extend(decoder.finish());
    assert_eq!((decoder.next_line(), decoder.finish()), (None, None));
    lines.iter().map(show).collect()
}

fn show(line: &Line) -> String {
    match line {
        Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Line::TooLong { head } => format!("!{}", String::from_utf8_lossy(head)),
    }
}

#[test]
fn lines() {
    let check = |stream: &str, expected: &[&str]| {
        assert_eq!(decode(5, [stream.as_bytes()]), expected, "{stream:?}");
        assert_eq!(decode(5, stream.as_bytes().chunks(1)), expected, "{stream:?} byte by byte");
    };
    check("", &[]);
    check("\n\r\n \n\t\r\n", &[]);
    check("a\nb\n", &["a", "b"]);
    check("a\r\nb", &["a", "b"]);
    check("a\rb\r\n", &["a\rb"]);
    check("12345\n12345\r\n12345", &["12345", "12345", "12345"]);
    check(" 1 \n", &[" 1 "]);
}

#[test]
fn overlong() {
    let check = |chunks: &[&str], expected: &[&str]| {
        let chunks = chunks.iter().map(|chunk| chunk.as_bytes());
        assert_eq!(decode(5, chunks), expected);
    };
    check(&["123456\nok\n"], &["!123456", "ok"]);
    check(&["123456"], &["!123456"]);
    check(&["12345678"], &["!12345678"]);
    check(&["1234567", "89", "more\nok", "\n"], &["!1234567", "ok"]);
    check(&["1234567", "89"], &["!1234567"]);
    check(&["1234567", "\n\n", "ok"], &["!1234567", "ok"]);
    let long = "x".repeat(5000);
    assert_eq!(decode(2000, [long.as_bytes()]), [format!("!{}", &long[..1024])]);
}

#[test]
fn a_gigabyte_in_one_line_is_not_kept() {
    let chunk = vec![b'x'; 64 * 1024];
    let mut decoder = Decoder::new(1024 * 1024);
    let mut reports = 0;
    let mut most = 0;
    for _ in 0..(1 << 30) / chunk.len() {
        decoder.feed(&chunk);
        reports += std::iter::from_fn(|| decoder.next_line()).count();
        most = most.max(decoder.buffer().capacity());
    }
    assert_eq!(reports, 1);
    assert!(most <= 3 * 1024 * 1024, "{most} bytes were kept");
    assert!(decoder.buffer().capacity() <= 128 * 1024, "the memory came back");
    decoder.feed(b"\nok\n");
    assert_eq!(decoder.next_line().as_ref().map(show).as_deref(), Some("ok"));
}

#[test]
fn encoded() {
    let check = |message: &str, expected: &str| {
        let mut out = b"before\n".to_vec();
        encode(&mut out, message.as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), format!("before\n{expected}"));
    };
    check("{}", "{}\n");
    check("", "\n");
    check("{\n  \"a\": \"x\\ny\",\r\n  \"b\": [1,\n2]\n}", "{  \"a\": \"x\\ny\",  \"b\": [1,2]}\n");
    let mut out = b"{\n}".to_vec();
    end_line(&mut out, 99);
    assert_eq!(out, b"{\n}\n");
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        stream in "([a-c \r]{0,7}\n?){0,12}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &stream.as_bytes()[cut[0]..cut[1]]);
        // Of a line that is too long, what was there when that was noticed is shown.
        let cut = |lines: Vec<String>| -> Vec<_> {
            let cut = |line: &String| line.starts_with('!').then(|| line[..1].to_owned());
            lines.iter().map(|line| cut(line).unwrap_or_else(|| line.clone())).collect()
        };
        prop_assert_eq!(cut(decode(5, chunks)), cut(decode(5, [stream.as_bytes()])));
    }

    #[test]
    fn a_message_is_always_one_line(payload in crate::json::tests::any_json()) {
        let mut out = Vec::new();
        encode(&mut out, payload.as_bytes());
        prop_assert_eq!(memchr::memchr_iter(b'\n', &out).count(), 1);
        let line = std::str::from_utf8(&out).unwrap();
        let was: serde_json::Result<serde_json::Value> = serde_json::from_str(&payload);
        let is: serde_json::Result<serde_json::Value> = serde_json::from_str(line);
        prop_assert_eq!(was.ok(), is.ok());
    }
}
