//! What a question is called towards a client that comes back with the answer. A server of the
//! session era gives its questions no names, and the client's answers need some: the same question
//! has the same name in every call, so that it can be answered before it is asked.

use switchboard_wire::{Json, method};

/// Longer names of properties are not worth repeating.
const LONGEST: usize = 64;

/// A key that is not in use yet: `user_name` for a form that asks for `name` alone, else
/// `input-1` and so on.
pub(super) fn unused(asked: &str, params: Option<Json<'_>>, used: &[String]) -> String {
    let is_free = |key: &String| !used.contains(key);
    match property(asked, params) {
        Some(name) => {
            let first = format!("user_{name}");
            let more = (2..).map(|nth| format!("user_{name}-{nth}"));
            std::iter::once(first).chain(more).find(is_free).unwrap_or_default()
        }
        None => format!("input-{}", used.len() + 1),
    }
}

/// The only property that a form asks for.
fn property(asked: &str, params: Option<Json<'_>>) -> Option<String> {
    if asked != method::ELICIT {
        return None;
    }
    let properties = params?.get("requestedSchema")?.get("properties")?;
    let mut members = properties.members();
    let (Some(only), None) = (members.next(), members.next()) else { return None };
    let name = std::str::from_utf8(only.key.raw()).ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let fits = (1..=LONGEST).contains(&name.len()) && name.bytes().all(plain);
    fits.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
