//! Who may know whom: the crates as a star around `model`, and outside crates bound to their rooms.
//! Only tables and their reading; never looks at a manifest.

/// For each member of the workspace the members it may depend on.
const ROOMS: &[(&str, &[&str])] = &[
    ("switchboard-model", &[]),
    ("switchboard-wire", &[]),
    ("switchboard-config", &["switchboard-model"]),
    ("switchboard-store", &["switchboard-model"]),
    ("switchboard-core", &["switchboard-model", "switchboard-wire"]),
    ("switchboard-upstream", &["switchboard-core", "switchboard-model", "switchboard-wire"]),
    ("switchboard-mcp", &["switchboard-core", "switchboard-model", "switchboard-wire"]),
    (
        "switchboard-rest",
        &[
            "switchboard-config",
            "switchboard-core",
            "switchboard-model",
            "switchboard-store",
            "switchboard-upstream",
            "switchboard-wire",
        ],
    ),
    ("switchboard-agent", &["switchboard-core", "switchboard-model"]),
    (
        "switchboard",
        &[
            "switchboard-agent",
            "switchboard-config",
            "switchboard-core",
            "switchboard-mcp",
            "switchboard-model",
            "switchboard-rest",
            "switchboard-store",
            "switchboard-upstream",
            "switchboard-wire",
        ],
    ),
    ("switchboard-fixture", &[]),
    ("switchboard-testkit", &["switchboard-config", "switchboard-model", "switchboard-wire"]),
    ("xtask", &["switchboard", "switchboard-config", "switchboard-testkit"]),
];

/// What every member may use in its tests.
const TESTKIT: &str = "switchboard-testkit";

/// Outside crates, together with those named `NAME-…`, and where they may live.
const GUESTS: &[(&str, Reach)] = &[
    ("rmcp", Reach::Only(&["switchboard-upstream", "switchboard-testkit", "switchboard-fixture"])),
    ("sqlx", Reach::Only(&["switchboard-store"])),
    (
        "axum",
        Reach::NotIn(&[
            "switchboard-model",
            "switchboard-config",
            "switchboard-core",
            "switchboard-wire",
        ]),
    ),
    (
        "hyper",
        Reach::NotIn(&[
            "switchboard-model",
            "switchboard-config",
            "switchboard-core",
            "switchboard-wire",
        ]),
    ),
    ("tokio", Reach::NotIn(&["switchboard-model", "switchboard-wire"])),
];

enum Reach {
    Only(&'static [&'static str]),
    NotIn(&'static [&'static str]),
}

/// What a dependency is for; tests may know more than the code they test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It becomes part of the crate, or builds it.
    Code,
    /// Only the tests, examples and benchmarks see it.
    Tests,
}

/// Whether the table has a row for this member.
pub(super) fn knows(member: &str) -> bool {
    row(member).is_some()
}

/// Why `member` may not depend on `dependency`, or nothing if it may.
pub(super) fn objection(member: &str, dependency: &str, purpose: Purpose) -> Option<String> {
    if knows(dependency) || dependency.starts_with("switchboard-") {
        internal(member, dependency, purpose)
    } else {
        external(member, dependency, purpose)
    }
}

fn internal(member: &str, dependency: &str, purpose: Purpose) -> Option<String> {
    let allowed = row(member)?;
    if allowed.contains(&dependency) || (purpose == Purpose::Tests && dependency == TESTKIT) {
        return None;
    }
    Some(match allowed {
        [] => format!("`{member}` knows no other crate of the workspace"),
        allowed => format!("`{member}` may know only {}", allowed.join(", ")),
    })
}

fn external(member: &str, dependency: &str, purpose: Purpose) -> Option<String> {
    if purpose == Purpose::Tests {
        return None;
    }
    let (guest, reach) = GUESTS.iter().find(|(guest, _)| {
        dependency.strip_prefix(guest).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })?;
    match reach {
        Reach::Only(homes) if !homes.contains(&member) => {
            Some(format!("`{guest}` lives only in {}", homes.join(", ")))
        }
        Reach::NotIn(closed) if closed.contains(&member) => {
            Some(format!("`{guest}` stays out of {}", closed.join(", ")))
        }
        Reach::Only(_) | Reach::NotIn(_) => None,
    }
}

fn row(member: &str) -> Option<&'static [&'static str]> {
    ROOMS.iter().find(|(name, _)| *name == member).map(|(_, allowed)| *allowed)
}
