//! What one server offers. Never changes: something else is another offer.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{Limits, ServerSpec};
use switchboard_wire::Era;
use switchboard_wire::types::{Capabilities, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};

use super::part::Listable;

/// What there is lists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Families of resources.
    Templates,
    /// Prompts.
    Prompts,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];
}

/// Where a server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// Somewhere else: it is called through [`crate::port::Servers`].
    #[default]
    Outside,
    /// It is the hub itself: its tools have their reserved names without prefix, its URIs stay, and
    /// it is called through the hub's own port.
    Hub,
}

/// How true it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// The server is there and offers this.
    #[default]
    Live,
    /// It offered this when it was last there.
    Stale,
}

/// What one server offers.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Its tools.
    pub tools: Vec<ToolEntry>,
    /// Its resources.
    pub resources: Vec<ResourceEntry>,
    /// Its families of resources.
    pub templates: Vec<TemplateEntry>,
    /// Its prompts.
    pub prompts: Vec<PromptEntry>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What it wants models to know.
    pub instructions: Option<Arc<str>>,
    /// How it is declared, if it is.
    pub spec: Option<Arc<ServerSpec>>,
    /// Where it is.
    pub home: Home,
    /// The era that it speaks, if that is known.
    pub era: Option<Era>,
    /// How true this is.
    pub freshness: Freshness,
    /// For how long anything can be promised of it, if that is not without an end.
    pub holds: Option<Duration>,
}

impl Offer {
    /// Bytes of text in a result before it is cut.
    pub fn max_output(&self) -> usize {
        let limits = self.spec.as_ref().map_or_else(Limits::default, |spec| spec.limits.clone());
        usize::try_from(limits.max_output).unwrap_or(usize::MAX)
    }

    /// Whether it has pages of the apps extension, which call their server's tools by its own names.
    pub fn has_pages(&self) -> bool {
        self.tools.iter().any(|tool| tool.has_page)
    }

    /// Whether it has tools whose output schemas revisions before 2026-07-28 cannot say.
    pub fn has_wide(&self) -> bool {
        self.tools.iter().any(|tool| tool.is_wide)
    }

    /// Whether nobody could tell the two apart.
    pub fn is_same(&self, other: &Self) -> bool {
        self.freshness == other.freshness
            && self.home == other.home
            && self.era == other.era
            && self.holds == other.holds
            && self.instructions == other.instructions
            && self.spec == other.spec
            && self.capabilities.raw().as_bytes() == other.capabilities.raw().as_bytes()
            && same::<ToolEntry>(self, other)
            && same::<ResourceEntry>(self, other)
            && same::<TemplateEntry>(self, other)
            && same::<PromptEntry>(self, other)
    }

    /// How much there is of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Tools => self.tools.len(),
            Kind::Resources => self.resources.len(),
            Kind::Templates => self.templates.len(),
            Kind::Prompts => self.prompts.len(),
        }
    }
}

/// Whether a list says the same, byte for byte and in the same order.
fn same<E: Listable>(one: &Offer, other: &Offer) -> bool {
    let (one, other) = (E::all(one).iter(), E::all(other).iter());
    one.map(|entry| entry.raw().as_bytes()).eq(other.map(|entry| entry.raw().as_bytes()))
}

impl Default for Offer {
    /// Nothing, live.
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            capabilities: Capabilities::read(None),
            instructions: None,
            spec: None,
            home: Home::Outside,
            era: None,
            freshness: Freshness::Live,
            holds: None,
        }
    }
}
