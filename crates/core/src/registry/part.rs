//! What one server contributes to a view: its entries under their published names, in order, ready
//! to be sent. Made once for each surface, and shared by all views.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use switchboard_model::ServerKey;
use switchboard_wire::types::{Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use switchboard_wire::{Era, Json, JsonBuf, output};

use super::offer::{Home, Kind, Offer};
use crate::naming::{Qualifier, RESERVED, Surface, digest};

/// One server, and what was made of its offer so far.
pub(super) struct Parts {
    pub(super) key: ServerKey,
    offer: Arc<Offer>,
    made: RwLock<Vec<Arc<Part>>>,
}

/// What one server contributes to the views of one surface.
pub(crate) struct Part {
    pub(crate) key: ServerKey,
    pub(crate) offer: Arc<Offer>,
    /// What stands for the server in names.
    pub(super) label: Arc<str>,
    surface: Surface,
    pub(super) qualifier: Qualifier,
    lanes: [Lane; 4],
    /// Whether results may have structured content that is no object.
    wide: bool,
}

/// The entries of one kind.
pub(super) struct Lane {
    /// By the server's own names: an order that stays when a server shuffles its list, so that what
    /// models are told stays the same text.
    pub(super) rows: Vec<Row>,
    /// The URIs that entries refer to, by their rows, where this surface leaves them to the view.
    pub(super) refers: Vec<(usize, Box<str>)>,
    pub(super) digest: u64,
}

/// One entry.
pub(super) struct Row {
    /// What it is published as, unless a view must tell it apart from another.
    pub(super) name: Arc<str>,
    /// Where in the offer's list it is.
    at: usize,
    /// The entry under that name; `None` if it is as it came.
    raw: Option<JsonBuf>,
}

/// What there is lists of, as types.
pub(crate) trait Listable: Entry + 'static {
    const KIND: Kind;

    fn all(offer: &Offer) -> &[Self];
    /// What the server finds it by.
    fn key(&self) -> &str;
    fn raw(&self) -> Json<'_>;
}

macro_rules! listable {
    ($($type:ident: $kind:ident, $list:ident, $key:ident;)*) => {
        $(impl Listable for $type {
            const KIND: Kind = Kind::$kind;

            fn all(offer: &Offer) -> &[Self] {
                &offer.$list
            }

            fn key(&self) -> &str {
                &self.$key
            }

            fn raw(&self) -> Json<'_> {
                $type::raw(self)
            }
        })*
    };
}

listable! {
    ToolEntry: Tools, tools, name;
    ResourceEntry: Resources, resources, uri;
    TemplateEntry: Templates, templates, uri_template;
    PromptEntry: Prompts, prompts, name;
}

impl Parts {
    pub(super) fn new(key: ServerKey, offer: Arc<Offer>) -> Self {
        Self { key, offer, made: RwLock::default() }
    }

    pub(super) fn offer(&self) -> &Arc<Offer> {
        &self.offer
    }

    /// The part for that surface and label; made by whoever asks first.
    pub(super) fn part(&self, surface: &Surface, label: &str) -> Arc<Part> {
        let find = |made: &[Arc<Part>]| {
            made.iter().find(|part| part.surface == *surface && *part.label == *label).cloned()
        };
        let known = find(&self.made.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(part) = known {
            return part;
        }
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        find(&made).unwrap_or_else(|| {
            let part = Arc::new(Part::make(&self.key, &self.offer, surface, label));
            made.push(part.clone());
            part
        })
    }
}

impl Part {
    fn make(key: &ServerKey, offer: &Arc<Offer>, surface: &Surface, label: &str) -> Self {
        let mut part = Self {
            key: key.clone(),
            offer: offer.clone(),
            label: label.into(),
            surface: surface.clone(),
            qualifier: Qualifier::of(label),
            // Of the session era nothing else is expected, unless a tool says so itself.
            wide: offer.home == Home::Outside
                && (offer.era != Some(Era::Session) || offer.has_wide()),
            lanes: Kind::ALL.map(|_| Lane { rows: Vec::new(), refers: Vec::new(), digest: 0 }),
        };
        part.lanes = [
            part.prepare::<ToolEntry>(),
            part.prepare::<ResourceEntry>(),
            part.prepare::<TemplateEntry>(),
            part.prepare::<PromptEntry>(),
        ];
        part
    }

    pub(super) fn surface(&self) -> &Surface {
        &self.surface
    }

    pub(super) fn lane(&self, kind: Kind) -> &Lane {
        &self.lanes[kind as usize]
    }

    /// An entry as the server sent it.
    pub(super) fn entry<E: Listable>(&self, row: usize) -> Option<&E> {
        E::all(&self.offer).get(self.lane(E::KIND).rows.get(row)?.at)
    }

    /// An entry as it is published.
    pub(super) fn published<E: Listable>(&self, row: usize) -> Option<Json<'_>> {
        let entry = self.entry::<E>(row)?;
        let made = self.lane(E::KIND).rows.get(row)?.raw.as_ref();
        Some(made.map_or_else(|| entry.raw(), JsonBuf::as_json))
    }

    /// Whether an entry is a tool whose output schema revisions before 2026-07-28 cannot say.
    pub(super) fn is_wide(&self, kind: Kind, row: usize) -> bool {
        kind == Kind::Tools && self.entry::<ToolEntry>(row).is_some_and(|tool| tool.is_wide)
    }

    /// Whether results may have structured content that revisions before 2026-07-28 cannot say.
    pub(crate) fn answers_widely(&self) -> bool {
        self.wide
    }

    /// Whether an entry refers to URIs that a view may have to change.
    pub(super) fn refers(&self, kind: Kind, row: usize) -> bool {
        self.lane(kind).refers.binary_search_by_key(&row, |(row, _)| *row).is_ok()
    }

    /// What it is published as where its name is taken.
    pub(super) fn aside<E: Listable>(&self, entry: &E) -> Arc<str> {
        match E::KIND {
            Kind::Tools | Kind::Prompts => self.surface.aside(&self.label, entry.key()).into(),
            Kind::Resources | Kind::Templates => self.qualifier.qualify(entry.key()).into(),
        }
    }

    /// The server's URI as this surface has it.
    pub(crate) fn uri(&self, uri: &str) -> Option<String> {
        self.qualifies().then(|| self.qualifier.qualify(uri))
    }

    /// What stands for the server in URIs.
    pub(crate) fn host(&self) -> &str {
        self.qualifier.host()
    }

    /// Whether it is for readers for whom no name passes from one server to another.
    pub(super) fn is_short(&self) -> bool {
        matches!(self.surface, Surface::Short(_))
    }

    /// Whether URIs are changed at all.
    pub(super) fn qualifies(&self) -> bool {
        matches!(self.surface, Surface::Prefixed(_)) && self.offer.home == Home::Outside
    }

    fn prepare<E: Listable>(&self) -> Lane {
        let all = E::all(&self.offer);
        let mut seen = HashSet::with_capacity(all.len());
        // What is there twice could not be told apart, so only the first counts.
        let mut order: Vec<usize> =
            (0..all.len()).filter(|at| seen.insert(all[*at].key())).collect();
        order.sort_unstable_by_key(|at| all[*at].key());
        let mut refers = Vec::new();
        let rows = order.into_iter().enumerate();
        let rows: Vec<Row> =
            rows.map(|(row, at)| self.row(&all[at], at, |uri| refers.push((row, uri)))).collect();
        let raws = rows.iter().map(|row| match &row.raw {
            Some(raw) => raw.as_json().as_bytes(),
            None => all[row.at].raw().as_bytes(),
        });
        Lane { digest: digest(raws), rows, refers }
    }

    fn row<E: Listable>(&self, entry: &E, at: usize, mut refers: impl FnMut(Box<str>)) -> Row {
        let key = entry.key();
        let name = match E::KIND {
            Kind::Tools if self.offer.home == Home::Hub && RESERVED.contains(&key) => None,
            Kind::Tools | Kind::Prompts => Some(self.surface.name(&self.label, key)),
            Kind::Resources | Kind::Templates => self.uri(key),
        };
        let name = name.filter(|name| name != key);
        let left = RefCell::new(Vec::new());
        let app = |uri: &str| {
            let changed = self.uri(uri);
            if changed.is_none() {
                left.borrow_mut().push(uri.into());
            }
            changed
        };
        let raw = output::listed::<E>(entry.raw(), name.as_deref(), &app);
        left.into_inner().into_iter().for_each(&mut refers);
        Row { name: name.as_deref().unwrap_or(key).into(), at, raw }
    }
}
