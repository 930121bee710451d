//! What is taken here, and what is left to others.

use switchboard_testkit::seed;

use super::*;

/// The next request, where nobody can be asked at once.
fn left(buffer: &mut BytesMut) -> Read<std::convert::Infallible> {
    next(buffer, |_| None)
}

/// What becomes of a request with these lines and this body: `r` it is read, `c` and closed behind, `m` more is
/// awaited, `o` it is not for here.
#[track_caller]
fn check(lines: &[&str], body: &str, expected: char) {
    let text = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
    let mut buffer = BytesMut::from(text.as_bytes());
    let became = match left(&mut buffer) {
        Read::Request(_, Closing::No) => 'r',
        Read::Request(_, Closing::Yes) => 'c',
        Read::More(_) => 'm',
        Read::Odd => 'o',
        Read::Nothing => 'n',
        Read::Asked(never, _) => match never {},
    };
    assert_eq!(became, expected, "{text}");
    if matches!(became, 'm' | 'o') {
        assert_eq!(buffer, text.as_bytes(), "all of it is still there");
    }
}

const POST: &str = "POST /mcp HTTP/1.1";

#[test]
fn only_what_can_be_read_in_one_way_is_taken() {
    for (line, expected) in [
        ("Content-Length: 2", 'r'),
        ("content-length:2", 'r'),
        ("CONTENT-LENGTH: 0002", 'r'),
        ("Content-Length: 3", 'm'),
        ("Content-Length: 65536", 'o'),
        ("Content-Length: 18446744073709551616", 'o'),
        ("Content-Length: +2", 'o'),
        ("Content-Length: 2, 2", 'o'),
        ("Content-Length: 2\r\nContent-Length: 2", 'o'),
        ("Content-Length: 2\r\nContent-Length: 3", 'o'),
        ("Content-Length:", 'o'),
        ("Content-Length : 2", 'o'),
        ("X: content-length: 2", 'o'),
        ("Transfer-Encoding: chunked", 'o'),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked", 'o'),
        ("Content-Length: 2\r\ntransfer-encoding: identity", 'o'),
        ("Content-Length: 2\r\nExpect: 100-continue", 'o'),
        ("Content-Length: 2\r\nUpgrade: h2c", 'o'),
        ("Content-Length: 2\r\nTrailer: X", 'o'),
        ("Content-Length: 2\r\nConnection: Keep-Alive", 'r'),
        ("Content-Length: 2\r\nConnection: close", 'c'),
        ("Content-Length: 2\r\nConnection: close, te", 'o'),
        ("Content-Length: 2\r\nConnection: upgrade", 'o'),
        ("Content-Length: 2\r\n folded: 1", 'o'),
        ("Content-Length: 2\r\nbad\u{0}name: 1", 'o'),
    ] {
        check(&[POST, "Host: localhost", line], "{}", expected);
    }
}

#[test]
fn only_posts_of_this_revision_to_a_path_are_taken() {
    for (first, expected) in [
        (POST, 'r'),
        ("POST /api/v1/servers?x=1 HTTP/1.1", 'r'),
        ("POST /mcp HTTP/1.0", 'o'),
        ("POST /mcp HTTP/2.0", 'o'),
        ("POST http://localhost/mcp HTTP/1.1", 'o'),
        ("POST * HTTP/1.1", 'o'),
        ("POST  /mcp HTTP/1.1", 'o'),
        ("GET /mcp HTTP/1.1", 'o'),
        ("post /mcp HTTP/1.1", 'o'),
        ("PRI * HTTP/2.0", 'o'),
        ("\u{16}\u{3}\u{1}", 'o'),
    ] {
        check(&[first, "Content-Length: 2"], "{}", expected);
    }
}

#[test]
fn a_head_that_has_not_ended_is_not_for_here() {
    let whole = b"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    for end in 1..whole.len() {
        let mut buffer = BytesMut::from(&whole[..end]);
        assert!(matches!(left(&mut buffer), Read::Odd), "{end}");
        assert_eq!(buffer, whole[..end]);
    }
    let many: Vec<String> = (0..HEADERS).map(|nth| format!("x-{nth}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    check(&[&[POST, "Content-Length: 0"], &many[1..]].concat(), "", 'r');
    check(&[&[POST, "Content-Length: 0"], &many[..]].concat(), "", 'o');
}

#[tokio::test]
async fn all_of_a_request_is_passed_on_and_the_next_one_stays() {
    use http_body_util::BodyExt as _;

    let text = "POST /mcp/agents/a?b=c HTTP/1.1\r\nHost: localhost:1\r\nMCP-Session-ID: s\r\nX-Two: 1\r\n\
                x-two:  2 \r\nContent-Length: 3\r\n\r\nabcPOST /next";
    let mut buffer = BytesMut::from(text);
    let asked = next(&mut buffer.clone(), |Post { path, headers, body }| {
        assert_eq!((path, &body[..]), ("/mcp/agents/a?b=c", &b"abc"[..]));
        let expected: [Field<'_>; 5] = [
            ("Host", b"localhost:1"),
            ("MCP-Session-ID", b"s"),
            ("X-Two", b"1"),
            ("x-two", b"2"),
            ("Content-Length", b"3"),
        ];
        assert_eq!(headers, expected);
        Some(())
    });
    assert!(matches!(asked, Read::Asked((), Closing::No)));
    let Read::Request(read, Closing::No) = left(&mut buffer) else { panic!("it is one") };
    assert_eq!(buffer, &b"POST /next"[..]);
    assert_eq!(
        (read.method(), read.uri().to_string()),
        (&Method::POST, "/mcp/agents/a?b=c".into())
    );
    let header = |name| {
        let all =
            read.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned());
        all.collect::<Vec<_>>()
    };
    assert_eq!(header("host"), ["localhost:1"]);
    assert_eq!(header("mcp-session-id"), ["s"]);
    assert_eq!(header("x-two"), ["1", "2"]);
    assert_eq!(read.into_body().collect().await.unwrap().to_bytes(), "abc");
}

/// Whatever comes, nothing of it is lost or read twice, and a body is as long as its head says.
#[tokio::test]
async fn nothing_is_lost_of_what_is_broken() {
    use http_body_util::BodyExt as _;

    let whole = b"POST /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhelloPOST ";
    let pieces: [&[u8]; 8] = [
        b"\r\n",
        b"\n",
        b":",
        b" ",
        b"\0",
        b"Content-Length: 1\r\n",
        b"9",
        b"Transfer-Encoding: x\r\n",
    ];
    let (mut random, mut taken) = (fastrand::Rng::with_seed(seed(fastrand::u64(..))), 0);
    for _ in 0..20_000 {
        let mut bytes = whole.to_vec();
        for _ in 0..random.usize(0..3) {
            let at = random.usize(..bytes.len());
            match random.u8(0..3) {
                0 => bytes[at] = random.u8(..),
                1 => {
                    drop(bytes.splice(at..at, pieces[random.usize(..pieces.len())].iter().copied()))
                }
                _ => drop(bytes.drain(at..(at + 3).min(bytes.len()))),
            }
        }
        let mut buffer = BytesMut::from(&bytes[..]);
        match left(&mut buffer) {
            Read::Request(read, _) => {
                let lengths: Vec<_> =
                    read.headers().get_all("content-length").iter().cloned().collect();
                let body = read.into_body().collect().await.unwrap().to_bytes();
                assert_eq!(lengths.len(), 1);
                assert_eq!(lengths[0].to_str().unwrap().parse::<usize>().unwrap(), body.len());
                assert!(bytes.ends_with(&[&body[..], &buffer[..]].concat()));
                taken += 1;
            }
            Read::More(_) | Read::Odd => assert_eq!(buffer, bytes[..]),
            Read::Nothing => unreachable!("there is something"),
            Read::Asked(never, _) => match never {},
        }
    }
    assert!(taken > 1_000, "{taken}");
}
