//! Whether the headers of a stateless-era request say what its body says. A component that routes
//! by one and acts by the other could be led astray.

use std::borrow::Cow;

use crate::code;
use crate::header::{decode, value::is_plainly};
use crate::json::Json;
use crate::method::subject;
use crate::outline::Params;

/// The headers that mirror a request, as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mirror<'a> {
    /// `MCP-Protocol-Version`
    pub version: Option<&'a [u8]>,
    /// `Mcp-Method`
    pub method: Option<&'a [u8]>,
    /// `Mcp-Name`
    pub name: Option<&'a [u8]>,
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
    if mirror.name.is_some_and(|sent| is_plainly(sent, &subject)) {
        return Ok(Some(subject));
    }
    let sent = mirror.name.and_then(text);
    let Some(sent) = sent else { return Err(Mismatch::Missing("Mcp-Name".into())) };
    let Ok(sent) = decode(sent) else { return Err(Mismatch::Malformed("Mcp-Name".into())) };
    if sent == subject { Ok(Some(subject)) } else { Err(different("Mcp-Name", &sent, &subject)) }
}

pub(super) fn different(header: &str, sent: &str, body: &str) -> Mismatch {
    Mismatch::Different { header: header.into(), sent: sent.into(), body: body.into() }
}

fn same(header: &str, sent: Option<&[u8]>, body: &str) -> Result<(), Mismatch> {
    // Compared as they came: to make text of them first costs more than all the rest.
    if sent.is_some_and(|sent| sent == body.as_bytes() && sent.is_ascii()) {
        return Ok(());
    }
    match sent.and_then(text) {
        None => Err(Mismatch::Missing(header.into())),
        Some(sent) => Err(different(header, sent, body)),
    }
}

/// A value as text; any other is as good as none.
fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
}
