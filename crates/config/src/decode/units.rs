//! Durations, sizes and counts, as people write them.

use std::time::Duration;

use switchboard_model::Code;

use super::Report;
use crate::syntax::{Node, Value};

/// What a bare number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// `30` is thirty seconds.
    Seconds,
    /// `15000` is fifteen seconds.
    Millis,
}

/// Longer than any of these settings can mean.
const MAX_SECONDS: f64 = 366.0 * 24.0 * 3600.0;

pub(crate) fn duration(
    node: &Node,
    key: &str,
    unit: Unit,
    report: &mut Report,
) -> Option<Duration> {
    let remedy = match unit {
        Unit::Seconds => "Write seconds (`30`) or a text such as \"500ms\", \"30s\" or \"5m\".",
        Unit::Millis => "Write milliseconds, such as 15000.",
    };
    let duration = match &node.value {
        Value::Number(number) => number.parse::<f64>().ok().and_then(|n| {
            let seconds = if unit == Unit::Millis { n / 1000.0 } else { n };
            (seconds <= MAX_SECONDS).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
        }),
        Value::String(text) => humantime::parse_duration(text).ok(),
        _ => {
            report.wrong_type(node, &format!("`{key}`"), "a duration");
            return None;
        }
    };
    match duration {
        Some(duration) if !duration.is_zero() && duration.as_secs_f64() <= MAX_SECONDS => {
            Some(duration)
        }
        Some(_) | None => {
            let message = format!("`{key}` is not a duration between 1 ns and a year");
            report.error(Code::BadValue, &node.span, message, remedy);
            None
        }
    }
}

pub(super) fn size(node: &Node, key: &str, report: &mut Report) -> Option<u64> {
    let size = match &node.value {
        Value::Number(number) => integer(number),
        Value::String(text) => text.parse::<bytesize::ByteSize>().ok().map(|size| size.as_u64()),
        _ => {
            report.wrong_type(node, &format!("`{key}`"), "a size");
            return None;
        }
    };
    if size.is_none() {
        let message = format!("`{key}` is not a size");
        let remedy = "Write bytes (`100000`) or a text such as \"100KB\" or \"1MiB\".";
        report.error(Code::BadValue, &node.span, message, remedy);
    }
    size
}

pub(super) fn count(node: &Node, key: &str, report: &mut Report) -> Option<u32> {
    let Value::Number(number) = &node.value else {
        report.wrong_type(node, &format!("`{key}`"), "a whole number");
        return None;
    };
    let count = integer(number).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    if count.is_none() {
        let message = format!("`{key}` is not a whole number from 1 to {}", u32::MAX);
        report.error(Code::BadValue, &node.span, message, "Write a number such as 64.");
    }
    count
}

fn integer(number: &str) -> Option<u64> {
    match number.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => number.replace('_', "").parse().ok(),
    }
}
