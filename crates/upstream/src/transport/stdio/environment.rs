//! The environment of a child: a small base, what is declared, and the mark of who started it.
//! Never the hub's own environment.

use switchboard_model::Secret;

use crate::context::Context;
use crate::instance;

/// What programs need to find their files, their language and their tools.
const BASE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    // Windows finds nothing without these.
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Every variable of the child.
pub(super) fn of(
    context: &Context,
    declared: &[(String, Secret)],
    launch: u64,
) -> Vec<(String, Secret)> {
    let base = BASE.iter().filter_map(|name| Some(((*name).to_owned(), (context.env)(name)?)));
    let mut all: Vec<(String, Secret)> = base.collect();
    for (name, value) in declared {
        all.retain(|(known, _)| !same(known, name));
        all.push((name.clone(), value.clone()));
    }
    all.retain(|(name, _)| name != instance::VARIABLE && name != instance::LAUNCH);
    all.push((instance::VARIABLE.to_owned(), Secret::new(context.instance.to_string())));
    all.push((instance::LAUNCH.to_owned(), Secret::new(launch.to_string())));
    all
}

/// Where commands are looked for.
pub(super) fn path(environment: &[(String, Secret)]) -> &str {
    let path = environment.iter().find(|(name, _)| same(name, "PATH"));
    path.map_or("", |(_, value)| value.expose())
}

fn same(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}
