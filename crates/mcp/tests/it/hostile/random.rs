//! Bytes that nobody chose, messages that were bent, and much too much of everything.

use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use switchboard_testkit::data::repetitions;
use switchboard_testkit::hostile::{self, Input};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::memory::leaves_nothing;
use super::{check, clients, still_serves};
use crate::kit::{Answer, Hub, request, stateless};

#[tokio::test]
async fn prove_random_bytes_break_nothing_and_leave_nothing() {
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        let count = repetitions(3_000) as usize;
        leaves_nothing("random bytes", async || {
            let (mut random, mut sent) = (Rng::with_seed(20_261_118), 0);
            for round in 0..count {
                let bytes = hostile::bytes(&mut random, 18);
                sent += check(&clients[round % clients.len()..][..1], "random", &bytes).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

#[tokio::test]
async fn prove_deep_and_wide_break_nothing_and_leave_nothing() {
    let rows = hostile::bulky();
    let count = repetitions(100);
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        for Input { name, bytes } in &rows {
            leaves_nothing(name, async || {
                let mut sent = 0;
                for _ in 0..count {
                    sent += check(&clients, name, bytes).await;
                }
                sent
            })
            .await;
        }
        still_serves(&hub).await;
    }
}

/// Many at once, each with a part of a body that never ends.
#[tokio::test]
async fn slow_senders() {
    for hub in Hub::each_way_with(|options| options.limits.read = Duration::from_millis(100)).await
    {
        let client = hub.client("token-cto");
        let head: String =
            client.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        // The first is more than is read without ceremony, the second is not.
        for (part, length) in [(200_000, 1_000_000), (20_000, 40_000)] {
            let part = "x".repeat(part);
            let sent =
                format!("POST /mcp HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n\"{part}");
            leaves_nothing("slow senders", async || {
                // A few at once, so that what they hold meanwhile is little beside what they would leave in all.
                for _ in 0..5 {
                    refused_as_slow(&hub, &sent).await;
                }
                5 * 20 * sent.len()
            })
            .await;
        }
        client.post("{}").await;
        still_serves(&hub).await;
    }
}

async fn refused_as_slow(hub: &Hub, sent: &str) {
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(hub.address).await.unwrap();
        let _ = stream.write_all(sent.as_bytes()).await;
        streams.push(stream);
    }
    for stream in streams {
        assert_eq!(Answer::read(stream).await.status, 408);
    }
}

#[tokio::test]
async fn prove_bent_messages_break_nothing() {
    let mut params = json!({"name": "alpha__raw", "arguments": {"a": [1, "x", null]}});
    let session = request(7, "tools/call", params.clone());
    params["_meta"] = stateless(json!({"elicitation": {}}));
    let seeds =
        [session, request(8, "tools/call", params), request(9, "resources/list", json!({}))];
    let count = repetitions(3_000) as usize;
    for hub in Hub::each_way().await {
        let clients = clients(&hub).await;
        leaves_nothing("bent messages", async || {
            let (mut random, mut sent) = (Rng::with_seed(20_261_116), 0);
            for round in 0..count {
                let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
                bend(&mut bytes, &mut random);
                sent += check(&clients[round % clients.len()..][..1], "bent", &bytes).await;
            }
            sent
        })
        .await;
        still_serves(&hub).await;
    }
}

fn bend(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..bytes.len().max(1));
        if at >= bytes.len() {
            break;
        }
        match random.u8(..4) {
            0 => bytes[at] = random.u8(..),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *random.choice(b"{}[]\",:\\0ae").unwrap_or(&b'0')),
            _ => bytes.truncate(at.max(1)),
        }
    }
}
