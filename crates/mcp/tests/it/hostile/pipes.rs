//! The same through a pipe, line by line: it goes on, and still answers.

use std::pin::pin;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::json;
use switchboard_mcp::stdio;
use switchboard_testkit::data::repetitions;
use switchboard_testkit::{hostile, panics};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use super::memory::leaves_nothing;
use crate::kit::{Hub, LIMIT, call, principal, request, stateless};

/// The last thing that is asked.
const LAST: u64 = 424_242;

/// Sends all of it on one pipe, to a session or to none. How many bytes that were.
async fn send(hub: &Hub, lines: &[Vec<u8>]) -> usize {
    for greeted in [true, false] {
        let (mut input, theirs) = tokio::io::duplex(1 << 16);
        let (output, ours) = tokio::io::duplex(1 << 16);
        let who = Arc::new(principal("token-cto").unwrap());
        let mut served = pin!(stdio::serve(&hub.endpoint, who, theirs, output));
        let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {"elicitation": {}}, "clientInfo": {}});
        let hello = request(0, "initialize", hello);
        let sending = async {
            if greeted {
                input.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
            }
            for line in lines {
                input.write_all(line).await.unwrap();
                input.write_all(b"\n").await.unwrap();
            }
            let last = request(LAST, "ping", json!({}));
            input.write_all(format!("{last}\n").as_bytes()).await.unwrap();
        };
        let reading = async {
            let mut lines = BufReader::new(ours).lines();
            let last = format!("\"id\":{LAST}");
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.contains(&last) {
                    return;
                }
            }
            panic!("it ended");
        };
        let all = async { tokio::join!(sending, reading) };
        tokio::select! {
            ended = &mut served => panic!("it ended: {ended:?}"),
            answered = timeout(LIMIT, all) => assert!(answered.is_ok(), "it does not answer"),
        }
    }
    2 * lines.iter().map(Vec::len).sum::<usize>()
}

fn known() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = hostile::small().into_iter().map(|one| one.bytes).collect();
    for value in hostile::VALUES {
        lines.push(value.to_vec());
    }
    for text in hostile::STRINGS.iter().chain(hostile::KEYS.iter()) {
        for method in ["tools/call", "resources/read", "prompts/get", "tools/list"] {
            let mut params = json!({"name": text, "uri": text, "cursor": text, "requestState": text, "arguments": {*text: text}});
            lines.push(request(1, method, params.clone()).into());
            params["_meta"] = stateless(json!({*text: text}));
            lines.push(request(2, method, params).into());
        }
        lines.push(call(3, "alpha__raw", json!({"text": text})).into());
    }
    lines.extend(hostile::public_values().into_iter().flatten().map(|one| one.bytes));
    let texts = hostile::public_strings().unwrap_or_default();
    lines.extend(texts.iter().map(|text| call(4, "alpha__raw", json!({"text": text})).into()));
    lines
}

#[tokio::test]
async fn known_sets() {
    let hub = Hub::start().await;
    let lines = known();
    leaves_nothing("known sets", async || send(&hub, &lines).await).await;
    panics::none();
}

#[tokio::test]
async fn prove_random_lines() {
    let hub = Hub::start().await;
    let mut random = Rng::with_seed(20_261_119);
    let mut lines: Vec<Vec<u8>> = hostile::bulky().into_iter().map(|one| one.bytes).collect();
    lines.extend((0..repetitions(3_000)).map(|_| hostile::bytes(&mut random, 16)));
    leaves_nothing("random lines", async || send(&hub, &lines).await).await;
    panics::none();
}
