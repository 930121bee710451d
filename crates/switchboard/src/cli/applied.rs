//! After a file was written: the running hub applies it at once and says how the server stands. Where
//! none runs, there is nothing to say.

use anyhow::Result;

use super::link;
use super::out::Out;
use super::test;
use crate::control::protocol::ServerReport;
use crate::control::{Ask, Said};

/// Has the change applied; how the server stands, if a hub runs and it is declared.
pub(super) fn apply(out: &Out, server: &str) -> Result<Option<ServerReport>> {
    let (mut report, mut failure) = (None, None);
    let ask = Ask::Apply { server: server.to_owned() };
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
