//! A small hub to be killed: it starts servers with children of their own, says when they are up,
//! and waits for its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    Desired, Secret, ServerKey, ServerName, ServerSpec, StdioSpec, Template, Transport,
};
use switchboard_upstream::{Context, Guardian, Instance, Upstreams};

use crate::println;

pub(crate) fn run(state: &str, servers: &str, end: &str) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let count = servers.parse().unwrap_or(1);
    runtime.expect("there are threads").block_on(keep(Path::new(state), count, end));
}

async fn keep(state: &Path, count: usize, end: &str) {
    let program = std::env::current_exe().expect("it runs");
    let instance = Instance::current(state);
    let mut context = Context::new(Arc::new(|_: &str| None::<Secret>), instance);
    let guardian = Guardian::start(program.clone(), "guardian", instance).expect("it starts");
    context.guardian = Some(Arc::new(guardian));
    let upstreams = Upstreams::new(context);
    println("started");
    upstreams.connect_all(&desired(&program, count)).await;
    upstreams.settle(Duration::from_secs(30)).await;
    println("settled");
    assert_ne!(end, "panic", "it was told to");
    tokio::time::sleep(Duration::from_secs(600)).await;
}

fn desired(program: &Path, count: usize) -> Desired {
    let mut desired = Desired::default();
    for nth in 0..count {
        let name = ServerName::parse(&format!("s{nth}")).expect("it is a name");
        let stdio = StdioSpec {
            command: Template::literal(program.display().to_string()),
            args: vec![Template::literal("session"), Template::literal("children")],
            env: [].into(),
            cwd: None,
        };
        let spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
        desired.servers.insert(ServerKey::global(name), Arc::new(spec));
    }
    desired
}
