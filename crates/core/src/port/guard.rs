//! Looking at what goes to a server and what comes back. Only the port.

use switchboard_wire::JsonBuf;

use super::call::Call;

/// What the guard found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checked {
    /// It goes on as it is.
    #[default]
    Pass,
    /// It goes on as this instead.
    Replaced(JsonBuf),
}

/// It does not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Blocked(pub String);

/// Scans arguments and results.
pub trait Guard: Send + Sync {
    /// Looks at the params before they leave ([`Call::params`]).
    fn request(&self, call: &Call<'_>) -> Result<Checked, Blocked> {
        let _ = call;
        Ok(Checked::Pass)
    }

    /// Looks at a whole result before the caller, or anybody, gets any of it.
    fn result(&self, call: &Call<'_>, result: &JsonBuf) -> Result<Checked, Blocked> {
        let _ = (call, result);
        Ok(Checked::Pass)
    }
}

/// Finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassAll;

impl Guard for PassAll {}
