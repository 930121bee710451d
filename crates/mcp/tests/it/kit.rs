//! What the tests share: a hub with two servers and three callers, and a client that can send
//! anything. Never checks anything itself.

mod client;
mod listen;
mod plainly;
mod servers;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_core::port::Who;
use switchboard_core::results::Bounds;
use switchboard_core::{Audience, Kind, Offer, Ports, Registry, Results, Router};
use switchboard_mcp::{Authenticate, Endpoint, Options, Principal, Role};
use switchboard_model::{AgentId, Clock, ServerKey, ServerName, SystemClock, UserId};
use switchboard_testkit::panics;
use switchboard_wire::types::{
    Capabilities, Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry,
};
use switchboard_wire::{Json, JsonBuf, Limits};

pub(crate) use client::{Answer, Client, call, listed, request, stateless};
pub(crate) use listen::{Served, Way};
pub(crate) use servers::Scripted;

/// Everything must happen within this.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A running endpoint.
pub(crate) struct Hub {
    pub(crate) way: Way,
    pub(crate) address: SocketAddr,
    pub(crate) endpoint: Endpoint,
    pub(crate) registry: Registry,
    pub(crate) servers: Arc<Scripted>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) served: Arc<Served>,
    pub(crate) results: Results,
}

/// The tokens that were withdrawn.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<Vec<String>>);

impl Tokens {
    pub(crate) fn withdraw(&self, token: &str) {
        self.0.lock().unwrap().push(token.to_owned());
    }

    fn is_good(&self, token: &str) -> bool {
        !self.0.lock().unwrap().iter().any(|gone| gone == token)
    }
}

impl Authenticate for Tokens {
    fn who(&self, bearer: &str) -> Option<Arc<Principal>> {
        principal(bearer).filter(|_| self.is_good(bearer)).map(Arc::new)
    }

    fn still(&self) -> Box<dyn Fn(&Principal) -> bool + Send + '_> {
        Box::new(|guest| guest.token.as_deref().is_none_or(|token| self.is_good(token)))
    }
}

/// Whose token it is. The agents are the administrator's own.
pub(crate) fn principal(token: &str) -> Option<Principal> {
    let boss = UserId::parse("boss").unwrap();
    let agent = |id| Who::agent(AgentId::parse(id).unwrap(), Some(boss.clone()));
    let (who, role) = match token {
        "token-cto" | "token-cto-2" => (agent("cto"), Role::Member),
        "token-dev" => (agent("dev"), Role::Member),
        "token-boss" => (Who::user(boss), Role::Administrator),
        _ => return None,
    };
    Some(Principal { who: who.into(), role, token: Some(token.into()) })
}

pub(crate) fn key(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}

impl Hub {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// A hub whose options were changed.
    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::at(Arc::new(SystemClock), change).await
    }

    /// A hub with a clock of the test's own.
    pub(crate) async fn at(clock: Arc<dyn Clock>, change: impl FnOnce(&mut Options)) -> Self {
        Self::by(Way::Plain, clock, change).await
    }

    /// Two hubs, for what must be the same however a request is read.
    pub(crate) async fn each_way() -> [Self; 2] {
        Self::each_way_with(|_| {}).await
    }

    /// The same with changed options.
    pub(crate) async fn each_way_with(change: impl Fn(&mut Options)) -> [Self; 2] {
        let plain = Self::by(Way::Plain, Arc::new(SystemClock), &change).await;
        [plain, Self::by(Way::Hyper, Arc::new(SystemClock), &change).await]
    }

    async fn by(way: Way, clock: Arc<dyn Clock>, change: impl FnOnce(&mut Options)) -> Self {
        panics::watch();
        let registry = Registry::default();
        registry.publish(&key("alpha"), Arc::new(offer("alpha")));
        registry.publish(&key("beta"), Arc::new(offer("beta")));
        let agent = |id| AgentId::parse(id).unwrap();
        registry.set_audience(
            Audience::default()
                .with_agent(agent("cto"), &[key("alpha"), key("beta")])
                .with_agent(agent("dev"), &[key("beta")]),
        );
        let servers = Arc::new(Scripted::default());
        let results = Results::new(clock.clone(), Bounds::default());
        let router = Router::new(Ports::new(servers.clone()), results.clone(), [7; 32]);
        let tokens = Arc::new(Tokens::default());
        let mut options = Options::new(registry.clone(), router, tokens.clone(), [9; 32]);
        options.clock = clock;
        change(&mut options);
        let endpoint = Endpoint::new(options);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = listen::serve(listener, endpoint.clone(), way);
        Self { way, address, endpoint, registry, servers, tokens, served, results }
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client::new(self.address, token)
    }
}

/// What each of the scripted servers offers.
pub(crate) fn offer(server: &str) -> Offer {
    let names = [
        "echo",
        "raw",
        "progress",
        "log",
        "elicit",
        "sample",
        "roots",
        "ask",
        "wait",
        "fail",
        "gone",
        "mirrored",
        "many",
        "several",
        "ask_later",
        "large",
    ];
    let mut offer = Offer {
        tools: names.iter().map(|name| tool(server, name)).collect(),
        capabilities: Capabilities::read(Some(json(
            r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"x":1}"#,
        ))),
        instructions: Some(format!("This is {server}.").into()),
        ..Offer::default()
    };
    let resource = format!(r#"{{"uri":"test://{server}","name":"r","unknown":1.0}}"#);
    offer.resources.push(ResourceEntry::read(buffer(&resource)).unwrap());
    let template = format!(r#"{{"uriTemplate":"test://{server}/{{id}}","name":"t"}}"#);
    offer.templates.push(TemplateEntry::read(buffer(&template)).unwrap());
    offer.prompts.push(PromptEntry::read(buffer(r#"{"name":"greet","x":[1e2]}"#)).unwrap());
    assert_eq!(offer.count(Kind::Tools), names.len());
    offer
}

fn tool(server: &str, name: &str) -> ToolEntry {
    let schema = match name {
        "mirrored" => {
            r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#
        }
        _ => {
            r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"a":{"$anchor":"x"}},"type":"object","big":9223372036854775809,"one":1.0}"##
        }
    };
    let text = format!(
        r#"{{"name":"{name}","description":"of {server}","inputSchema":{schema},"zz":"\ud800"}}"#
    );
    ToolEntry::read(buffer(&text)).unwrap()
}

pub(crate) fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap()
}

pub(crate) fn buffer(text: &str) -> JsonBuf {
    json(text).into()
}

/// Waits for something that will happen.
pub(crate) async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, waiting).await.is_ok(), "never: {what}");
}
