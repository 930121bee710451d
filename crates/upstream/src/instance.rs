//! Which hub started a process: a mark in the environment of everything that it starts, so that
//! what a crashed hub left behind is known for sure, never by name.

use std::fmt;
use std::path::Path;

/// The variable that carries the mark.
pub const VARIABLE: &str = "SWITCHBOARD_INSTANCE";

/// The variable that carries the number of the start that a process comes from.
pub const LAUNCH: &str = "SWITCHBOARD_LAUNCH";

/// The mark of one hub: whose state it keeps, and which process it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// A digest of the state directory's path.
    pub state: u64,
    /// The hub's process.
    pub pid: u32,
    /// When that process began, in the system's own ticks; a pid alone can come back.
    pub start: u64,
}

impl Instance {
    /// The mark of this very process.
    pub fn current(state_directory: &Path) -> Self {
        let pid = std::process::id();
        Self { state: digest(state_directory), pid, start: start_of(pid).unwrap_or_default() }
    }

    /// Reads a mark.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let state = u64::from_str_radix(parts.next()?, 16).ok()?;
        let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(Self { state, pid, start })
    }

    /// Whether that hub still runs.
    pub fn is_alive(&self) -> bool {
        start_of(self.pid) == Some(self.start)
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}:{}:{}", self.state, self.pid, self.start)
    }
}

/// FNV-1a: the same in every version, which the standard library's hash does not promise.
fn digest(path: &Path) -> u64 {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// When a process began; nothing if it is not there, or is only waiting to be buried.
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses can hold anything, so fields are counted after its end.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks() {
        let mine = Instance::current(Path::new("/var/lib/switchboard"));
        assert_eq!(Instance::parse(&mine.to_string()), Some(mine));
        for bad in ["", "x:1:2", "1:2", "1:2:3:4", "1:-2:3"] {
            assert_eq!(Instance::parse(bad), None, "{bad}");
        }
        if cfg!(target_os = "linux") {
            assert!(mine.is_alive());
            assert!(!Instance { start: mine.start + 1, ..mine }.is_alive());
        }
    }
}
