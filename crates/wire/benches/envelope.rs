//! What a message costs to read and to pass on: this crate next to serde_json's `RawValue`, in
//! nanoseconds per message, side by side in one run.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_wire::types::CallParams;
use switchboard_wire::{Edit, Id, Limits, Message, rewrite, write};

#[derive(Deserialize, Serialize)]
struct Raw<'a> {
    jsonrpc: &'a str,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize, Serialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

fn main() {
    println!("{:<34} {:>8} {:>10} {:>10} {:>7}", "parse", "bytes", "wire ns", "serde ns", "ratio");
    for (name, message) in messages() {
        let wire = measure(|| {
            black_box(Message::parse(black_box(message.as_bytes()), &Limits::DEFAULT).unwrap());
        });
        let serde = measure(|| {
            black_box(serde_json::from_slice::<Raw>(black_box(message.as_bytes())).unwrap());
        });
        row(name, message.len(), wire, serde);
    }
    println!("\nparse, take the prefix off the tool's name, compose");
    for (name, message) in messages().into_iter().filter(|(name, _)| name.starts_with("call")) {
        let mut out = Vec::new();
        let wire = measure(|| {
            out.clear();
            forward(black_box(message.as_bytes()), &mut out);
            black_box(&out);
        });
        let serde = measure(|| {
            black_box(forward_serde(black_box(message.as_bytes())));
        });
        row(name, message.len(), wire, serde);
    }
}

fn forward(body: &[u8], out: &mut Vec<u8>) {
    let Message::Request(request) = Message::parse(body, &Limits::DEFAULT).unwrap() else {
        return;
    };
    let params = request.params.unwrap();
    let call = CallParams::read(params).unwrap();
    let name = call.name.as_deref().and_then(|name| name.strip_prefix("up__")).unwrap();
    write::request_with(out, Id::from(7), &request.method, |out| {
        rewrite::edit(out, params, &[Edit::text("name", name)])
    })
    .unwrap();
}

fn forward_serde(body: &[u8]) -> Vec<u8> {
    let mut message: Raw = serde_json::from_slice(body).unwrap();
    let mut call: Call = serde_json::from_str(message.params.unwrap().get()).unwrap();
    call.name = call.name.strip_prefix("up__").unwrap().to_owned().into();
    let params = serde_json::value::to_raw_value(&call).unwrap();
    let id = serde_json::value::to_raw_value(&7).unwrap();
    message.id = Some(&id);
    serde_json::to_vec(&Raw { params: Some(&params), ..message }).unwrap()
}

fn messages() -> Vec<(&'static str, String)> {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    let call = |arguments: &str, meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{{"name":"up__echo","arguments":{arguments}{meta}}}}}"#
        )
    };
    let result = |content: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":42,"result":{{"content":[{content}],"isError":false}}}}"#)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let prose = "The quick brown fox jumps over the lazy dog and runs away. ".repeat(272);
    let code = r#"    let x = \"a quoted word\";\n"#.repeat(500);
    let rows: Vec<_> = (0..230)
        .map(|n| {
            format!(r#"{{"id":{n},"name":"row {n}","ok":true,"score":{n}.5,"tags":["a","b"]}}"#)
        })
        .collect();
    let japanese = "日本語のテキストです。".repeat(500);
    vec![
        ("call, session era", call(r#"{"message":"hello"}"#, "")),
        ("call, stateless era", call(r#"{"message":"hello"}"#, &format!(",{meta}"))),
        ("call, 16 KB of prose", call(&format!(r#"{{"message":"{prose}"}}"#), "")),
        ("result, small", result(&text("hello"))),
        ("result, 16 KB of prose", result(&text(&prose))),
        ("result, 16 KB of escaped code", result(&text(&code))),
        ("result, 16 KB of Japanese", result(&text(&japanese))),
        ("result, 16 KB of structure", result(&rows.join(","))),
    ]
}

fn row(name: &str, size: usize, wire: f64, serde: f64) {
    println!("{name:<34} {size:>8} {wire:>10.0} {serde:>10.0} {:>7.2}", serde / wire);
}

/// The best of several rounds: a shared machine only ever adds time.
fn measure(mut work: impl FnMut()) -> f64 {
    let mut rounds = 1_u32;
    while time(&mut work, rounds) < Duration::from_millis(5) {
        rounds *= 2;
    }
    let best = (0..12).map(|_| time(&mut work, rounds)).min().unwrap_or_default();
    best.as_secs_f64() * 1e9 / f64::from(rounds)
}

fn time(work: &mut impl FnMut(), rounds: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..rounds {
        work();
    }
    start.elapsed()
}
