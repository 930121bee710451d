//! What every fuzz target of `wire` goes through: any bytes as messages, values, lines, events and
//! headers. The same bodies serve `fuzz/` and the test that replays its corpora.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use switchboard_wire::types::{
    CallParams, Cancelled, DiscoverResult, InitializeResult, InputRequired, LogMessage, Progress,
};
use switchboard_wire::{
    Edit, Fault, Id, Incoming, Json, JsonBuf, Kind, Limits, Message, Refusal, header, meta, peek,
    rewrite, sse, stdio, write,
};

/// A target's name, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// The fuzz targets by name.
pub const TARGETS: [Target; 6] = [
    ("wire_message", message),
    ("wire_json", json),
    ("wire_rewrite", edits),
    ("wire_stdio", lines),
    ("wire_sse", events),
    ("wire_header", headers),
];

/// Small, so that inputs of a few bytes come to the bounds.
const LIMITS: Limits = Limits { max_bytes: 4096, max_depth: 16, max_batch: 4 };
/// What a line or an event may have.
const LONGEST: usize = 48;

/// Any bytes as what a peer sends: a message that is taken is the same when it is written again.
pub fn message(data: &[u8]) {
    let whole = Incoming::parse(data, &LIMITS);
    match (&whole, Message::parse(data, &LIMITS)) {
        (Ok(Incoming::One(one)), alone) => assert_eq!(Ok(one), alone.as_ref()),
        (Ok(Incoming::Batch(_)), alone) => {
            assert_eq!(alone.map_err(|refusal| refusal.fault), Err(Fault::UnexpectedBatch));
        }
        (Err(_), alone) => assert!(alone.is_err()),
    }
    match whole {
        Ok(Incoming::One(one)) => written(&one),
        Ok(Incoming::Batch(all)) => {
            assert!(!all.is_empty() && all.len() <= LIMITS.max_batch);
            all.iter().for_each(|one| one.as_ref().map_or_else(refused, written));
        }
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal<'_>) {
    assert!(!refusal.to_string().is_empty() && refusal.fault.code() < 0);
}

fn written(message: &Message<'_>) {
    let mut out = Vec::new();
    match message {
        Message::Request(request) => {
            visit(request.params.unwrap_or(Json::EMPTY), 0);
            write::request(&mut out, request.id, &request.method, request.params);
        }
        Message::Notification(notice) => {
            write::notification(&mut out, &notice.method, notice.params);
        }
        Message::Response(response) => write::result(&mut out, response.id, response.result),
        Message::Failure(failure) => write::error_raw(&mut out, failure.id, failure.error.raw),
    }
    let again = Message::parse(&out, &Limits::DEFAULT);
    assert_eq!(again.as_ref(), Ok(message), "{}", String::from_utf8_lossy(&out));
    // On a pipe it is one line, however it was laid out.
    let mut line = Vec::new();
    stdio::encode(&mut line, &out);
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    assert!(Message::parse(&line, &Limits::DEFAULT).is_ok());
}

/// Any bytes as one value: the same are taken as by another parser, and every part can be read.
pub fn json(data: &[u8]) {
    let parsed = Json::parse(data, &LIMITS);
    let other = serde_json::from_slice::<IgnoredAny>(data).is_ok();
    let text = std::str::from_utf8(data).is_ok();
    match parsed {
        Ok(value) => {
            assert!(text && other, "taken, and no JSON");
            visit(value, 0);
            let all = bytes::Bytes::copy_from_slice(data);
            let buf = JsonBuf::parse(all, &LIMITS).expect("it was taken before");
            assert_eq!(buf.as_json(), value);
        }
        Err(Fault::NotUtf8 { .. }) => assert!(!text),
        Err(Fault::TooDeep { .. } | Fault::TooLarge { .. }) => {}
        Err(fault) => assert!(!text || !other, "{fault}, and JSON"),
    }
}

/// Reads all there is in a value, in every way there is.
fn visit(value: Json<'_>, depth: usize) {
    assert!(depth <= LIMITS.max_depth && !value.as_str().is_empty());
    let (mut members, mut elements) = (0, 0);
    for member in value.members() {
        members += 1;
        let (whole, own) = (member.range(), member.value_range());
        assert_eq!(&value.as_bytes()[own.clone()], member.value.as_bytes());
        assert!(whole.start < own.start && whole.end == own.end);
        if let Some(key) = member.key.text() {
            assert!(member.key.is(&key) && value.get(&key).is_some());
        }
        visit(member.value, depth + 1);
    }
    for element in value.elements() {
        elements += 1;
        visit(element, depth + 1);
    }
    let scalar = (value.string().is_some(), value.number().is_some(), value.boolean().is_some());
    match value.kind() {
        Kind::Object => assert!(elements == 0 && scalar == (false, false, false)),
        Kind::Array => assert!(members == 0 && scalar == (false, false, false)),
        Kind::String => assert!(value.string_lossy().is_some() && !scalar.1 && !scalar.2),
        Kind::Number => assert_eq!(scalar, (false, true, false)),
        Kind::Boolean => assert_eq!(scalar, (false, false, true)),
        Kind::Null => assert!(value.is_null() && scalar == (false, false, false)),
    }
    if let (Some(exact), Some(near)) = (value.integer(), value.number()) {
        assert!((exact as f64 - near).abs() <= near.abs() / 1e15, "{exact} {near}");
    }
    if let Some(text) = value.string() {
        let mut out = Vec::new();
        write::string(&mut out, &text);
        let again = Json::parse(&out, &Limits::DEFAULT).expect("a string that was written");
        assert_eq!(again.string(), Some(text));
    }
    known(value);
}

/// What the hub looks for in a value.
fn known(value: Json<'_>) {
    let _ = (peek::meta(value), peek::progress_token(value), peek::subscription_id(value));
    let _ = (peek::result_type(value), peek::is_error(value), peek::cursor(value));
    let _ = (peek::next_cursor(value), peek::RequestMeta::read(Some(value)));
    let _ = (CallParams::read(value), Progress::read(value), Cancelled::read(value));
    let _ = (LogMessage::read(value), InputRequired::read(value));
    let _ = (InitializeResult::read(value), DiscoverResult::read(value));
    let _ = (value.pick(["name", "arguments"]), header::param_headers(value), Id::parse(value));
}

/// Any object, edited: what is asked for is there, everything else is as it was.
pub fn edits(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let Ok(object) = Json::parse(rest, &LIMITS) else { return };
    let inside = [Edit::number(meta::PROGRESS_TOKEN, 7), Edit::remove("x")];
    let every = [
        Edit::text("name", "a \"name\"\n"),
        Edit::inside(meta::META, &inside),
        Edit::remove("arguments"),
        Edit::set("state", Json::NULL),
        Edit::default("info", Json::EMPTY),
    ];
    let keys = ["name", meta::META, "arguments", "state", "info"];
    let chosen = |at: &usize| choice >> at & 1 == 1;
    let wanted: Vec<Edit<'_>> = (0..every.len()).filter(chosen).map(|at| every[at]).collect();
    let Ok(edited) = rewrite::edited(object, &wanted) else { return };
    let edited = edited.as_json();
    let again = Json::parse(edited.as_bytes(), &Limits::DEFAULT);
    assert_eq!(again, Ok(edited), "{}", edited.as_str());
    assert!(edited.is_object());
    let touched = |key: &str| (0..every.len()).any(|at| chosen(&at) && keys[at] == key);
    let others = |of: Json<'_>| -> Vec<(Vec<u8>, Vec<u8>)> {
        let left =
            of.members().filter(|member| !member.key.text().is_some_and(|key| touched(&key)));
        left.map(|member| (member.key.raw().to_vec(), member.value.as_bytes().to_vec())).collect()
    };
    assert_eq!(others(edited), others(object));
    if touched("name") {
        assert_eq!(edited.get("name").and_then(Json::string), Some(Cow::Borrowed("a \"name\"\n")));
    }
    if touched(meta::META) {
        let token = edited.get(meta::META).and_then(|meta| meta.get(meta::PROGRESS_TOKEN));
        assert_eq!(token.and_then(Json::integer), Some(7));
    }
    if touched("arguments") {
        assert_eq!(edited.get("arguments"), None);
    }
}

/// Any bytes as a child's output: however they are cut, the lines are the same.
pub fn lines(data: &[u8]) {
    let whole = cut_into_lines(data, usize::MAX);
    for step in [1, 2, 3, 7, 16] {
        let pieces = cut_into_lines(data, step);
        assert_eq!(pieces.len(), whole.len(), "{step}");
        for pair in pieces.iter().zip(&whole) {
            match pair {
                (stdio::Line::Whole(one), stdio::Line::Whole(other)) => assert_eq!(one, other),
                // How much of it is shown depends on how much was there.
                (stdio::Line::TooLong { head: one }, stdio::Line::TooLong { head: other }) => {
                    assert!(one.starts_with(other) || other.starts_with(one), "{step}");
                }
                (one, other) => panic!("{step}: {one:?} and {other:?}"),
            }
        }
    }
}

fn cut_into_lines(data: &[u8], step: usize) -> Vec<stdio::Line> {
    let mut decoder = stdio::Decoder::new(LONGEST);
    let mut lines = Vec::new();
    for piece in data.chunks(step) {
        decoder.feed(piece);
        lines.extend(std::iter::from_fn(|| decoder.next_line()));
    }
    lines.extend(decoder.finish());
    lines
}

/// Any bytes as a stream of events: however they are cut, the events are the same.
pub fn events(data: &[u8]) {
    let whole = cut_into_events(data, usize::MAX);
    for step in [1, 2, 3, 7, 16] {
        assert_eq!(cut_into_events(data, step), whole, "{step}");
    }
    // What was read can be written, and read again.
    for item in &whole.0 {
        // A type with a NUL in it is written without.
        if let sse::Item::Event(event) = item
            && !event.kind.as_deref().is_some_and(|kind| kind.contains('\0'))
        {
            let mut out = Vec::new();
            sse::event(&mut out, event.kind.as_deref(), None, &event.data);
            let mut decoder = sse::Decoder::new(usize::MAX);
            decoder.feed(&out);
            assert_eq!(decoder.next_item(), Some(sse::Item::Event(event.clone())), "{out:?}");
        }
    }
}

type Stream = (Vec<sse::Item>, Option<String>, Option<u64>);

fn cut_into_events(data: &[u8], step: usize) -> Stream {
    let mut decoder = sse::Decoder::new(LONGEST);
    let mut items = Vec::new();
    for piece in data.chunks(step) {
        decoder.feed(piece);
        items.extend(std::iter::from_fn(|| decoder.next_item()));
    }
    (items, decoder.last_event_id().map(str::to_owned), decoder.retry())
}

/// Any text as a header's value, and as what one is made from.
pub fn headers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let encoded = header::encode(&text);
    assert!(encoded.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{encoded}");
    assert_eq!(encoded.trim(), encoded);
    assert_eq!(header::decode(&encoded), Ok(Cow::Borrowed(&*text)));
    if let Ok(decoded) = header::decode(&text) {
        assert_eq!(header::decode(&header::encode(&decoded)), Ok(decoded.clone()));
    }
    let sent = Some(data);
    let mirror = header::Mirror { version: sent, method: sent, name: sent };
    let params = Json::parse(data, &LIMITS).unwrap_or(Json::EMPTY);
    let _ = header::check(&mirror, &text, &text, &params.into());
}
