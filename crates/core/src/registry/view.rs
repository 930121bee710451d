//! What one reader sees: every entry of some servers under one surface's names, in order, and the
//! way back from a name to its server. Never changes.

mod link;
mod said;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_model::ServerKey;
use switchboard_wire::output;
use switchboard_wire::types::{Capabilities, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};

use self::said::Said;
use super::freed::Freed;
use super::offer::{Kind, Offer};
use super::pages::Pages;
use super::part::{Listable, Part};
use super::{Settings, uri_template};
use crate::naming::{Qualifier, Surface};

/// What one reader sees. Shared by all who see the same.
pub struct View {
    surface: Surface,
    settings: Settings,
    /// Names that are nobody else's without prefixes.
    freed: Arc<Freed>,
    pub(super) parts: Vec<Arc<Part>>,
    lanes: [Lane; 4],
    /// Which server's URIs begin so.
    prefixes: HashMap<Arc<str>, usize>,
    /// URIs that several servers list, and that one lists and that begin like another's: nobody's, as they stand.
    contested: HashSet<Arc<str>>,
    holds: OnceLock<Option<Duration>>,
    mirrors: bool,
    /// Whether any of its tools has an output schema that the session era cannot say.
    pub(super) wide: bool,
    capabilities: OnceLock<Capabilities>,
    instructions: OnceLock<Option<Arc<str>>>,
    /// What its servers' pages say; made when one first does.
    said: OnceLock<Said>,
}

/// The entries of one kind.
pub(super) struct Lane {
    /// By published name.
    table: HashMap<Arc<str>, Slot>,
    /// In order.
    pub(super) slots: Vec<Slot>,
    /// Names that differ from those of the parts.
    aside: HashMap<Slot, Arc<str>>,
    digest: u64,
    pub(super) pages: OnceLock<Pages>,
    /// The same for the session era, where that differs.
    pub(super) narrow: OnceLock<Pages>,
}

/// Where an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) part: usize,
    pub(super) row: usize,
}

/// How servers are called in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    /// By their names, of which each is there once.
    Names,
    /// By name and scope.
    Keys,
}

/// Something on offer, as a reader sees it.
#[derive(Debug)]
pub struct Listed<'v, E> {
    /// What the reader calls it by: a name, a URI or a template of URIs.
    pub name: &'v str,
    /// Whose it is.
    pub server: &'v ServerKey,
    /// What else that server offers.
    pub offer: &'v Arc<Offer>,
    /// The server's own definition, with its own name.
    pub entry: &'v E,
}

/// The server that answers for a URI.
pub(crate) struct Place<'v> {
    pub(crate) part: &'v Arc<Part>,
    /// The server's own URI.
    pub(crate) uri: String,
}

/// Whose template a URI fits best.
enum Fitting<'v> {
    Nobody,
    One(&'v Arc<Part>),
    /// That of several, now or before.
    Several,
}

impl View {
    /// The surface that it is for.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The servers in it, in order.
    pub fn servers(&self) -> impl ExactSizeIterator<Item = (&ServerKey, &Arc<Offer>)> {
        self.parts.iter().map(|part| (&part.key, &part.offer))
    }

    /// Tells whether a list of this view is the same as one of another view or time.
    pub fn digest(&self, kind: Kind) -> u64 {
        self.lane(kind).digest
    }

    /// How many entries of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.lane(kind).slots.len()
    }

    /// For how long all that it lists holds, where a server says so or is only looked at now and then.
    pub fn holds(&self) -> Option<Duration> {
        *self.holds.get_or_init(|| self.parts.iter().filter_map(|part| part.offer.holds).min())
    }

    /// Whether any of its tools wants arguments mirrored into headers. Hardly any does.
    pub fn mirrors(&self) -> bool {
        self.mirrors
    }

    /// What its servers can do between them.
    pub fn capabilities(&self) -> &Capabilities {
        self.capabilities
            .get_or_init(|| output::united(self.parts.iter().map(|part| &part.offer.capabilities)))
    }

    /// What its servers want models to know, each under its name if there are several.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.get_or_init(|| self.join_instructions()).as_deref()
    }

    /// Every tool, in order.
    pub fn tools(&self) -> impl Iterator<Item = Listed<'_, ToolEntry>> {
        self.list()
    }

    /// Every resource, in order.
    pub fn resources(&self) -> impl Iterator<Item = Listed<'_, ResourceEntry>> {
        self.list()
    }

    /// Every family of resources, in order.
    pub fn templates(&self) -> impl Iterator<Item = Listed<'_, TemplateEntry>> {
        self.list()
    }

    /// Every prompt, in order.
    pub fn prompts(&self) -> impl Iterator<Item = Listed<'_, PromptEntry>> {
        self.list()
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<Listed<'_, ToolEntry>> {
        self.find(name)
    }

    /// The resource of that URI, if it is listed.
    pub fn resource(&self, uri: &str) -> Option<Listed<'_, ResourceEntry>> {
        self.find(uri)
    }

    /// The prompt of that name.
    pub fn prompt(&self, name: &str) -> Option<Listed<'_, PromptEntry>> {
        self.find(name)
    }

    /// The tool of that name, and whose it is.
    pub(crate) fn tool_at(&self, name: &str) -> Option<(&Arc<Part>, &ToolEntry)> {
        self.slot(name)
    }

    /// The tool that a page of its server calls by this name, which nobody is told: what it is published as, and whose
    /// it is.
    pub(crate) fn tool_of_page(&self, name: &str) -> Option<(&str, &Arc<Part>, &ToolEntry)> {
        let (slot, (part, tool)) = self.said::<ToolEntry>(name)?;
        Some((self.name::<ToolEntry>(slot), part, tool))
    }

    /// The prompt of that name, and whose it is.
    pub(crate) fn prompt_at(&self, name: &str) -> Option<(&Arc<Part>, &PromptEntry)> {
        self.slot(name)
    }

    /// The server whose URIs have that host.
    pub(crate) fn part_at(&self, host: &str) -> Option<&Arc<Part>> {
        let at = self.prefixes.get(Qualifier::prefix_of(host).as_str())?;
        self.parts.get(*at)
    }

    /// The server of a key, if it is in the view.
    pub(crate) fn part(&self, key: &ServerKey) -> Option<&Arc<Part>> {
        let at = self.parts.binary_search_by(|part| (*part.label).cmp(key.name.as_str()));
        let near = at.ok().map(|at| &self.parts[at]).filter(|part| part.key == *key);
        near.or_else(|| self.parts.iter().find(|part| part.key == *key))
    }

    /// The server that answers for a URI, and the URI that it knows: a listed one; else by whose
    /// prefix it has; else by whose template it fits best; else the only server there is.
    pub(crate) fn place(&self, uri: &str) -> Option<Place<'_>> {
        if let Some((part, entry)) = self.slot::<ResourceEntry>(uri) {
            return Some(Place { part, uri: entry.uri.clone() });
        }
        if self.contested.contains(uri) {
            return None;
        }
        let prefixed = Qualifier::prefix(uri).and_then(|prefix| self.prefixes.get(prefix));
        if let Some(part) = prefixed.map(|at| &self.parts[*at])
            && (part.qualifies() || self.parts.len() > 1 || self.is_short())
            && let Some(original) = part.qualifier.original(uri)
        {
            let own = self.is_led_by_prefix(part, uri);
            return own.then(|| Place { part, uri: original.into_owned() });
        }
        let alone = match self.parts.as_slice() {
            [only] if !only.qualifies() => Some(only),
            _ => None,
        };
        let part = match self.fitting(uri) {
            Fitting::One(part) => part,
            Fitting::Several => return None,
            Fitting::Nobody => match alone {
                Some(part) => part,
                None => {
                    let (part, entry) = self.said::<ResourceEntry>(uri)?.1;
                    return Some(Place { part, uri: entry.uri.clone() });
                }
            },
        };
        self.is_free(uri, part).then(|| Place { part, uri: uri.to_owned() })
    }

    /// Whether a URI leads nowhere because several servers may be meant by it, one that is gone included.
    pub(crate) fn is_ambiguous(&self, uri: &str) -> bool {
        let fits = || match self.fitting(uri) {
            Fitting::Nobody => false,
            Fitting::One(part) => !self.is_free(uri, part),
            Fitting::Several => true,
        };
        self.contested.contains(uri) || fits()
    }

    /// The server whose family of resources has a template of exactly that text, and its own form.
    pub(crate) fn template(&self, template: &str) -> Option<Place<'_>> {
        let (part, entry) = self.slot::<TemplateEntry>(template)?;
        Some(Place { part, uri: entry.uri_template.clone() })
    }

    /// A server's own URI as this view has it; `None` if it is the same.
    pub(crate) fn uri(&self, part: &Part, uri: &str) -> Option<String> {
        if part.qualifies() {
            return part.uri(uri);
        }
        let leads_back = |seen: &str| {
            self.place(seen).is_some_and(|place| place.part.key == part.key && place.uri == uri)
        };
        if leads_back(uri) {
            return None;
        }
        // Another server's, or nobody's, as it stands: reached by its prefix alone.
        let qualified = part.qualifier.qualify(uri);
        if leads_back(&qualified) { Some(qualified) } else { Some(part.qualifier.outright(uri)) }
    }

    /// Whether a URI with the prefix of a server is not another's name, now or from before.
    fn is_led_by_prefix(&self, part: &Part, uri: &str) -> bool {
        let is_own = || Qualifier::prefix(uri).is_some_and(Qualifier::is_own);
        (self.is_free(uri, part) || is_own()) && !self.contested.contains(uri)
    }

    /// Whether a URI was not another server's, where none passes on.
    fn is_free(&self, uri: &str, part: &Part) -> bool {
        !self.is_short() || self.freed.bare.lets(Kind::Resources, uri, &part.key)
    }

    fn is_short(&self) -> bool {
        matches!(self.surface, Surface::Short(_))
    }

    pub(super) fn lane(&self, kind: Kind) -> &Lane {
        &self.lanes[kind as usize]
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings
    }

    pub(super) fn name<E: Listable>(&self, slot: Slot) -> &Arc<str> {
        let moved = self.lane(E::KIND).aside.get(&slot);
        moved.unwrap_or_else(|| &self.parts[slot.part].lane(E::KIND).rows[slot.row].name)
    }

    /// What an entry is called if not as its part has it.
    pub(super) fn aside(&self, kind: Kind, slot: Slot) -> Option<&str> {
        self.lane(kind).aside.get(&slot).map(|name| &**name)
    }

    fn list<E: Listable>(&self) -> impl Iterator<Item = Listed<'_, E>> {
        self.lane(E::KIND).slots.iter().filter_map(|slot| self.listed(*slot))
    }

    fn find<E: Listable>(&self, name: &str) -> Option<Listed<'_, E>> {
        self.listed(*self.lane(E::KIND).table.get(name)?)
    }

    fn listed<E: Listable>(&self, slot: Slot) -> Option<Listed<'_, E>> {
        let part = &self.parts[slot.part];
        let entry = part.entry(slot.row)?;
        Some(Listed { name: self.name::<E>(slot), server: &part.key, offer: &part.offer, entry })
    }

    fn slot<E: Listable>(&self, name: &str) -> Option<(&Arc<Part>, &E)> {
        let slot = self.lane(E::KIND).table.get(name)?;
        let part = &self.parts[slot.part];
        Some((part, part.entry(slot.row)?))
    }

    /// The server that has the closest template for a URI; of equals none, as whoever made it may mean either.
    /// Prefixed views have no need of it.
    fn fitting(&self, uri: &str) -> Fitting<'_> {
        // What is still a template is no URI that one could have made.
        if uri.contains('{') {
            return Fitting::Nobody;
        }
        let open = self.lane(Kind::Templates).slots.iter();
        let open = open.filter(|slot| !self.parts[slot.part].qualifies());
        let fits = open.filter_map(|slot| {
            Some((uri_template::fit(self.name::<TemplateEntry>(*slot), uri)?, slot.part))
        });
        let fits: Vec<_> = fits.collect();
        let Some((best, at)) = fits.iter().max() else { return Fitting::Nobody };
        let part = &self.parts[*at];
        let is_alone = fits.iter().all(|(close, other)| close < best || other == at);
        let is_its_own = !self.is_short() || self.freed.bare.lets_make(uri, *best, &part.key);
        if is_alone && is_its_own { Fitting::One(part) } else { Fitting::Several }
    }

    fn join_instructions(&self) -> Option<Arc<str>> {
        let said: Vec<(String, &Arc<str>)> = self
            .parts
            .iter()
            .filter_map(|part| Some((part.key.to_string(), part.offer.instructions.as_ref()?)))
            .filter(|(_, text)| !text.trim().is_empty())
            .collect();
        match said.as_slice() {
            [] => None,
            [(_, only)] if self.parts.len() == 1 => Some((*only).clone()),
            several => {
                let sections = several.iter().map(|(name, text)| format!("# {name}\n\n{text}"));
                Some(sections.collect::<Vec<_>>().join("\n\n").into())
            }
        }
    }
}
