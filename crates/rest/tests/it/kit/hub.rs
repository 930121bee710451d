//! A hub as small as the API allows: files that never change, rows of the store, and a gate that
//! lets only approved command lines start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use switchboard_config::{Dialect, parse};
use switchboard_core::port::BoxFuture;
use switchboard_core::registry::Offer;
use switchboard_core::{Audience, Registry};
use switchboard_model::{
    AgentSpec, Desired, EventKind, Scope, ServerKey, ServerName, ServerSpec, Transport,
};
use switchboard_rest::port::{Declared, FilePlace, Hub, Source};
use switchboard_store::{Error, ServerRow, Store, command_hash};
use switchboard_upstream::{Gate, Upstreams};
use tokio_util::sync::CancellationToken;

/// Lets start what a file declares, and what was approved.
#[derive(Default)]
pub(crate) struct TestGate {
    files: Mutex<BTreeSet<ServerKey>>,
    approved: Mutex<BTreeSet<(ServerKey, [u8; 32])>>,
}

impl Gate for TestGate {
    fn is_approved(&self, server: &ServerKey, spec: &ServerSpec) -> bool {
        !matches!(spec.transport, Transport::Stdio(_))
            || self.files.lock().unwrap().contains(server)
            || self.approved.lock().unwrap().contains(&(server.clone(), command_hash(spec)))
    }
}

/// The hub around the API.
pub(crate) struct TestHub {
    store: Store,
    pub(crate) upstreams: Upstreams,
    registry: Registry,
    gate: Arc<TestGate>,
    files: Desired,
    path: PathBuf,
    declared: Mutex<Arc<Declared>>,
}

impl TestHub {
    pub(crate) fn new(
        store: Store,
        upstreams: Upstreams,
        registry: Registry,
        gate: Arc<TestGate>,
        texts: &[String],
    ) -> Self {
        let mut files = Desired::default();
        let path = PathBuf::from("/etc/switchboard.toml");
        for text in texts {
            let context =
                parse::Context { dialect: Some(Dialect::Native), ..parse::Context::default() };
            let parsed = parse::text(Path::new("switchboard.toml"), text, &context);
            assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
            let declared = parsed.declared.unwrap();
            let servers = declared.servers.into_iter().map(|server| (server.key, server.spec));
            files.servers.extend(servers);
            let agents = declared.agents.into_iter().map(|(id, (spec, _))| (id, spec));
            files.agents.extend(agents);
        }
        gate.files.lock().unwrap().extend(files.servers.keys().cloned());
        Self { store, upstreams, registry, gate, files, path, declared: Mutex::default() }
    }

    pub(crate) async fn make_so(&self) -> Result<(), Error> {
        self.store.access().declare(&self.files.agents);
        let rows = self.store.servers().list().await?;
        let approved = rows.iter().filter_map(|row| {
            row.approval.as_ref().map(|approval| (row.key.clone(), approval.hash))
        });
        *self.gate.approved.lock().unwrap() = approved.collect();
        let credentials = self.store.credentials().list().await?;
        let declared = self.merged(rows).with_credentials(&credentials);
        let desired = declared.desired.clone();
        *self.declared.lock().unwrap() = Arc::new(declared);
        self.upstreams.reconcile(&desired).await;
        let agents = self.store.access().agents();
        let owners = agents.iter().map(|agent| (&agent.id, Some(&agent.owner)));
        let mut audience = Audience::of(&desired, owners, &[]);
        for user in self.store.users().list().await? {
            let own = Scope::User(user.id.clone());
            let mut keys: Vec<ServerKey> = desired.servers.keys().cloned().collect();
            keys.retain(|key| key.scope == Scope::Global || key.scope == own);
            audience = audience.with_user(user.id, &keys);
        }
        self.registry.set_audience(audience);
        self.carry();
        Ok(())
    }

    fn merged(&self, rows: Vec<ServerRow>) -> Declared {
        let mut desired = self.files.clone();
        let file = Source::File { path: self.path.clone(), line: Some(3) };
        let mut sources: BTreeMap<ServerKey, Source> =
            desired.servers.keys().map(|key| (key.clone(), file.clone())).collect();
        let mut shadowed = BTreeMap::new();
        for row in rows {
            let (key, row) = (row.key.clone(), Arc::new(row));
            if desired.servers.contains_key(&key) {
                shadowed.insert(key, row);
                continue;
            }
            desired.servers.insert(key.clone(), row.spec.clone());
            sources.insert(key, Source::Store(row));
        }
        for agent in self.store.access().agents() {
            let spec: AgentSpec = agent.spec.clone();
            desired.agents.entry(agent.id.clone()).or_insert(spec);
        }
        let reserved = BTreeSet::from([ServerName::parse("switchboard").unwrap()]);
        let place = FilePlace { path: self.path.clone(), line: Some(3) };
        let agents = self.files.agents.keys().map(|id| (id.clone(), place.clone())).collect();
        let problems = Vec::new();
        Declared { desired: Arc::new(desired), sources, agents, shadowed, problems, reserved }
    }

    /// What connections offer is on offer.
    fn carry(&self) {
        let running = self.upstreams.status();
        for status in &running {
            let catalog = self.upstreams.catalog(&status.key).unwrap_or_default();
            let offer = Offer {
                tools: catalog.tools.clone(),
                spec: Some(status.spec.clone()),
                ..Offer::default()
            };
            self.registry.publish(&status.key, Arc::new(offer));
        }
        for (key, _) in self.registry.load().servers() {
            if !running.iter().any(|status| status.key == *key) {
                self.registry.withdraw(key);
            }
        }
    }
}

impl Hub for TestHub {
    fn declared(&self) -> Arc<Declared> {
        self.declared.lock().unwrap().clone()
    }

    fn apply(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.make_so())
    }
}

/// Carries over what connections offer, until the end.
pub(crate) async fn follow(hub: Arc<TestHub>, end: CancellationToken) {
    let mut events = hub.upstreams.events();
    loop {
        let event = tokio::select! {
            () = end.cancelled() => return,
            event = events.recv() => event,
        };
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::StateChanged { .. } | EventKind::CatalogChanged { .. }) {
            hub.carry();
        }
    }
}
