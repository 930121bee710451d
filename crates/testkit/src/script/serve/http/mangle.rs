//! What the faults make of an HTTP exchange: an answer of another kind, or a response that is
//! spoilt on its way. Only reads the faults.

use std::net::TcpStream;

use super::wire::{End, TEXT, Wire};
use super::{Door, Request};
use crate::script::fault::{Fault, ResetAt};
use crate::script::serve::world::World;

/// How a response is spoilt.
#[derive(Clone, Default)]
pub(super) struct Mangle {
    pub(super) cut: Option<Cut>,
    /// The pause after each byte.
    pub(super) pace: Option<u64>,
    pub(super) content_type: Option<String>,
    pub(super) dropped: Option<Dropped>,
}

/// How it ends in the middle.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    Close,
    Reset,
}

/// How an event stream ends before the answer.
#[derive(Clone, Copy)]
pub(super) struct Dropped {
    pub(super) events: usize,
    pub(super) resumable: bool,
}

impl Mangle {
    pub(super) fn new(faults: &[Fault]) -> Self {
        let mut mangle = Self::default();
        for fault in faults {
            match fault {
                Fault::Truncate {} => mangle.cut = Some(Cut::Close),
                Fault::Reset { at: ResetAt::Response } => mangle.cut = Some(Cut::Reset),
                Fault::SlowBody { ms } => mangle.pace = Some(*ms),
                Fault::ContentType { value } => mangle.content_type = Some(value.clone()),
                Fault::DropStream { events, resumable } => {
                    mangle.dropped = Some(Dropped { events: *events, resumable: *resumable });
                }
                _ => {}
            }
        }
        mangle
    }
}

/// The answer that the faults give in the place of any other, if they do.
pub(super) fn instead(
    world: &World,
    socket: &TcpStream,
    request: &Request,
    door: Door,
    faults: &[Fault],
) -> Option<std::io::Result<End>> {
    let origins = world.origins.get()?;
    for fault in faults {
        match fault {
            Fault::Reset { at: ResetAt::Request } => return Some(Ok(End::Reset)),
            Fault::Status { status, headers, body } => {
                let filled: Vec<_> = headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.replace("{origin}", &origins.own)))
                    .collect();
                return Some(Wire::plain(socket).whole(*status, &filled, TEXT, body.as_bytes()));
            }
            Fault::Redirect { status, to } => {
                let location = match to.as_str() {
                    "slash" if request.path.ends_with('/') => continue,
                    "slash" => format!("{}/", request.path),
                    "other" if door == Door::Other => continue,
                    "other" => format!("{}{}", origins.other.as_ref()?, request.path),
                    url => url.to_owned(),
                };
                let headers = [("location", location)];
                return Some(Wire::plain(socket).whole(*status, &headers, TEXT, b""));
            }
            _ => {}
        }
    }
    None
}
