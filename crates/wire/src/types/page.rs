//! One page of a list. A bad entry does not spoil the good ones. Never asks for the next page.

use crate::json::{Json, JsonBuf};
use crate::peek;
use crate::types::Missing;
use crate::types::entry::{Entry, Flaw};

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// What can be offered, in the server's order.
    pub entries: Vec<T>,
    /// What cannot.
    pub dropped: Vec<Dropped>,
    /// Where the next page is, if there is one.
    pub next_cursor: Option<String>,
    /// For how long and for whom this may be kept.
    pub cache: CacheHint,
}

/// An entry that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its place on the page.
    pub index: usize,
    /// What it calls itself, if it does.
    pub name: Option<String>,
    /// Why.
    pub flaw: Flaw,
}

/// What the stateless era says about keeping a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// For how many milliseconds it stays fresh.
    pub ttl_ms: Option<u64>,
    /// For whom.
    pub scope: Option<CacheScope>,
}

/// For whom a result may be kept; the stricter is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// For everybody.
    Public,
    /// For the same caller.
    Private,
}

impl<T: Entry> Page<T> {
    /// Reads a page; only a result without the list itself is an error. The entries share its
    /// bytes.
    pub fn read(result: &JsonBuf) -> Result<Self, Missing> {
        let json = result.as_json();
        let list = json.get(T::LIST).filter(|list| list.kind() == crate::Kind::Array);
        let mut page = Self {
            entries: Vec::new(),
            dropped: Vec::new(),
            next_cursor: peek::next_cursor(json).map(String::from),
            cache: CacheHint::read(json),
        };
        for (index, entry) in list.ok_or(Missing(T::LIST))?.elements().enumerate() {
            match T::read(result.part(entry)) {
                Ok(entry) => page.entries.push(entry),
                Err(flaw) => {
                    let name = entry.get(T::KEY).and_then(Json::string_lossy).map(String::from);
                    page.dropped.push(Dropped { index, name, flaw });
                }
            }
        }
        Ok(page)
    }
}

impl CacheHint {
    /// Reads `ttlMs` and `cacheScope`. An unknown scope is the strict one.
    pub fn read(result: Json<'_>) -> Self {
        let ttl = result.get("ttlMs").and_then(Json::integer);
        let scope = result.get("cacheScope").map(|scope| match scope.string().as_deref() {
            Some("public") => CacheScope::Public,
            _ => CacheScope::Private,
        });
        Self { ttl_ms: ttl.and_then(|ttl| u64::try_from(ttl).ok()), scope }
    }
}
