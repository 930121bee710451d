//! URIs that say whose they are, so that two servers' resources are never taken for each other.
//! Never checks whether a URI is one.

use std::borrow::Cow;
use std::sync::Arc;

/// No server has a reason to use this one.
pub(crate) const SCHEME: &str = "mcp://";
/// Hosts of apps insist on this scheme, so it stays.
pub(crate) const APP_SCHEME: &str = "ui://";

/// Puts a server's name into its URIs, and takes it out again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qualifier {
    /// `mcp://{server}/`
    plain: Arc<str>,
    /// `ui://{server}/`
    app: Arc<str>,
}

impl Qualifier {
    /// For the server of that name.
    pub(crate) fn of(server: &str) -> Self {
        let encoded = encode(server);
        Self {
            plain: format!("{SCHEME}{encoded}/").into(),
            app: format!("{APP_SCHEME}{encoded}/").into(),
        }
    }

    /// The URI, or the template of URIs, as agents see it.
    pub(crate) fn qualify(&self, uri: &str) -> String {
        match uri.strip_prefix(APP_SCHEME) {
            Some(rest) => [&self.app, rest].concat(),
            None => self.outright(uri),
        }
    }

    /// The same by the scheme that no server has a reason to use, for a URI of whatever scheme.
    pub(crate) fn outright(&self, uri: &str) -> String {
        [&self.plain, uri].concat()
    }

    /// The server's own URI behind a qualified one; `None` if it is not of this server.
    pub(crate) fn original<'u>(&self, uri: &'u str) -> Option<Cow<'u, str>> {
        if let Some(rest) = uri.strip_prefix(&*self.plain) {
            return Some(Cow::Borrowed(rest));
        }
        let rest = uri.strip_prefix(&*self.app)?;
        Some(Cow::Owned([APP_SCHEME, rest].concat()))
    }

    /// The part of a URI that tells whose it is, whoever that may be.
    pub(crate) fn prefix(uri: &str) -> Option<&str> {
        let scheme = [SCHEME, APP_SCHEME].into_iter().find(|scheme| uri.starts_with(scheme))?;
        let end = uri[scheme.len()..].find('/')? + scheme.len() + 1;
        Some(&uri[..end])
    }

    /// Whether the prefix of a template of apps' URIs is open, so that it could become anybody's.
    pub(crate) fn is_open(template: &str) -> bool {
        let rest = template.strip_prefix(APP_SCHEME);
        rest.and_then(|rest| rest.split('/').next()).is_some_and(|host| host.contains('{'))
    }

    /// What stands for the server.
    pub(crate) fn host(&self) -> &str {
        &self.plain[SCHEME.len()..self.plain.len() - 1]
    }

    /// What [`Qualifier::prefix`] gives for the server with that host.
    pub(crate) fn prefix_of(host: &str) -> String {
        [SCHEME, host, "/"].concat()
    }

    /// Whether a prefix is of a scheme that servers have no reason to use themselves.
    pub(crate) fn is_own(prefix: &str) -> bool {
        prefix.starts_with(SCHEME)
    }

    /// What [`Qualifier::prefix`] gives for the URIs of this server.
    pub(crate) fn prefixes(&self) -> [&Arc<str>; 2] {
        [&self.plain, &self.app]
    }
}

/// Percent-encoded but for what may stand in a host; no two names become the same.
fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
