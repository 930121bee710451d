//! Lists as they are sent: page by page, each prepared once. A cursor says after which entry to go
//! on, so it stays good when entries come and go.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use switchboard_wire::types::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use switchboard_wire::{Era, JsonBuf, output};

use super::offer::Kind;
use super::part::Listable;
use super::view::{Slot, View};

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    /// The entries, as the array that the result has. Shared: every caller gets the same bytes.
    pub entries: JsonBuf,
    /// The cursor of the next page, if there is one.
    pub next: Option<Arc<str>>,
}

/// The cursor is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one that was given out here; begin again without one")]
pub struct BadCursor;

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As they came.
    Whole,
    /// Without output schemas that revisions of the session era cannot say: one of them, and a strict client takes
    /// nothing of the whole list.
    Narrow,
}

/// The pages of a list when it is read from its beginning.
pub(super) type Pages = Vec<ListPage>;

impl View {
    /// The page of a list that the cursor leads to; without one, the first.
    pub fn page(&self, kind: Kind, cursor: Option<&str>) -> Result<ListPage, BadCursor> {
        self.page_for(Era::Stateless, kind, cursor)
    }

    /// The same as a reader of that era can have it.
    pub fn page_for(
        &self,
        era: Era,
        kind: Kind,
        cursor: Option<&str>,
    ) -> Result<ListPage, BadCursor> {
        let form = match (era, kind) {
            (Era::Session, Kind::Tools) if self.wide => Form::Narrow,
            _ => Form::Whole,
        };
        match kind {
            Kind::Tools => self.page_of::<ToolEntry>(form, cursor),
            Kind::Resources => self.page_of::<ResourceEntry>(form, cursor),
            Kind::Templates => self.page_of::<TemplateEntry>(form, cursor),
            Kind::Prompts => self.page_of::<PromptEntry>(form, cursor),
        }
    }

    fn page_of<E: Listable>(
        &self,
        form: Form,
        cursor: Option<&str>,
    ) -> Result<ListPage, BadCursor> {
        let lane = self.lane(E::KIND);
        let pages = match form {
            Form::Whole => &lane.pages,
            Form::Narrow => &lane.narrow,
        };
        let pages = pages.get_or_init(|| self.make_pages::<E>(form));
        let Some(cursor) = cursor else {
            return Ok(pages.first().cloned().unwrap_or_else(empty));
        };
        let follows = |page: &ListPage| page.next.as_deref() == Some(cursor);
        if let Some(before) = pages.iter().position(follows) {
            return pages.get(before + 1).cloned().ok_or(BadCursor);
        }
        let (label, key) = decode(cursor).ok_or(BadCursor)?;
        let slots = &self.lane(E::KIND).slots;
        let start = slots.partition_point(|slot| {
            let part = &self.parts[slot.part];
            let own = part.entry::<E>(slot.row).map_or("", E::key);
            (&*part.label, own) <= (label.as_str(), key.as_str())
        });
        let rest = &slots[start..];
        Ok(self.make_page::<E>(form, &rest[..rest.len().min(self.page_size())], rest.len()))
    }

    fn make_pages<E: Listable>(&self, form: Form) -> Pages {
        let mut rest = self.lane(E::KIND).slots.as_slice();
        let mut pages = Vec::new();
        while !rest.is_empty() {
            let (page, after) = rest.split_at(rest.len().min(self.page_size()));
            pages.push(self.make_page::<E>(form, page, rest.len()));
            rest = after;
        }
        pages
    }

    /// The page of these slots, of which `left` are left including them.
    fn make_page<E: Listable>(&self, form: Form, slots: &[Slot], left: usize) -> ListPage {
        let mut list = output::List::default();
        for slot in slots {
            let part = &self.parts[slot.part];
            let Some(raw) = part.published::<E>(slot.row) else { continue };
            let aside = self.aside(E::KIND, *slot);
            let differs = aside.is_some() || part.refers(E::KIND, slot.row);
            let renamed =
                differs.then(|| output::listed::<E>(raw, aside, &|uri| self.uri(part, uri)));
            let renamed = renamed.flatten();
            let raw = renamed.as_ref().map_or(raw, JsonBuf::as_json);
            let wide = form == Form::Narrow && part.is_wide(E::KIND, slot.row);
            match wide.then(|| output::narrow_tool(raw)).flatten() {
                Some(narrow) => list.push(narrow.as_json()),
                None => list.push(raw),
            }
        }
        let last = slots.last().filter(|_| left > slots.len());
        ListPage { entries: list.end(), next: last.map(|slot| self.cursor::<E>(*slot)) }
    }

    fn cursor<E: Listable>(&self, slot: Slot) -> Arc<str> {
        let part = &self.parts[slot.part];
        let key = part.entry::<E>(slot.row).map_or("", E::key);
        BASE64.encode(format!("{}:{}{key}", part.label.len(), part.label)).into()
    }

    fn page_size(&self) -> usize {
        self.settings().page.max(1)
    }
}

fn empty() -> ListPage {
    ListPage { entries: output::List::default().end(), next: None }
}

/// The label and the key that a cursor names.
fn decode(cursor: &str) -> Option<(String, String)> {
    let text = String::from_utf8(BASE64.decode(cursor).ok()?).ok()?;
    let (length, rest) = text.split_once(':')?;
    let (label, key) = rest.split_at_checked(length.parse().ok()?)?;
    Some((label.to_owned(), key.to_owned()))
}
