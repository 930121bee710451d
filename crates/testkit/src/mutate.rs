//! Ways to spoil a valid text: cut it, turn its bits, put wrong values at every place of its tree.

use serde_json::{Value, json};

/// The text cut after each of its bytes.
pub fn truncated(text: &str) -> impl Iterator<Item = Vec<u8>> {
    (0..text.len()).map(|end| text.as_bytes()[..end].to_vec())
}

/// The text with each of its bytes changed, one at a time and in three ways: into a neighbour, into
/// the other case, and into something that is not UTF-8.
pub fn flipped(text: &str) -> impl Iterator<Item = Vec<u8>> {
    (0..text.len()).flat_map(|at| {
        [0x01, 0x20, 0x80].map(|bit| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= bit;
            bytes
        })
    })
}

/// The tree with each of its values replaced, one at a time, by every kind of wrong value.
pub fn replaced(tree: &Value) -> Vec<Value> {
    let wrong = [json!(null), json!(true), json!([]), json!({}), json!(1), json!("x")];
    places(tree)
        .iter()
        .flat_map(|place| {
            wrong.iter().map(|value| {
                let mut tree = tree.clone();
                if let Some(slot) = tree.pointer_mut(place) {
                    *slot = value.clone();
                }
                tree
            })
        })
        .collect()
}

/// The tree with one text at every place where it has a text.
pub fn with_text(tree: &Value, text: &str) -> Value {
    let mut tree = tree.clone();
    for place in places(&tree) {
        if let Some(slot @ Value::String(_)) = tree.pointer_mut(&place) {
            *slot = text.into();
        }
    }
    tree
}

/// The tree with one text as every key of its second and third level, where names stand.
pub fn with_key(tree: &Value, key: &str) -> Value {
    let mut tree = tree.clone();
    for place in places(&tree) {
        let depth = place.matches('/').count();
        if let Some(Value::Object(map)) = tree.pointer_mut(&place)
            && (1..3).contains(&depth)
            && let Some(first) = map.keys().next().cloned()
            && let Some(value) = map.remove(&first)
        {
            map.insert(key.to_owned(), value);
        }
    }
    tree
}

/// The JSON pointer of every value of a tree, the inner ones first.
fn places(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(tree, String::new(), &mut found);
    found
}

fn walk(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                walk(inner, format!("{place}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                walk(inner, format!("{place}/{at}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found.push(place);
}
