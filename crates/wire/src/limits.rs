//! How much of a message is taken. Never measures anything itself.

/// The bounds that a message is held to while it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one message, batch or not.
    pub max_bytes: usize,
    /// Levels of arrays and objects, the message itself being the first; 128 at most.
    pub max_depth: usize,
    /// Messages in one batch.
    pub max_batch: usize,
}

impl Limits {
    /// What holds where nobody says otherwise. The depth is what the usual recursive parsers bear,
    /// so a payload that passes here can be read by them later.
    pub const DEFAULT: Self = Self { max_bytes: 64 * 1024 * 1024, max_depth: 128, max_batch: 128 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
