//! The one HTTP client, pooled and shared by every server, and what requests to one server carry.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, NoProxy, Proxy, StatusCode};
use rustls::ClientConfig;
use switchboard_model::{Clock, Secret};
use url::{Host, Url};

use super::direct::Direct;
use super::trust::Trust;
use crate::context::{Context, Lookup};
use crate::error::ConnectError;

const CONNECT: Duration = Duration::from_secs(15);
const REDIRECTS: usize = 5;
const HTTP_PROXIES: [&str; 2] = ["http_proxy", "HTTP_PROXY"];
const ALL_PROXIES: [&str; 2] = ["all_proxy", "ALL_PROXY"];
/// Proxies are for what is elsewhere.
const LOCAL: &str = "localhost,127.0.0.0/8,::1";

/// Where requests go and what they carry.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// For calls to a server that nothing stands in front of.
    pub(super) direct: Option<Arc<Direct>>,
    /// For dates that a server gives.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Endpoint {
    /// Checks URL and headers.
    pub(crate) fn new(
        context: &Context,
        url: &Secret,
        carried: &[(String, Secret)],
    ) -> Result<Self, ConnectError> {
        let client = shared(context).map_err(ConnectError::Client)?;
        let url = Url::parse(url.expose())
            .map_err(|error| ConnectError::Address(format!("the URL is not valid: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ConnectError::Address("the URL is not http or https".to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in carried {
            let bad = || ConnectError::Address(format!("the header `{name}` is not valid"));
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(parsed, value);
        }
        let direct =
            if is_proxied(&context.env, &url) { None } else { Direct::new(&url, &headers) };
        Ok(Self { client, url, headers, direct, clock: context.clock.clone() })
    }
}

/// The one client, made when it is first needed.
pub(crate) fn shared(context: &Context) -> Result<Client, String> {
    context.http.get_or_init(|| client(&context.env)).clone()
}

fn client(env: &Lookup) -> Result<Client, String> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls(env)?)
        .redirect(Policy::custom(|attempt| {
            let from = attempt.previous().last();
            let same = from.is_some_and(|from| from.origin() == attempt.url().origin());
            // Other redirects would turn a POST into a GET.
            let kept = matches!(
                attempt.status(),
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            match same && kept && attempt.previous().len() <= REDIRECTS {
                true => attempt.follow(),
                false => attempt.stop(),
            }
        }))
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .no_proxy();
    for proxy in proxies(env)? {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|error| error.without_url().to_string())
}

fn tls(env: &Lookup) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let verifier = Trust::new(env, provider)?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Whether a proxy may stand in front of a URL without TLS.
fn is_proxied(env: &Lookup, url: &Url) -> bool {
    let local = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let named = HTTP_PROXIES.iter().chain(&ALL_PROXIES);
    !local && named.into_iter().any(|name| env(name).is_some_and(|value| !value.is_empty()))
}

/// The proxies that the environment names, as other programs read it.
fn proxies(env: &Lookup) -> Result<Vec<Proxy>, String> {
    let get = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| env(name).filter(|value| !value.is_empty()));
        found.map(|value| value.expose().to_owned())
    };
    let except = get(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    let except = NoProxy::from_string(&format!("{LOCAL},{except}"));
    let bad =
        |error: reqwest::Error| format!("a proxy setting is not valid: {}", error.without_url());
    let mut proxies = Vec::new();
    // `HTTP_PROXY` in capitals can be set by a header in CGI programs; this is none.
    if let Some(url) = get(HTTP_PROXIES) {
        proxies.push(Proxy::http(url).map_err(bad)?.no_proxy(except.clone()));
    }
    if let Some(url) = get(["https_proxy", "HTTPS_PROXY"]) {
        proxies.push(Proxy::https(url).map_err(bad)?.no_proxy(except.clone()));
    }
    if let Some(url) = get(ALL_PROXIES) {
        proxies.push(Proxy::all(url).map_err(bad)?.no_proxy(except));
    }
    Ok(proxies)
}
