//! The small edits a hub makes to params and results: a name, a URI, members of `_meta`. What is
//! not named stays byte for byte, and nothing is parsed that need not be.

#[cfg(test)]
mod tests;

use crate::id::push_number;
use crate::json::{Json, JsonBuf, Member, push_string};

/// A member that must be there once is there twice. Two readers could take different ones, so a
/// check of the first would not bind the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is there twice")]
pub struct Repeated(pub &'static str);

/// What happens to one member.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'e> {
    key: &'static str,
    change: Change<'e>,
}

#[derive(Clone, Copy, Debug)]
enum Change<'e> {
    Raw(Json<'e>),
    Text(&'e str),
    Number(u64),
    Inside(&'e [Edit<'e>]),
    Absent(Json<'e>),
    Remove,
}

impl<'e> Edit<'e> {
    /// The member becomes `value`; it is appended if it was not there.
    pub const fn set(key: &'static str, value: Json<'e>) -> Self {
        Self { key, change: Change::Raw(value) }
    }

    /// The member becomes the string `text`; it is appended if it was not there.
    pub const fn text(key: &'static str, text: &'e str) -> Self {
        Self { key, change: Change::Text(text) }
    }

    /// The member becomes `number`; it is appended if it was not there.
    pub const fn number(key: &'static str, number: u64) -> Self {
        Self { key, change: Change::Number(number) }
    }

    /// The member is appended if it is not there.
    pub const fn default(key: &'static str, value: Json<'e>) -> Self {
        Self { key, change: Change::Absent(value) }
    }

    /// The member goes.
    pub const fn remove(key: &'static str) -> Self {
        Self { key, change: Change::Remove }
    }

    /// `edits` are made inside the member; if it is no object, it becomes one that has what they
    /// add, and if they add nothing, it stays as it is.
    pub const fn inside(key: &'static str, edits: &'e [Edit<'e>]) -> Self {
        Self { key, change: Change::Inside(edits) }
    }
}

/// Appends `object` with `edits` made to its members. What is no object counts as `{}`. Each key
/// is edited once, and there are at most 64 of them.
/// On an error, what was appended so far stays in `out`; `write::request_with` and the like clear
/// it away.
pub fn edit(out: &mut Vec<u8>, object: Json<'_>, edits: &[Edit<'_>]) -> Result<(), Repeated> {
    let object = if object.is_object() { object } else { Json::EMPTY };
    let bytes = object.as_bytes();
    out.reserve(bytes.len() + 64);
    let mut made = Made::default();
    let mut kept = 0_usize;
    // Bytes up to here are in `out`, or are not wanted there.
    let mut done = 0;
    out.push(b'{');
    for (nth, member) in object.members().enumerate() {
        let range = member.range();
        let before = done;
        done = range.end;
        let edit = match member.key.position(edits.iter().map(|edit| edit.key)) {
            Some(at) => {
                made.note(at, edits[at].key)?;
                Some(edits[at].change)
            }
            None => None,
        };
        if matches!(edit, Some(Change::Remove)) {
            continue;
        }
        // The comma stands before a member, so the first that is kept goes without.
        let lead = match (kept, nth) {
            (0, 0) => 1..range.start,
            (0, _) => range.start..range.start,
            _ => before..range.start,
        };
        out.extend_from_slice(&bytes[lead]);
        kept += 1;
        out.extend_from_slice(&bytes[range.start..member.value_range().start]);
        replace(out, &member, edit)?;
    }
    for (at, edit) in edits.iter().enumerate() {
        if !made.has(at) && adds(edit.change) {
            if kept > 0 {
                out.push(b',');
            }
            kept += 1;
            push_string(out, edit.key);
            out.push(b':');
            value(out, edit.change)?;
        }
    }
    out.extend_from_slice(&bytes[done.max(1)..]);
    Ok(())
}

/// [`edit`], as a value of its own.
pub fn edited(object: Json<'_>, edits: &[Edit<'_>]) -> Result<JsonBuf, Repeated> {
    let mut out = Vec::new();
    edit(&mut out, object, edits)?;
    Ok(JsonBuf::trusted(out))
}

/// Which edits met their member; a list of edits is short, and made of constants.
#[derive(Default)]
struct Made(u64);

impl Made {
    fn note(&mut self, at: usize, key: &'static str) -> Result<(), Repeated> {
        if self.has(at) {
            return Err(Repeated(key));
        }
        self.0 |= 1 << (at % 64);
        Ok(())
    }

    const fn has(&self, at: usize) -> bool {
        self.0 >> (at % 64) & 1 == 1
    }
}

fn replace(
    out: &mut Vec<u8>,
    member: &Member<'_>,
    change: Option<Change<'_>>,
) -> Result<(), Repeated> {
    match change {
        None | Some(Change::Absent(_) | Change::Remove) => {
            out.extend_from_slice(member.value.as_bytes());
            Ok(())
        }
        Some(Change::Inside(edits)) if member.value.is_object() => edit(out, member.value, edits),
        Some(change @ Change::Inside(_)) if !adds(change) => {
            out.extend_from_slice(member.value.as_bytes());
            Ok(())
        }
        Some(change) => value(out, change),
    }
}

/// Whether the change leaves something where there was nothing.
fn adds(change: Change<'_>) -> bool {
    match change {
        Change::Raw(_) | Change::Text(_) | Change::Number(_) | Change::Absent(_) => true,
        Change::Inside(edits) => edits.iter().any(|edit| adds(edit.change)),
        Change::Remove => false,
    }
}

fn value(out: &mut Vec<u8>, change: Change<'_>) -> Result<(), Repeated> {
    match change {
        Change::Raw(json) | Change::Absent(json) => out.extend_from_slice(json.as_bytes()),
        Change::Text(text) => push_string(out, text),
        Change::Number(number) => push_number(out, number),
        Change::Inside(edits) => edit(out, Json::EMPTY, edits)?,
        Change::Remove => {}
    }
    Ok(())
}
