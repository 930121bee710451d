//! What a server offers: every page of every list, within bounds, byte for byte as it came. Never
//! judges what is offered beyond whether it can be used at all.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_core::port::CallError;
use switchboard_model::{Counts, ToolFilter};
use switchboard_wire::header::{ParamHeader, param_headers};
use switchboard_wire::types::entry::Entry;
use switchboard_wire::types::{Page, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use switchboard_wire::{Era, JsonBuf, code, method, write};

use crate::channel::{Channel, Kinds};
use crate::peer::Peer;
use crate::pulse::Patience;
use crate::supervisor::poll::{every, looked_at};
use crate::transport::{Headers, Link};

/// How much of a list is taken; what is beyond is left out, and said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) pages: usize,
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

pub(crate) const BOUNDS: Bounds = Bounds { pages: 1000, entries: 50_000, bytes: 64 * 1024 * 1024 };

/// Everything that a server lists, before its filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listing {
    tools: Vec<ToolEntry>,
    resources: Vec<ResourceEntry>,
    templates: Vec<TemplateEntry>,
    prompts: Vec<PromptEntry>,
    /// For how long its tools, its resources and its prompts hold, if the server says so.
    said: [Option<Duration>; 3],
    /// Whether it tells of changes of all that it lists.
    told: bool,
}

/// Lists that could not be read, and are as they were before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) kinds: Kinds,
    pub(crate) why: Vec<String>,
}

/// What a server offers, in its own order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Tools that its filter lets through.
    pub tools: Vec<ToolEntry>,
    /// Resources.
    pub resources: Vec<ResourceEntry>,
    /// Families of resources.
    pub templates: Vec<TemplateEntry>,
    /// Prompts.
    pub prompts: Vec<PromptEntry>,
    /// How often the lists are looked at, if the server does not tell of their changes.
    pub polled: Option<Duration>,
    /// For how long the lists hold, if the server says so: the shortest of what it says.
    pub said: Option<Duration>,
    mirrored: HashMap<String, Vec<ParamHeader>>,
    /// Tools that run only as tasks.
    lasting: HashSet<String>,
}

impl Catalog {
    /// The part of a listing that the filter lets through; `health` is how often the server is
    /// checked.
    pub(crate) fn of(listing: &Listing, filter: &ToolFilter, health: Duration) -> Self {
        let said = listing.said();
        let polled = (!listing.told).then(|| every(said, health));
        let tools: Vec<ToolEntry> =
            listing.tools.iter().filter(|tool| filter.offers(&tool.name)).cloned().collect();
        let mirrored = tools.iter().filter_map(|tool| {
            let headers = tool.mirrored();
            (!headers.is_empty()).then(|| (tool.name.clone(), headers.to_vec()))
        });
        let lasting = tools.iter().filter(|tool| tool.needs_task).map(|tool| tool.name.clone());
        Self {
            mirrored: mirrored.collect(),
            lasting: lasting.collect(),
            polled,
            said,
            tools,
            resources: listing.resources.clone(),
            templates: listing.templates.clone(),
            prompts: listing.prompts.clone(),
        }
    }

    /// For how long anything can be promised of it: no longer than it says itself, nor than until it is looked at.
    pub fn holds(&self) -> Option<Duration> {
        [self.said, self.polled].into_iter().flatten().min()
    }

    /// How much there is.
    pub fn counts(&self) -> Counts {
        Counts {
            tools: self.tools.len(),
            resources: self.resources.len(),
            templates: self.templates.len(),
            prompts: self.prompts.len(),
        }
    }

    /// Whether any tool runs only as a task. Hardly any does.
    pub(crate) fn has_lasting(&self) -> bool {
        !self.lasting.is_empty()
    }

    /// Whether that tool runs only as a task.
    pub(crate) fn is_lasting(&self, tool: &str) -> bool {
        self.lasting.contains(tool)
    }

    /// The arguments of a tool that are mirrored in headers.
    pub(crate) fn mirrored(&self, tool: &str) -> &[ParamHeader] {
        self.mirrored.get(tool).map_or(&[], Vec::as_slice)
    }
}

/// Reads the lists of `kinds` anew; the others stay as they are in `before`, and so does one that fails and
/// can be done without.
pub(crate) async fn load(
    channel: &Arc<Channel>,
    peer: &Peer,
    before: &Listing,
    kinds: Kinds,
    patience: Patience,
) -> Result<(Listing, Unread), CallError> {
    let has = |kind, name: &str| kinds.has(kind) && peer.capabilities.has(&[name]);
    let ttl = AtomicU64::new(u64::MAX);
    let reader = Reader { channel, peer, patience, bounds: BOUNDS, ttl: &ttl };
    let told = looked_at(peer, channel) == Kinds::NONE;
    let mut listing = Listing { told, ..before.within(peer) };
    let mut unread = Unread::default();
    if has(Kinds::TOOLS, "tools") {
        listing.tools = reader.list().await?;
        reader.drop_unusable(&mut listing.tools);
        listing.said[0] = reader.said(None);
    }
    if has(Kinds::RESOURCES, "resources") {
        unread.note(Kinds::RESOURCES, reader.renew(&mut listing.resources).await?);
        unread.note(Kinds::RESOURCES, reader.renew(&mut listing.templates).await?);
        let kept = listing.said[1].filter(|_| unread.kinds.has(Kinds::RESOURCES));
        listing.said[1] = reader.said(kept);
    }
    if has(Kinds::PROMPTS, "prompts") {
        unread.note(Kinds::PROMPTS, reader.renew(&mut listing.prompts).await?);
        let kept = listing.said[2].filter(|_| unread.kinds.has(Kinds::PROMPTS));
        listing.said[2] = reader.said(kept);
    }
    Ok((listing, unread))
}

impl Listing {
    /// Without the lists that this one has not: whoever came back may have less than before.
    fn within(&self, peer: &Peer) -> Self {
        let mut listing = self.clone();
        let has = |name: &str| peer.capabilities.has(&[name]);
        if !has("tools") {
            listing.tools.clear();
            listing.said[0] = None;
        }
        if !has("resources") {
            listing.resources.clear();
            listing.templates.clear();
            listing.said[1] = None;
        }
        if !has("prompts") {
            listing.prompts.clear();
            listing.said[2] = None;
        }
        listing
    }

    /// For how long all of it holds, if the server says so of any.
    pub(crate) fn said(&self) -> Option<Duration> {
        self.said.into_iter().flatten().min()
    }
}

impl Unread {
    fn note(&mut self, kind: Kinds, why: Option<String>) {
        if let Some(why) = why {
            self.kinds = self.kinds.with(kind);
            self.why.push(why);
        }
    }
}

struct Reader<'a> {
    channel: &'a Arc<Channel>,
    peer: &'a Peer,
    patience: Patience,
    bounds: Bounds,
    /// The shortest time, in milliseconds, for which what was read holds.
    ttl: &'a AtomicU64,
}

impl Reader<'_> {
    /// For how long what was read since the last time holds, if the server says so; with what could not be read, no
    /// longer than that, which is `kept`.
    fn said(&self, kept: Option<Duration>) -> Option<Duration> {
        let ttl = self.ttl.swap(u64::MAX, Ordering::Relaxed);
        let said = (ttl != u64::MAX).then(|| Duration::from_millis(ttl));
        [said, kept].into_iter().flatten().min()
    }

    /// A list whose absence costs nothing but itself. One that fails stays as it is: a server that has trouble
    /// for a moment has not lost what it had. Returns why.
    async fn renew<T: Listed>(&self, list: &mut Vec<T>) -> Result<Option<String>, CallError> {
        match self.list().await {
            Ok(read) => *list = read,
            // Many servers with resources have no templates, and say so by an error.
            Err(CallError::Rpc(error)) if error.code == code::METHOD_NOT_FOUND => list.clear(),
            // The connection is over, or waits for a credential.
            Err(error @ (CallError::Lost { .. } | CallError::Unauthorized { .. })) => {
                return Err(error);
            }
            Err(error) => return Ok(Some(format!("{} failed: {error}", T::METHOD))),
        }
        Ok(None)
    }

    async fn list<T: Listed>(&self) -> Result<Vec<T>, CallError> {
        let method = T::METHOD;
        let mut gathered = Gathered { bounds: self.bounds, ..Gathered::default() };
        let mut cursor: Option<String> = None;
        loop {
            let params = write::object(|params| {
                if let Some(cursor) = &cursor {
                    params.text("cursor", cursor);
                }
            });
            let params = self.peer.own(params.as_json());
            let headers = match self.peer.era() {
                Era::Session => Headers::default(),
                Era::Stateless => Headers::mirror(self.peer.revision, method, None),
            };
            let answer = self.channel.ask(method, params.as_json(), headers, self.patience).await?;
            // A copy of its own size: the answer shares a buffer with whatever came with it.
            let answer = JsonBuf::from(answer.as_json());
            let page = Page::<T>::read(&answer)
                .map_err(|error| CallError::Malformed(error.to_string()))?;
            if let Some(ttl) = page.cache.ttl_ms {
                self.ttl.fetch_min(ttl, Ordering::Relaxed);
            }
            let next = gathered.take(page, answer.as_json().as_bytes().len());
            for remark in gathered.remarks.drain(..) {
                self.channel.journal.remark(&format!("{method}: {remark}"));
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(gathered.entries),
            }
        }
    }

    /// Over HTTP, a tool whose mirrored arguments break the rules cannot be called.
    fn drop_unusable(&self, tools: &mut Vec<ToolEntry>) {
        if self.peer.era() != Era::Stateless || !matches!(self.channel.link(), Link::Http(_)) {
            return;
        }
        tools.retain(|tool| match param_headers(tool.input_schema()) {
            Ok(_) => true,
            Err(error) => {
                let remark = format!("the tool `{}` is left out: {error}", tool.name);
                self.channel.journal.remark(&remark);
                false
            }
        });
    }
}

/// What an entry is found by.
pub(crate) trait Keyed {
    fn key(&self) -> &str;
}

/// Where entries are listed.
trait Listed: Entry + Keyed {
    const METHOD: &'static str;
}

macro_rules! listed {
    ($($type:ident $field:ident $method:ident),*) => {
        $(impl Keyed for $type {
            fn key(&self) -> &str {
                &self.$field
            }
        }

        impl Listed for $type {
            const METHOD: &'static str = method::$method;
        })*
    };
}

listed!(
    ToolEntry name TOOLS_LIST,
    ResourceEntry uri RESOURCES_LIST,
    TemplateEntry uri_template TEMPLATES_LIST,
    PromptEntry name PROMPTS_LIST
);

/// The pages of one list so far.
pub(crate) struct Gathered<T> {
    pub(crate) entries: Vec<T>,
    pub(crate) remarks: Vec<String>,
    pub(crate) bounds: Bounds,
    keys: HashSet<String>,
    cursors: HashSet<String>,
    pages: usize,
    bytes: usize,
}

impl<T> Default for Gathered<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            remarks: Vec::new(),
            bounds: BOUNDS,
            keys: HashSet::new(),
            cursors: HashSet::new(),
            pages: 0,
            bytes: 0,
        }
    }
}

impl<T: Keyed> Gathered<T> {
    /// Takes a page and says which one to read next.
    pub(crate) fn take(&mut self, page: Page<T>, size: usize) -> Option<String> {
        self.pages += 1;
        self.bytes += size;
        for dropped in page.dropped {
            let name = dropped.name.map(|name| format!(" `{name}`")).unwrap_or_default();
            let text = format!("entry {}{name} is left out: {}", dropped.index, dropped.flaw);
            self.remarks.push(text);
        }
        for entry in page.entries {
            if self.entries.len() == self.bounds.entries {
                self.remarks.push(format!("only the first {} are taken", self.bounds.entries));
                return None;
            }
            match self.keys.insert(entry.key().to_owned()) {
                true => self.entries.push(entry),
                false => {
                    self.remarks.push(format!("`{}` is there twice; the first counts", entry.key()))
                }
            }
        }
        let next = page.next_cursor?;
        if self.pages >= self.bounds.pages || self.bytes >= self.bounds.bytes {
            self.remarks.push(format!("it has no end; {} pages are taken", self.pages));
            return None;
        }
        if !self.cursors.insert(next.clone()) {
            self.remarks.push("its pages go in a circle".to_owned());
            return None;
        }
        Some(next)
    }
}
