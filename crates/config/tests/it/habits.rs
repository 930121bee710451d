//! What clients do beside their usual shape: older and newer ones, switches, projects, filters.

mod editors;
mod others;

use std::path::Path;
use std::time::Duration;

use switchboard_config::Dialect;
use switchboard_config::parse::Context;
use switchboard_model::{Pattern, ServerSpec};

use crate::support::{Read, fixture_text, read_as, render_all};

/// Reads a client's file as `import` would, from where it is in the fixtures.
fn import(path: &str, project: Option<&Path>) -> Read {
    let own = [([127, 0, 0, 1], 8010).into()];
    let context = Context { own: &own, project, ..Context::default() };
    let at = format!("/home/me/{path}");
    read_as(&[(&at, &fixture_text(&format!("habits/{path}")))], &context)
}

/// The file is told by name and shape, and has these servers and these problems.
fn check(path: &str, dialect: Dialect, expected: Vec<ServerSpec>, problems: &[&str]) {
    let read = import(path, None);
    assert_eq!(read.dialects, [Some(dialect)], "{path}");
    let mut expected = expected;
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(read.servers(), expected, "{path}\n{}", render_all(&read.problems));
    assert_eq!(read.codes(), problems, "{path}\n{}", render_all(&read.problems));
}

fn disabled(spec: ServerSpec) -> ServerSpec {
    ServerSpec { enabled: false, ..spec }
}

/// The same with another time for a call.
fn calling(mut spec: ServerSpec, seconds: f64) -> ServerSpec {
    spec.timing.call = Duration::from_secs_f64(seconds);
    spec
}

/// The same with another time to connect.
fn connecting(mut spec: ServerSpec, millis: u64) -> ServerSpec {
    spec.timing.connect = Duration::from_millis(millis);
    spec
}

fn offering(mut spec: ServerSpec, allow: &[&str], deny: &[&str]) -> ServerSpec {
    let globs = |globs: &[&str]| globs.iter().map(|g| Pattern::parse(g).unwrap()).collect();
    spec.tools.allow = globs(allow);
    spec.tools.deny = globs(deny);
    spec
}
