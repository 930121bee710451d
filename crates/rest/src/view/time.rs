//! Times as RFC 3339 texts.

use std::time::SystemTime;

/// A time, to the millisecond, in UTC.
pub(crate) fn time(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}
