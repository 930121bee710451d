//! Joining servers' parts to a view: the tables, and what two servers have in common told apart.
//! Never depends on the order in which servers came.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use switchboard_model::Scope;
use switchboard_wire::types::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};

use super::{Labels, Lane, Slot, View};
use crate::naming::{APP_SCHEME, Qualifier, RESERVED, SCHEME, Surface, digest, is_taken_aside};
use crate::registry::freed::Freed;
use crate::registry::offer::{Home, Kind};
use crate::registry::part::{Listable, Part, Parts};
use crate::registry::{Settings, uri_template};
use crate::results;

impl View {
    /// Joins the parts of some servers.
    pub(in crate::registry) fn link<'p>(
        servers: impl IntoIterator<Item = &'p Arc<Parts>>,
        surface: &Surface,
        labels: Labels,
        settings: Settings,
        freed: &Arc<Freed>,
    ) -> Self {
        let label = |server: &Parts| match labels {
            Labels::Names => server.key.name.to_string(),
            // No name has this character in it.
            Labels::Keys if server.key.scope != Scope::Global => {
                format!("{}\u{1f}{}", server.key.name, server.key.scope)
            }
            Labels::Keys => server.key.name.to_string(),
        };
        let mut parts: Vec<Arc<Part>> =
            servers.into_iter().map(|server| server.part(surface, &label(server))).collect();
        parts.sort_by(|a, b| a.label.cmp(&b.label).then_with(|| a.key.cmp(&b.key)));
        let prefixes = parts
            .iter()
            .enumerate()
            .flat_map(|(at, part)| part.qualifier.prefixes().map(|prefix| (prefix.clone(), at)));
        let prefixes = prefixes.collect();
        let all = (&*parts, &prefixes, &**freed);
        let resources = Joining::<ResourceEntry>::of(all);
        let contested = resources.contested.iter().map(|uri| (*uri).clone()).collect();
        let lanes = [
            Joining::<ToolEntry>::of(all).lane(),
            resources.lane(),
            Joining::<TemplateEntry>::of(all).lane(),
            Joining::<PromptEntry>::of(all).lane(),
        ];
        let mut tools = parts.iter().flat_map(|part| &part.offer.tools);
        let mut view = Self {
            mirrors: tools.any(|tool| !tool.mirrored().is_empty()),
            wide: parts.iter().any(|part| part.offer.has_wide()),
            surface: surface.clone(),
            settings,
            freed: freed.clone(),
            prefixes,
            contested,
            lanes,
            parts,
            holds: OnceLock::new(),
            capabilities: OnceLock::new(),
            instructions: OnceLock::new(),
            said: OnceLock::new(),
        };
        view.refer();
        view
    }

    /// Entries that refer to something by another URI than their server does are other entries.
    fn refer(&mut self) {
        for kind in Kind::ALL {
            let left = self.parts.iter().flat_map(|part| {
                part.lane(kind).refers.iter().filter_map(|(_, uri)| self.uri(part, uri))
            });
            let left: Vec<String> = left.collect();
            let lane = &mut self.lanes[kind as usize];
            if !left.is_empty() {
                let before = lane.digest.to_le_bytes();
                lane.digest =
                    digest([&before[..]].into_iter().chain(left.iter().map(String::as_bytes)));
            }
        }
    }
}

/// How the hub's own URIs begin, which no server has a reason to use.
const OWN: [&str; 2] = [SCHEME, results::URI];

/// What tables are made of: the servers' parts, which of them URIs begin like, and what nobody else may have.
type All<'p> = (&'p [Arc<Part>], &'p HashMap<Arc<str>, usize>, &'p Freed);

/// One kind's table while it is made.
struct Joining<'p, E> {
    parts: &'p [Arc<Part>],
    prefixes: &'p HashMap<Arc<str>, usize>,
    freed: &'p Freed,
    table: HashMap<Arc<str>, Slot>,
    aside: HashMap<Slot, Arc<str>>,
    /// What cannot be told apart from something else, and is therefore not offered.
    withheld: BTreeSet<(usize, usize)>,
    /// What several have, and URIs that begin like those of another server than the one that lists them.
    contested: HashSet<&'p Arc<str>>,
    entries: std::marker::PhantomData<E>,
}

impl<'p, E: Listable> Joining<'p, E> {
    fn of((parts, prefixes, freed): All<'p>) -> Self {
        let rows = parts.iter().map(|part| part.lane(E::KIND).rows.len()).sum();
        let mut joining = Self {
            parts,
            prefixes,
            freed,
            table: HashMap::with_capacity(rows),
            aside: HashMap::new(),
            withheld: BTreeSet::new(),
            contested: HashSet::new(),
            entries: std::marker::PhantomData,
        };
        let moved = joining.enter();
        joining.move_aside(moved);
        joining
    }

    /// Enters every row under its own name; returns those that cannot keep it: all that share one,
    /// so that none has it because it came first.
    fn enter(&mut self) -> Vec<Slot> {
        let mut moved = Vec::new();
        let mut shared: Vec<&Arc<str>> = Vec::new();
        for (part, row, name) in rows::<E>(self.parts) {
            let slot = Slot { part, row };
            if self.must_move(slot, name) {
                if self.begins_like(name).is_some_and(|other| other != part) {
                    self.contested.insert(name);
                }
                moved.push(slot);
            } else if let Some(other) = self.table.insert(name.clone(), slot) {
                moved.extend([other, slot]);
                shared.push(name);
            }
        }
        // Whoever knows it may mean either: a template does not make it anybody's.
        self.contested.extend(shared);
        // Nor has the one like whose URIs something begins.
        moved.extend(self.contested.iter().filter_map(|name| self.table.remove(*name)));
        moved.sort_unstable_by_key(|slot| (slot.part, slot.row));
        moved.dedup();
        moved
    }

    fn must_move(&self, slot: Slot, name: &str) -> bool {
        let part = &self.parts[slot.part];
        let is_hubs = part.offer.home == Home::Hub;
        match part.surface() {
            Surface::Prefixed(_) => false,
            Surface::Bare => {
                let is_alone = self.parts.len() == 1;
                !is_hubs && !is_alone && (is_taken_aside(E::KIND, name) || self.strays(slot, name))
            }
            // The hub's own tools are called what they are called.
            Surface::Short(_) if is_hubs && E::KIND == Kind::Tools && RESERVED.contains(&name) => {
                false
            }
            Surface::Short(_) => {
                let is_free = |kind, name: &str| self.freed.bare.lets(kind, name, &part.key);
                let strays = || {
                    let prefix = Qualifier::prefix(name);
                    is_taken_aside(E::KIND, name)
                        || self.strays(slot, name)
                        || prefix.is_some_and(|prefix| !is_free(Kind::Resources, prefix))
                };
                !is_free(E::KIND, name) || (is_uri::<E>() && !is_hubs && strays())
            }
        }
    }

    /// Whether a URI, or one that a template makes, would be taken for what a prefix leads to.
    fn strays(&self, slot: Slot, name: &str) -> bool {
        let is_family = E::KIND == Kind::Templates;
        self.begins_like(name).is_some_and(|other| is_family || other != slot.part)
            || (is_family && is_open(name))
    }

    /// Which server's a URI of an app is by its beginning.
    fn begins_like(&self, name: &str) -> Option<usize> {
        let prefix = Qualifier::prefix(name).filter(|prefix| !Qualifier::is_own(prefix));
        self.prefixes.get(prefix.filter(|_| is_uri::<E>())?).copied()
    }

    /// What an entry is called where it cannot keep its name.
    fn aside(&self, part: &Part, entry: &E) -> Arc<str> {
        let name = part.aside(entry);
        let is_free = !is_uri::<E>()
            || (!self.table.contains_key(&name)
                && !self.contested.contains(&name)
                && (!part.is_short() || self.freed.bare.lets(E::KIND, &name, &part.key)));
        if is_free { name } else { part.qualifier.outright(entry.key()).into() }
    }

    fn move_aside(&mut self, moved: Vec<Slot>) {
        let mut several = HashSet::new();
        for slot in moved {
            let part = &self.parts[slot.part];
            let Some(entry) = part.entry::<E>(slot.row) else { continue };
            let name = self.aside(part, entry);
            // Hashes that are equal by design of somebody: none of them is offered.
            if several.contains(&name) {
                self.withheld.insert((slot.part, slot.row));
            } else if let Some(other) = self.table.insert(name.clone(), slot) {
                self.withheld.extend([(slot.part, slot.row), (other.part, other.row)]);
                self.table.remove(&name);
                several.insert(name);
            } else {
                self.aside.insert(slot, name);
            }
        }
    }

    fn lane(self) -> Lane {
        let all = rows::<E>(self.parts).map(|(part, row, _)| Slot { part, row });
        let is_offered = |slot: &Slot| !self.withheld.contains(&(slot.part, slot.row));
        let slots: Vec<Slot> = all.filter(is_offered).collect();
        let digest = self.digest(&slots);
        let (pages, narrow) = (OnceLock::new(), OnceLock::new());
        Lane { table: self.table, slots, aside: self.aside, digest, pages, narrow }
    }

    /// What the list is made of: the parts' digests, and where it differs from them.
    fn digest(&self, slots: &[Slot]) -> u64 {
        let parts = self.parts.iter().filter(|part| !part.lane(E::KIND).rows.is_empty());
        let parts: Vec<[u8; 8]> =
            parts.map(|part| part.lane(E::KIND).digest.to_le_bytes()).collect();
        let count = slots.len().to_le_bytes();
        let aside =
            slots.iter().filter_map(|slot| self.aside.get(slot)).map(|name| name.as_bytes());
        digest(parts.iter().map(<[u8; 8]>::as_slice).chain([count.as_slice()]).chain(aside))
    }
}

/// Whether a template leaves open whose its URIs are, or whether they are a kept result's.
fn is_open(template: &str) -> bool {
    Qualifier::is_open(template)
        || OWN.iter().any(|own| uri_template::can_begin(template, own))
        || (!template.starts_with(APP_SCHEME) && uri_template::can_begin(template, APP_SCHEME))
}

fn is_uri<E: Listable>() -> bool {
    matches!(E::KIND, Kind::Resources | Kind::Templates)
}

fn rows<E: Listable>(parts: &[Arc<Part>]) -> impl Iterator<Item = (usize, usize, &Arc<str>)> {
    let kind: Kind = E::KIND;
    parts.iter().enumerate().flat_map(move |(part, of)| {
        of.lane(kind).rows.iter().enumerate().map(move |(row, entry)| (part, row, &entry.name))
    })
}
