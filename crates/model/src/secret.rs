//! A text that must not be seen. It cannot be printed, compared by accident or serialised; reading
//! it is a word one can search for.

use std::fmt;
use zeroize::Zeroizing;

/// A secret text, wiped from memory when dropped.
#[derive(Clone, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes the text in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. Never for logs, errors or anything a person reads.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it: an empty token is as bad as none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(***) Some(Secret(***))");
        assert_eq!(secret.expose(), "hunter2");
    }
}
