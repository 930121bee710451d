//! Texts that come again and again, each kept once: calls name few tools, and those of one tool have few shapes.
//! A record then takes no memory of its own for them. Belongs to one thread, and holds a bounded number.

use std::cell::RefCell;
use std::sync::Arc;

use switchboard_core::redact::Redactor;
use switchboard_store::Shape;
use switchboard_wire::Json;

use super::shape::{self, Names};

/// Texts that are kept, of each kind; of two in the same place, the later one.
const PLACES: usize = 256;
/// A longer one is not worth keeping.
const LONGEST: usize = 4096;

#[derive(Default)]
struct Known {
    tools: Vec<Option<Arc<str>>>,
    /// As they were found, and as they are told.
    shapes: Vec<Option<(Box<str>, Shape)>>,
    scratch: Vec<u8>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// The name of a tool.
pub(super) fn tool(name: &str) -> Arc<str> {
    KNOWN.with_borrow_mut(|known| {
        let found =
            find(&mut known.tools, name, (|tool| tool, Arc::clone), |name| Some(name.into()));
        found.unwrap_or_else(|| name.into())
    })
}

/// The shape of arguments.
pub(super) fn shape(arguments: Json<'_>) -> Option<Shape> {
    KNOWN.with_borrow_mut(|known| {
        let Known { shapes, scratch, .. } = known;
        scratch.clear();
        shape::write(scratch, arguments, Names::Plain);
        let text = std::str::from_utf8(scratch).ok()?;
        let told = |text: &str| Some((text.into(), shape::told(arguments, &Redactor::default())?));
        let found = find(shapes, text, (|(plain, _)| plain, |(_, told)| told.clone()), told);
        scratch.shrink_to(LONGEST);
        found
    })
}

fn find<T, V>(
    places: &mut Vec<Option<T>>,
    text: &str,
    (plain, told): (impl Fn(&T) -> &str, impl Fn(&T) -> V),
    make: impl Fn(&str) -> Option<T>,
) -> Option<V> {
    if text.len() > LONGEST {
        return make(text).as_ref().map(told);
    }
    if places.is_empty() {
        places.resize_with(PLACES, || None);
    }
    let place = &mut places[hash(text) % PLACES];
    if place.as_ref().is_none_or(|known| plain(known) != text) {
        *place = make(text);
    }
    place.as_ref().map(told)
}

/// FNV-1a, over eight bytes at a time: who makes texts meet in one place only makes them be kept less long.
fn hash(text: &str) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for piece in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3);
    }
    // The upper bits depend on all of the text.
    usize::try_from(hash >> 40).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let long = "x".repeat(LONGEST + 1);
        for (one, other, same) in
            [("echo", "echo", true), ("echo", "add", false), (&long, &long, false)]
        {
            let (a, b) = (tool(one), tool(other));
            assert_eq!((&*a, &*b), (one, other));
            assert_eq!(Arc::ptr_eq(&a, &b), same, "{} {}", one.len(), other.len());
        }
        for n in 0..10 * PLACES {
            assert_eq!(&*tool(&n.to_string()), n.to_string());
        }
    }

    #[test]
    fn equal_shapes_are_one() {
        let shape = |json: &str| shape(Json::parse(json.as_bytes(), &Limits::DEFAULT).unwrap());
        assert_eq!(shape(r#"{"a":1}"#), shape(r#"{"a":2}"#));
        assert_ne!(shape(r#"{"a":1}"#), shape(r#"{"a":"1"}"#));
        assert_eq!(shape(r#"{"a":1}"#).unwrap().as_str(), r#"{"a":"number"}"#);
    }
}
