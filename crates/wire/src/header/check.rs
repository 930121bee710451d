//! Whether the headers of a stateless-era request say what its body says. A component that routes
//! by one and acts by the other could be led astray.

use std::borrow::Cow;

use crate::code;
use crate::header::decode;
use crate::json::Json;
use crate::method::subject;
use crate::outline::Params;

/// The headers that mirror a request, as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mirror<'a> {
    /// `MCP-Protocol-Version`
    pub version: Option<&'a str>,
    /// `Mcp-Method`
    pub method: Option<&'a str>,
    /// `Mcp-Name`
    pub name: Option<&'a str>,
}

/// A header that does not fit the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The body has a value and the header is not there.
    #[error("Header mismatch: the {0} header is missing")]
    Missing(Box<str>),
    /// The header's value is not valid.
    #[error("Header mismatch: the {0} header is malformed")]
    Malformed(Box<str>),
    /// They differ.
    #[error("Header mismatch: {header} header value '{sent}' does not match body value '{body}'")]
    Different {
        /// The header.
        header: Box<str>,
        /// What it says.
        sent: Box<str>,
        /// What the body says.
        body: Box<str>,
    },
}

impl Mismatch {
    /// The JSON-RPC code that says so.
    pub const fn code(&self) -> i64 {
        code::HEADER_MISMATCH
    }
}

/// Compares the headers with the method, the revision in `_meta` and the subject of a request, which is
/// given back if it has one.
pub fn check<'a>(
    mirror: &Mirror<'_>,
    method: &str,
    version: &str,
    params: &Params<'a>,
) -> Result<Option<Cow<'a, str>>, Mismatch> {
    same("MCP-Protocol-Version", mirror.version, version)?;
    same("Mcp-Method", mirror.method, method)?;
    let Some(member) = subject(method) else { return Ok(None) };
    // A request without its subject is refused for that, with a better message; so is one with two.
    let Some(subject) = params.subject(member).and_then(Json::string) else {
        return Ok(None);
    };
    let Some(sent) = mirror.name else { return Err(Mismatch::Missing("Mcp-Name".into())) };
    let Ok(sent) = decode(sent) else { return Err(Mismatch::Malformed("Mcp-Name".into())) };
    if sent == subject { Ok(Some(subject)) } else { Err(different("Mcp-Name", &sent, &subject)) }
}

pub(super) fn different(header: &str, sent: &str, body: &str) -> Mismatch {
    Mismatch::Different { header: header.into(), sent: sent.into(), body: body.into() }
}

fn same(header: &str, sent: Option<&str>, body: &str) -> Result<(), Mismatch> {
    match sent {
        None => Err(Mismatch::Missing(header.into())),
        Some(sent) if sent == body => Ok(()),
        Some(sent) => Err(different(header, sent, body)),
    }
}
