//! Names that were checked once, at the edge. Inside, a name is always good.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// Why a name was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing in it.
    #[error("the name is empty")]
    Empty,
    /// It is longer than any client or provider could show.
    #[error("the name has {0} characters, {1} are allowed")]
    TooLong(usize, usize),
    /// White space at either end is always a slip.
    #[error("the name begins or ends with white space")]
    Padded,
    /// Invisible or control characters make two names look alike.
    #[error("the name contains the invisible or control character U+{0:04X}")]
    Invisible(u32),
    /// An agent's id is part of a URL and of file names.
    #[error("`{0}` is not allowed here: letters, digits, `_`, `-` and `.` are")]
    Character(char),
}

const SERVER_NAME_MAX: usize = 128;
const ID_MAX: usize = 64;

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $rule:path) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// Checks `raw` and keeps it.
            pub fn parse(raw: &str) -> Result<Self, NameError> {
                $rule(raw)?;
                Ok(Self(raw.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// What a person calls a server: any visible text of at most 128 characters, since other
    /// programs' files name servers as they like. What models see is made from it by a table.
    ServerName, check_visible
}
name! {
    /// Who calls tools, such as `cto`: safe in a URL and in a file name.
    AgentId, check_id
}
name! {
    /// A person who owns servers, credentials and agents.
    UserId, check_id
}

fn check_visible(raw: &str) -> Result<(), NameError> {
    check_length(raw, SERVER_NAME_MAX)?;
    if raw.trim() != raw {
        return Err(NameError::Padded);
    }
    match raw.chars().find(|c| is_invisible(*c)) {
        Some(c) => Err(NameError::Invisible(c as u32)),
        None => Ok(()),
    }
}

fn check_id(raw: &str) -> Result<(), NameError> {
    check_length(raw, ID_MAX)?;
    // A leading dot would make hidden files and `..` out of ids.
    let bad = |(i, c): (usize, char)| {
        !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || (c == '.' && i > 0))
    };
    match raw.char_indices().find(|&at| bad(at)) {
        Some((_, c)) => Err(NameError::Character(c)),
        None => Ok(()),
    }
}

fn check_length(raw: &str, max: usize) -> Result<(), NameError> {
    match raw.chars().count() {
        0 => Err(NameError::Empty),
        n if n > max => Err(NameError::TooLong(n, max)),
        _ => Ok(()),
    }
}

/// Control characters, and the format characters that hide or reorder text.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c as u32,
            0x00AD | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180E | 0x3164 | 0xFEFF | 0xFFA0
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFFF0..=0xFFFB
            | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests;
