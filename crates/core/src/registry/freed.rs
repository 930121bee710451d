//! Names that servers had without prefixes and have no more: on surfaces where names are bare, and towards their own
//! pages. For as long as the hub runs none of them becomes another server's: whoever remembers it would call that one
//! unawares. A bounded number, of which no server takes another's share.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use switchboard_model::ServerKey;
use switchboard_wire::types::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};

use super::offer::{Kind, Offer};
use super::part::Listable;
use super::uri_template::{Closeness, fit, head};
use crate::naming::Qualifier;

/// Names that are remembered.
const MOST: usize = 10_000;
/// Templates among them that also keep what they made. Whatever somebody asks for that nobody lists is held against
/// each.
const FAMILIES: usize = 256;

/// A name of some kind.
type Name = (Kind, Arc<str>);

/// Names that somebody had.
#[derive(Clone, Debug, Default)]
pub(super) struct Freed {
    /// What everybody was shown where names are bare.
    pub(super) bare: Book,
    /// What servers with pages call their own: a page says it wherever it is shown.
    pub(super) pages: Book,
}

/// Whose names are.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    /// Whose each is: the one server's that had it, or nobody's if several did.
    rows: HashMap<Name, Option<ServerKey>>,
    /// All of them.
    names: Left,
    /// The templates among them whose URIs are remembered, too.
    families: Left,
}

/// Names by who left them. Where there is no room, what goes is the oldest of whoever left most: else one server could
/// make another's be forgotten, by offering much and taking it back.
#[derive(Clone, Debug, Default)]
struct Left {
    /// Oldest first.
    by: BTreeMap<ServerKey, VecDeque<Name>>,
    count: usize,
}

impl Book {
    /// Whether a server may have a name.
    pub(super) fn lets(&self, kind: Kind, name: &str, server: &ServerKey) -> bool {
        if self.rows.is_empty() {
            return true;
        }
        let row = self.rows.get(&(kind, Arc::from(name)));
        row.is_none_or(|whose| whose.as_ref() == Some(server))
    }

    /// Whether a server may have a URI that fits its template so closely: not if another's made it that is gone, which
    /// it fits as closely.
    pub(super) fn lets_make(&self, uri: &str, fits: Closeness, server: &ServerKey) -> bool {
        // One that is open from an earlier point on cannot be as close, which is seen at once.
        let as_close = |family: &str| {
            head(family) >= fits.head && fit(family, uri).is_some_and(|other| other >= fits)
        };
        let mut gone = self.families.all().filter(|(_, family)| as_close(family));
        gone.all(|(kind, family)| self.lets(*kind, family, server))
    }

    /// A server has no longer what it offered, but for what it still offers. `others` are those that are
    /// there besides. While it was there, what begins like its URIs was its own.
    pub(super) fn left<'o>(
        &mut self,
        server: &ServerKey,
        had: &Offer,
        has: Option<&Offer>,
        others: impl Iterator<Item = &'o Offer> + Clone,
    ) {
        for kind in Kind::ALL {
            let still: HashSet<&str> = has.into_iter().flat_map(|has| names(has, kind)).collect();
            let lost: Vec<&str> = names(had, kind).filter(|name| !still.contains(name)).collect();
            if lost.is_empty() {
                continue;
            }
            let shared: HashSet<&str> = others.clone().flat_map(|of| names(of, kind)).collect();
            for name in lost {
                let alone = !shared.contains(name);
                self.add(server, (kind, name.into()), alone.then(|| server.clone()));
            }
        }
        if has.is_none() {
            let [_, app] = Qualifier::of(server.name.as_str()).prefixes().map(Arc::clone);
            self.add(server, (Kind::Resources, app), Some(server.clone()));
        }
    }

    fn add(&mut self, server: &ServerKey, name: Name, whose: Option<ServerKey>) {
        if let Some(known) = self.rows.get_mut(&name) {
            if *known != whose {
                *known = None;
            }
            return;
        }
        self.rows.insert(name.clone(), whose);
        if name.0 == Kind::Templates {
            self.families.add(server, name.clone(), FAMILIES);
        }
        if let Some(forgotten) = self.names.add(server, name, MOST) {
            self.rows.remove(&forgotten);
            self.families.remove(&forgotten);
        }
    }
}

impl Left {
    fn all(&self) -> impl Iterator<Item = &Name> {
        self.by.values().flatten()
    }

    /// One more, of so many at most; what goes for it.
    fn add(&mut self, server: &ServerKey, name: Name, most: usize) -> Option<Name> {
        self.by.entry(server.clone()).or_default().push_back(name);
        self.count += 1;
        if self.count <= most {
            return None;
        }
        self.count -= 1;
        let oldest = self.by.values_mut().max_by_key(|names| names.len())?.pop_front();
        self.by.retain(|_, names| !names.is_empty());
        oldest
    }

    /// If it is there.
    fn remove(&mut self, name: &Name) {
        for names in self.by.values_mut() {
            if let Some(at) = names.iter().position(|one| one == name) {
                names.remove(at);
                self.count -= 1;
            }
        }
    }
}

/// The server's own names of a kind, which are its bare ones.
fn names(offer: &Offer, kind: Kind) -> Box<dyn Iterator<Item = &str> + '_> {
    fn keys<E: Listable>(offer: &Offer) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(E::all(offer).iter().map(Listable::key))
    }
    match kind {
        Kind::Tools => keys::<ToolEntry>(offer),
        Kind::Resources => keys::<ResourceEntry>(offer),
        Kind::Templates => keys::<TemplateEntry>(offer),
        Kind::Prompts => keys::<PromptEntry>(offer),
    }
}
