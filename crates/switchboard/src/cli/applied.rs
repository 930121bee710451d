//! After a file was written: the running hub applies it at once and says how the server stands. Where
//! none runs, there is nothing to say.

use std::path::Path;

use anyhow::Result;

use super::link;
use super::out::Out;
use super::test;
use crate::control::protocol::{FileEdit, ServerReport};
use crate::control::{Ask, Said};

/// Has the change that a command made in these files applied; how the server stands, if a hub runs and it is
/// declared.
pub(super) fn apply(
    out: &Out,
    server: &str,
    command: &str,
    files: &[&Path],
) -> Result<Option<ServerReport>> {
    let (mut report, mut failure) = (None, None);
    let whole = |file: &&Path| std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let edit = FileEdit { command: command.to_owned(), files: files.iter().map(whole).collect() };
    let ask = Ask::Apply { server: server.to_owned(), edit };
    link::ask_hub(&ask, |said| match said {
        Said::Server(found) => report = Some(*found),
        Said::Waiting(waiting) => out.note(test::still(&waiting)),
        Said::Failed(failed) => failure = Some(failed),
        _ => {}
    })?;
    if let Some(failure) = failure {
        return Err(link::failed(&failure));
    }
    if let Some(report) = &report {
        out.line(test::shown(report));
    }
    Ok(report)
}
