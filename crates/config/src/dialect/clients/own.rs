//! Recognises Switchboard itself in other programs' files, where `connect` has put it.

use std::net::SocketAddr;
use std::path::Path;

use switchboard_model::{ServerSpec, Template, Transport};
use url::{Host, Url};

/// Whether the entry leads back to the hub: `switchboard mcp`, or one of its own addresses.
pub fn is_own(spec: &ServerSpec, own: &[SocketAddr]) -> bool {
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let words = std::iter::once(&stdio.command).chain(&stdio.args);
            let words: Vec<&str> = words.filter_map(Template::as_literal).collect();
            leads_home(&words, own)
        }
        Transport::Http(http) => http.url.as_literal().is_some_and(|url| is_endpoint(url, own)),
    }
}

/// `switchboard mcp …`, or a bridge such as `npx mcp-remote URL` with our URL.
fn leads_home(words: &[&str], own: &[SocketAddr]) -> bool {
    let stem = |word: &str| Path::new(word).file_stem().and_then(|n| n.to_str()).map(str::to_owned);
    let program = words.first().and_then(|word| stem(word));
    (program.as_deref() == Some("switchboard") && words.get(1) == Some(&"mcp"))
        || words.iter().any(|word| word.contains("://") && is_endpoint(word, own))
}

fn is_endpoint(url: &str, own: &[SocketAddr]) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback() || own.iter().any(|own| own.ip() == ip),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || own.iter().any(|own| own.ip() == ip),
        None => false,
    };
    let port = url.port_or_known_default();
    let ours = |path: &str| {
        ["/mcp", "/sse"].iter().any(|p| path == *p || path.starts_with(&format!("{p}/")))
    };
    local && own.iter().any(|own| Some(own.port()) == port) && ours(url.path())
}
