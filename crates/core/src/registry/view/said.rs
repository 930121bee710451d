//! What servers' own pages say: a page of the apps extension is a finished document, and calls the tools of its server by
//! that server's own names, which a surface with prefixes has changed. Never leads to what is not in the view.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_wire::types::{ResourceEntry, ToolEntry};

use super::{Slot, View};
use crate::naming::Surface;
use crate::registry::offer::{Home, Kind};
use crate::registry::part::{Listable, Part};

/// Servers' own names, of those that have pages. Which page speaks cannot be seen, so that a name of several is
/// nobody's: `None`.
#[derive(Default)]
pub(super) struct Said {
    tools: HashMap<Arc<str>, Option<Slot>>,
    resources: HashMap<Arc<str>, Option<Slot>>,
}

impl View {
    /// Where a page's own name for something leads.
    pub(super) fn said<E: Listable>(&self, name: &str) -> Option<(Slot, (&Arc<Part>, &E))> {
        let said = self.said.get_or_init(|| Said {
            tools: self.own_names::<ToolEntry>(),
            resources: self.own_names::<ResourceEntry>(),
        });
        let table = match E::KIND {
            Kind::Tools => &said.tools,
            Kind::Resources => &said.resources,
            Kind::Templates | Kind::Prompts => return None,
        };
        let slot = (*table.get(name)?)?;
        let part = &self.parts[slot.part];
        // A page may be open still whose server is gone.
        let is_its_own = self.freed.pages.lets(E::KIND, name, &part.key);
        is_its_own.then_some((slot, (part, part.entry(slot.row)?)))
    }

    fn own_names<E: Listable>(&self) -> HashMap<Arc<str>, Option<Slot>> {
        let mut table = HashMap::new();
        if !matches!(self.surface, Surface::Prefixed(_)) {
            return table;
        }
        let speaks = |part: &Arc<Part>| part.offer.home == Home::Outside && part.offer.has_pages();
        let speak: Vec<bool> = self.parts.iter().map(speaks).collect();
        for slot in self.lane(E::KIND).slots.iter().filter(|slot| speak[slot.part]) {
            let Some(entry) = self.parts[slot.part].entry::<E>(slot.row) else { continue };
            table
                .entry(Arc::from(entry.key()))
                .and_modify(|known| *known = None)
                .or_insert(Some(*slot));
        }
        table
    }
}
