//! Inputs that parsers are known to get wrong: a few of our own, and JSONTestSuite where it is.

use std::path::PathBuf;

use crate::json::Json;
use crate::limits::Limits;
use crate::message::Incoming;

#[test]
fn our_own() {
    let accepted: &[&[u8]] = &[
        br#"{"a":1.0,"b":9223372036854775809,"c":1e400,"d":-0,"e":1E-5}"#,
        br#"["\ud800","\udfff\ud800","\u0000","\uABCD\uabcd"]"#,
        b"[\"\x7f\",\"\xef\xbb\xbf\",\"\xf4\x8f\xbf\xbf\"]",
        b"\t\r\n null \n",
        br#"{"":{"":{"":0}},"a":0,"a":0}"#,
    ];
    let refused: &[&[u8]] = &[
        b"",
        b" ",
        b"\xef\xbb\xbf{}",
        b"{]",
        b"[}",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{\"a\":1,}",
        b"{,}",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"{1:2}",
        b"{'a':1}",
        b"[01]",
        b"[+1]",
        b"[1.]",
        b"[.5]",
        b"[1e]",
        b"[-]",
        b"[0x1]",
        b"[NaN]",
        b"[Infinity]",
        b"[tru]",
        b"[True]",
        b"nullx",
        b"\"a\nb\"",
        b"\"a\tb\"",
        b"\"\0\"",
        b"\"\\x\"",
        b"\"\\u12g4\"",
        b"\"\\u12",
        b"\"\\",
        b"\"abc",
        b"[1] //",
        b"{}{}",
        b"[\x0c1]",
        b"[\xc2\xa01]",
    ];
    for bytes in accepted {
        assert!(Json::parse(bytes, &Limits::DEFAULT).is_ok(), "{}", bytes.escape_ascii());
    }
    for bytes in refused {
        assert!(Json::parse(bytes, &Limits::DEFAULT).is_err(), "{}", bytes.escape_ascii());
    }
}

#[test]
fn json_test_suite() {
    let Some(files) = suite() else { return };
    let mut seen = 0;
    for (name, bytes) in files {
        let ours = Json::parse(&bytes, &Limits::DEFAULT);
        match name.as_bytes()[0] {
            b'y' => assert!(ours.is_ok(), "{name}: {ours:?}"),
            b'n' => assert!(ours.is_err(), "{name}: {ours:?}"),
            // Either is right, but the two parsers must be of one mind: what we let through is
            // read by the other later.
            _ => {
                let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(&bytes);
                let deep = name.contains("nested");
                assert!(deep || ours.is_ok() == theirs.is_ok(), "{name}: {ours:?}");
            }
        }
        // As an envelope, any of it is only ever refused, and never with a panic.
        assert!(
            !matches!(Incoming::parse(&bytes, &Limits::DEFAULT), Ok(Incoming::One(_))),
            "{name}"
        );
        let mut payload = br#"{"jsonrpc":"2.0","id":1,"result":"#.to_vec();
        payload.extend_from_slice(&bytes);
        payload.push(b'}');
        let wrapped = Incoming::parse(&payload, &Limits::DEFAULT);
        assert!(ours.is_err() || wrapped.is_ok(), "{name}: {wrapped:?}");
        seen += 1;
    }
    assert!(seen > 300, "only {seen} files");
}

/// The suite is data of others and not part of this repository.
fn suite() -> Option<Vec<(String, Vec<u8>)>> {
    #[expect(clippy::disallowed_methods, reason = "a test may be told where its data is")]
    let root = std::env::var_os("SWITCHBOARD_TEST_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let directory = root.join("hostile/json");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        println!("skipped: no JSONTestSuite in {} (SWITCHBOARD_TEST_DATA)", directory.display());
        return None;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    Some(
        files
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, std::fs::read(path).unwrap())
            })
            .collect(),
    )
}
