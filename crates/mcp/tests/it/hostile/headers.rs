//! Headers that nobody should send: any bytes, under any name, as often as one likes. Refused or taken as HTTP demands,
//! and whoever bends or doubles what says who they are, or whom they mean, is never let in.

use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use switchboard_testkit::data::repetitions;
use switchboard_testkit::hostile::headers::{Field, bend};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::memory::leaves_nothing;
use super::still_serves;
use crate::kit::{Answer, Client, Hub, request, stateless};

#[tokio::test]
async fn prove_random_headers_break_nothing() {
    let mut params = json!({"name": "alpha__mirrored", "arguments": {"region": "eu"}});
    params["_meta"] = stateless(json!({}));
    let body = request(1, "tools/call", params);
    let count = repetitions(2_000);
    for hub in Hub::each_way_with(|options| options.limits.read = Duration::from_millis(20)).await {
        let good = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
        leaves_nothing("headers", async || {
            let (mut random, mut sent) = (Rng::with_seed(20_261_117), 0);
            for _ in 0..count {
                let mut fields = fields(&good, &body);
                for _ in 0..random.usize(1..4) {
                    bend(&mut fields, &mut random);
                }
                for method in ["POST", "GET", "DELETE"] {
                    sent += check(&good, method, &fields, &body).await;
                }
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

/// Whoever is meant twice, or a little differently, is nobody: for each header by itself, with all else as it should
/// be, and for each byte.
#[tokio::test]
async fn nobody_is_let_in_by_a_bent_header() {
    for hub in Hub::each_way().await {
        let good = hub.client("token-cto").initialized("2025-11-25", json!({})).await;
        let body = request(1, "tools/list", json!({}));
        let fields = fields(&good, &body);
        let posted = async |fields: &[Field]| status(&good, "POST", fields, &body).await;
        assert_eq!(posted(&fields).await, Some(200));
        for (name, place) in [("host", 0), ("authorization", "Bearer ".len())] {
            let at = fields.iter().position(|field| field.0 == name.as_bytes()).unwrap();
            for double in ["", "x", &good.headers[at].1] {
                for end in [at, fields.len()] {
                    let mut doubled = fields.clone();
                    doubled.insert(end, (name.to_uppercase().into(), double.into()));
                    let status = posted(&doubled).await;
                    assert!(matches!(status, Some(400..500)), "{name} {double:?}: {status:?}");
                }
            }
            for byte in (0..=u8::MAX).filter(|byte| !b" \t\r\n".contains(byte)) {
                let mut bent = fields.clone();
                bent[at].1.insert(place, byte);
                let status = posted(&bent).await;
                assert!(matches!(status, Some(400..500)), "{name} {byte}: {status:?}");
            }
        }
        still_serves(&hub).await;
    }
}

/// As the client would send them.
fn fields(client: &Client, body: &str) -> Vec<Field> {
    let own = client.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let all = own.chain([("content-length".to_owned(), body.len().to_string())]);
    all.map(|(name, value)| (name.into(), value.into())).collect()
}

/// Sends it; nothing may break, and nobody be let in who should not be. How many bytes that were.
async fn check(good: &Client, method: &str, fields: &[Field], body: &str) -> usize {
    let session = good.headers.iter().find(|(name, _)| name == "mcp-session-id").unwrap();
    if method == "DELETE" && fields.iter().any(|field| field.1 == session.1.as_bytes()) {
        return 0;
    }
    let status = status(good, method, fields, body).await;
    let shown = || {
        let lines = fields.iter().map(|(name, value)| (name.escape_ascii(), value.escape_ascii()));
        lines.map(|(name, value)| format!("{name}: {value}\n")).collect::<String>()
    };
    assert!(status.is_none_or(|status| status < 500), "{method} {status:?}: {}", shown());
    if matches!(status, Some(200..300)) {
        assert!(is_once(fields, "host", is_ours), "{method}: {}", shown());
        assert!(is_once(fields, "authorization", is_theirs), "{method}: {}", shown());
    }
    fields.iter().map(|field| field.0.len() + field.1.len()).sum::<usize>() + body.len()
}

/// Whether a header is there once, and says that.
fn is_once(fields: &[Field], name: &str, says: fn(&[u8]) -> bool) -> bool {
    let mut there = fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name.as_bytes()));
    there.next().is_some_and(|field| says(field.1.trim_ascii())) && there.next().is_none()
}

fn is_ours(host: &[u8]) -> bool {
    let port = host.strip_prefix(b"127.0.0.1");
    port.is_some_and(|port| port.iter().all(|byte| byte.is_ascii_digit() || *byte == b':'))
}

fn is_theirs(authorization: &[u8]) -> bool {
    let (scheme, token) = authorization.split_at(authorization.len().min(7));
    scheme.eq_ignore_ascii_case(b"Bearer ") && token.trim_ascii() == b"token-cto"
}

/// What is answered; nothing if the connection is closed instead.
async fn status(client: &Client, method: &str, fields: &[Field], body: &str) -> Option<u16> {
    let mut sent = format!("{method} {} HTTP/1.1\r\n", client.path).into_bytes();
    for (name, value) in fields {
        sent.extend([name, &b": "[..], value, b"\r\n"].concat());
    }
    sent.extend([b"\r\n", body.as_bytes()].concat());
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    // A server may answer before it has read everything.
    let _ = stream.write_all(&sent).await;
    Answer::or_closed(stream).await.map(|answer| answer.status)
}
