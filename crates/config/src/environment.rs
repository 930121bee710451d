//! The process's own environment: variables, directories. The one place that reads it.

use std::path::PathBuf;

use directories::{BaseDirs, ProjectDirs};
use switchboard_model::Secret;

use crate::locate::Places;

/// Looks a variable up in the process's environment.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn variable(name: &str) -> Option<Secret> {
    // `var_os` would panic on such names; no variable can have them.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    std::env::var(name).ok().map(Secret::new)
}

/// Where this user keeps things on this platform.
pub fn places() -> Places {
    let base = BaseDirs::new();
    let own = ProjectDirs::from("", "", "switchboard");
    Places {
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        home: base.as_ref().map(|dirs| dirs.home_dir().to_owned()),
        platform: base.as_ref().map(|dirs| dirs.config_dir().to_owned()),
        state: state(own.as_ref()),
        data: data(own.as_ref()),
        config: own.map(|dirs| dirs.config_dir().to_owned()),
    }
}

/// SWITCHBOARD_STATE_DIR, or the platform's own; not every platform tells state from data.
fn state(own: Option<&ProjectDirs>) -> Option<PathBuf> {
    if let Some(chosen) = variable("SWITCHBOARD_STATE_DIR") {
        return Some(PathBuf::from(chosen.expose()));
    }
    own.map(|dirs| dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_owned())
}

/// SWITCHBOARD_DATA_DIR, or the platform's own.
fn data(own: Option<&ProjectDirs>) -> Option<PathBuf> {
    if let Some(chosen) = variable("SWITCHBOARD_DATA_DIR") {
        return Some(PathBuf::from(chosen.expose()));
    }
    own.map(|dirs| dirs.data_dir().to_owned())
}
