//! Servers behind TLS and behind proxies, real ones, in this very process.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use switchboard_model::{Secret, ServerState};
use switchboard_testkit::Scratch;
use switchboard_upstream::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::kit::{self, Hub};
use crate::remote::{Manner, Remote};

/// A name that no resolver knows.
const NAME: &str = "mcp.invalid";

/// A certificate authority of nobody, and a server that it vouches for.
struct Private {
    scratch: Scratch,
    remote: Remote,
    port: u16,
}

struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let Ok((stream, from)) = self.tcp.accept().await else { continue };
            // Who does not believe the certificate is gone.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

impl Private {
    async fn start(host: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let own = KeyPair::generate().unwrap();
        let names = vec![NAME.to_owned(), "127.0.0.1".to_owned()];
        let leaf = CertificateParams::new(names).unwrap().signed_by(&own, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![leaf.der().clone()],
                PrivateKeyDer::try_from(own.serialize_der()).unwrap(),
            )
            .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = tcp.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let url = format!("https://{host}:{port}/mcp");
        let remote = Remote::serve(Manner::Events, TlsListener { tcp, acceptor }, url);
        let scratch = Scratch::new();
        scratch.write("ca.pem", authority.pem());
        Self { scratch, remote, port }
    }

    fn file(&self) -> String {
        self.scratch.path().join("ca.pem").to_str().unwrap().to_owned()
    }
}

/// A proxy that leads everything to one port, whatever it is called.
struct Proxy {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
    _end: DropGuard,
}

impl Proxy {
    async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (end, noted) = (CancellationToken::new(), seen.clone());
        let tasks = TaskTracker::new();
        let each = tasks.clone();
        tasks.spawn(end.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let noted = noted.clone();
                each.spawn(async move { pass(stream, port, &noted).await });
            }
        }));
        Self { url, seen, _end: end.drop_guard() }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// A tunnel, or the request as it came: its target is absolute, which servers take as well.
async fn pass(mut client: TcpStream, port: u16, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        (client.read_buf(&mut head).await.ok()? > 0).then_some(())?;
    }
    let line = String::from_utf8_lossy(&head).lines().next()?.to_owned();
    let is_tunnel = line.starts_with("CONNECT ");
    seen.lock().unwrap().push(line);
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    if is_tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
    } else {
        server.write_all(&head).await.ok()?;
    }
    copy_bidirectional(&mut client, &mut server).await.ok().map(drop)
}

fn context(variables: &[(&'static str, &str)]) -> Context {
    let mut context = kit::context();
    let own: Vec<_> = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let base = context.env;
    context.env = Arc::new(move |name: &str| {
        let found = own.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| Secret::new(value)).or_else(|| base(name))
    });
    context
}

async fn connected(context: Context, remote: &Remote) -> Hub {
    let hub = Hub::with(context, [remote.spec("r")]).await;
    hub.until("r", ServerState::is_connected).await;
    assert_eq!(hub.tool("r", "echo", "{}").await.as_deref(), Ok("done"));
    hub
}

async fn sentence(context: Context, remote: &Remote) -> String {
    let hub = Hub::with(context, [remote.spec("r")]).await;
    let failed = |state: &ServerState| matches!(state, ServerState::Failed { .. });
    let sentence = hub.until("r", failed).await.sentence();
    hub.stop().await;
    sentence
}

#[tokio::test]
async fn a_certificate_of_a_private_authority() {
    let private = Private::start("127.0.0.1").await;
    let told = sentence(context(&[]), &private.remote).await;
    assert!(told.contains("certificate"), "{told}");
    let hub = connected(context(&[("SSL_CERT_FILE", &private.file())]), &private.remote).await;
    hub.stop().await;
    for (text, wrong) in [("", "there is no certificate"), ("x", "there is no certificate")] {
        private.scratch.write("empty.pem", text);
        let file = private.scratch.path().join("empty.pem");
        let told =
            sentence(context(&[("SSL_CERT_FILE", file.to_str().unwrap())]), &private.remote).await;
        assert!(told.contains(wrong), "{told}");
    }
    let told = sentence(context(&[("SSL_CERT_FILE", "/nowhere.pem")]), &private.remote).await;
    assert!(told.contains("SSL_CERT_FILE names /nowhere.pem, which cannot be read"), "{told}");
}

#[tokio::test]
async fn a_certificate_is_for_its_own_name() {
    let private = Private::start("localhost").await;
    let told = sentence(context(&[("SSL_CERT_FILE", &private.file())]), &private.remote).await;
    assert!(told.contains("certificate"), "{told}");
}

#[tokio::test]
async fn proxies_are_used_as_the_environment_says() {
    let mut remote = Remote::start(Manner::Events).await;
    let port: u16 =
        remote.url.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
    let proxy = Proxy::to(port).await;
    // What is here needs no proxy.
    connected(context(&[("http_proxy", &proxy.url)]), &remote).await.stop().await;
    assert_eq!(proxy.seen(), Vec::<String>::new());
    // What is elsewhere does.
    remote.url = format!("http://{NAME}:{port}/mcp");
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy"] {
        connected(context(&[(variable, &proxy.url)]), &remote).await.stop().await;
        let seen = proxy.seen();
        assert_eq!(seen.first(), Some(&format!("POST {} HTTP/1.1", remote.url)), "{variable}");
        proxy.seen.lock().unwrap().clear();
    }
    // Unless it is said not to.
    for (variable, value) in [("NO_PROXY", NAME), ("no_proxy", ".invalid")] {
        let variables = [("http_proxy", proxy.url.as_str()), (variable, value)];
        let told = sentence(context(&variables), &remote).await;
        assert!(told.contains("no connection") && proxy.seen().is_empty(), "{told}");
    }
    // One for the other scheme is not meant.
    sentence(context(&[("https_proxy", &proxy.url)]), &remote).await;
    assert_eq!(proxy.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tunnel_through_a_proxy() {
    let private = Private::start(NAME).await;
    let proxy = Proxy::to(private.port).await;
    let file = private.file();
    let variables = [("HTTPS_PROXY", proxy.url.as_str()), ("SSL_CERT_FILE", &file)];
    connected(context(&variables), &private.remote).await.stop().await;
    let seen = proxy.seen();
    let tunnel = format!("CONNECT {NAME}:{} HTTP/1.1", private.port);
    assert!(!seen.is_empty() && seen.iter().all(|line| *line == tunnel), "{seen:?}");
}
