//! The revisions of the protocol and the two eras they fall into. Never speaks either.

#[cfg(test)]
mod tests;

use std::fmt;

/// A family of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// `initialize` opens a session, and later messages rely on it.
    Session,
    /// Every request says all about itself in `_meta`.
    Stateless,
}

/// A revision of the protocol; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// All that are spoken here, newest first.
    pub const SUPPORTED: [Self; 5] =
        [V2026_07_28, V2025_11_25, V2025_06_18, V2025_03_26, V2024_11_05];

    /// The newest of the session era.
    pub const LATEST_SESSION: Self = V2025_11_25;

    /// The newest of the stateless era.
    pub const LATEST_STATELESS: Self = V2026_07_28;

    /// What a session-era HTTP request without `MCP-Protocol-Version` speaks.
    pub const WITHOUT_HEADER: Self = V2025_03_26;

    /// The revision of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::SUPPORTED.into_iter().find(|revision| revision.as_str() == name)
    }

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// Its era.
    pub const fn era(self) -> Era {
        match self {
            V2024_11_05 | V2025_03_26 | V2025_06_18 | V2025_11_25 => Era::Session,
            V2026_07_28 => Era::Stateless,
        }
    }

    /// The names of all that are spoken here, newest first.
    pub fn supported() -> impl Iterator<Item = &'static str> {
        Self::SUPPORTED.into_iter().map(Self::as_str)
    }

    /// What a server answers to `initialize`: the revision asked for, or else the newest it has.
    pub fn answer(requested: &str) -> Self {
        Self::parse(requested)
            .filter(|revision| revision.era() == Era::Session)
            .unwrap_or(Self::LATEST_SESSION)
    }

    /// What a client chooses from the names that a server offers: the newest that both speak.
    pub fn choose<'n>(offered: impl IntoIterator<Item = &'n str>) -> Option<Self> {
        offered.into_iter().filter_map(Self::parse).max()
    }

    /// Whether messages may come in batches.
    pub const fn has_batches(self) -> bool {
        matches!(self, V2025_03_26)
    }

    /// Whether HTTP requests carry `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        self >= V2025_06_18
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
