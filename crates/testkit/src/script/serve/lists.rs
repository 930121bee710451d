//! The lists, in pages, with what may be wrong about them. Never holds the entries.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard_wire::code;

use super::dispatch::Call;
use super::era::Refusal;
use super::world::held;
use super::{catalog, lasting};
use crate::script::fault::{Cursor, Fault, List};

pub(super) fn tools(call: &Call) -> Result<Value, Refusal> {
    let mut tools = all(call, List::Tools);
    let listed = call.world.listed.fetch_add(1, Ordering::Relaxed);
    if call.faults.contains(&Fault::ChangingDefinitions {}) {
        for tool in &mut tools {
            let described = tool["description"].as_str().unwrap_or_default();
            tool["description"] = format!("{described} (version {listed})").into();
        }
    }
    if is_invalid(call) {
        tools.extend(catalog::invalid_tools());
    }
    page(call, "tools", tools)
}

pub(super) fn resources(call: &Call) -> Result<Value, Refusal> {
    page(call, "resources", with_invalid(call, all(call, List::Resources)))
}

pub(super) fn templates(call: &Call) -> Result<Value, Refusal> {
    page(call, "resourceTemplates", with_invalid(call, catalog::templates()))
}

pub(super) fn prompts(call: &Call) -> Result<Value, Refusal> {
    page(call, "prompts", with_invalid(call, all(call, List::Prompts)))
}

/// Everything valid that a list has.
pub(super) fn all(call: &Call, list: List) -> Vec<Value> {
    let extras = held(&call.world.extras);
    match list {
        List::Tools => {
            let own = catalog::tools(call.revision, call.world.script.tools, extras.tools);
            let lasting = lasting::tools().filter(|_| call.world.script.lasting);
            own.into_iter().chain(lasting).collect()
        }
        List::Resources => catalog::resources(extras.resources),
        List::Prompts => catalog::prompts(extras.prompts),
    }
}

fn is_invalid(call: &Call) -> bool {
    call.faults.contains(&Fault::InvalidEntries {})
}

fn with_invalid(call: &Call, mut entries: Vec<Value>) -> Vec<Value> {
    if is_invalid(call) {
        entries.extend(catalog::invalid_others());
    }
    entries
}

fn page(call: &Call, key: &str, entries: Vec<Value>) -> Result<Value, Refusal> {
    let start = match &call.params["cursor"] {
        Value::Null => 0,
        cursor => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix("from-")?.parse::<usize>().ok())
            .ok_or_else(|| Refusal::new(code::INVALID_PARAMS, "Unknown cursor"))?,
    };
    for fault in &call.faults {
        if let Fault::EndlessPages { cursor } = fault {
            return Ok(endless(key, entries, *cursor, start));
        }
    }
    let size = call.world.script.page.unwrap_or(usize::MAX).max(1);
    let total = entries.len();
    let shown: Vec<_> = entries.into_iter().skip(start).take(size).collect();
    let end = start.saturating_add(size);
    let mut page = json!({key: shown});
    if end < total {
        page["nextCursor"] = format!("from-{end}").into();
    }
    Ok(page)
}

fn endless(key: &str, mut entries: Vec<Value>, cursor: Cursor, start: usize) -> Value {
    let next = match cursor {
        Cursor::Same => "from-0".to_owned(),
        Cursor::Fresh => {
            for entry in &mut entries {
                for member in ["name", "uri"] {
                    if let Some(text) = entry[member].as_str() {
                        entry[member] = format!("{text}_{start}").into();
                    }
                }
            }
            format!("from-{}", start + 1)
        }
    };
    json!({key: entries, "nextCursor": next})
}
