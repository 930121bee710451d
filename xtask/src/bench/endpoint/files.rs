//! How many files may be open: every connection is one, and what a shell gives is for programs that have few. What is
//! started from here inherits it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::say;

/// As many as the hub itself asks for: 10,000 sessions need no more.
const MOST: u64 = 65_536;

/// Takes as many as the system lets it have.
pub(super) fn take_all() {
    let now = getrlimit(Resource::Nofile);
    let Some(wanted) = wanted(now) else { return };
    let more = Rlimit { current: Some(wanted), maximum: now.maximum };
    // Without them, what needs them fails and says so.
    if let Err(error) = setrlimit(Resource::Nofile, more) {
        say::note(format_args!("no more than {:?} files can be open: {error}", now.current));
    }
}

/// How many there should be; nothing if they are that many already.
fn wanted(now: Rlimit) -> Option<u64> {
    let most = now.maximum.unwrap_or(MOST).min(MOST);
    now.current.is_some_and(|current| current < most).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_as_far_as_it_may_be_and_never_lowered() {
        for (current, maximum, expected) in [
            (Some(1_024), Some(20_000), Some(20_000)),
            (Some(1_024), Some(1_048_576), Some(MOST)),
            (Some(1_024), None, Some(MOST)),
            (Some(1_024), Some(1_024), None),
            (Some(100_000), Some(1_048_576), None),
            (None, None, None),
        ] {
            assert_eq!(wanted(Rlimit { current, maximum }), expected, "{current:?} {maximum:?}");
        }
    }
}
