//! What recording costs a call: the same calls through a hub without a store, and through one that writes each of
//! them down, in turns. `cargo xtask bench` runs it.
//!
//! ```console
//! $ cargo run --release -p switchboard --example recording -- http://127.0.0.1:9100/mcp 5 1.5
//! ```

#![expect(clippy::print_stdout, reason = "it shows what it measured")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use switchboard::Hub;
use switchboard::model::{
    AgentId, AgentSpec, Clock, Desired, HttpKind, HttpSpec, ServerKey, ServerName, ServerSpec,
    SystemClock, Template, Transport,
};
use switchboard_store::{Address, KeySource, Options, Store};
use tokio::task::JoinSet;

/// Calls that are under way at once.
const AT_ONCE: usize = 16;

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, rounds, seconds] = &words[..] else {
        anyhow::bail!(
            "say the URL of a server with the tool `echo`, how many rounds, and how many seconds each"
        )
    };
    let (rounds, time) = (rounds.parse()?, Duration::from_secs_f64(seconds.parse()?));
    let directory = tempfile::tempdir()?;
    let hubs = [hub(url, None).await?, hub(url, Some(directory.path())).await?];
    let names = ["without a store", "with a store"];
    for _ in 0..rounds {
        let mut all = Vec::new();
        for (hub, name) in hubs.iter().zip(names) {
            let mut times = calls(hub, time).await?;
            times.sort_unstable();
            let middle = times.get(times.len() / 2).context("no call ended")?.as_secs_f64() * 1e6;
            let rate = times.len() as f64 / time.as_secs_f64();
            println!("{name:<16}{rate:>9.0} calls/s, {middle:>6.0} µs in the middle");
            all.push((rate, middle));
        }
        println!("ratio {:.4} {:.4}", all[1].0 / all[0].0, all[1].1 / all[0].1);
    }
    if let Some(recorder) = hubs[1].recorder() {
        println!("{:?}", recorder.counters());
    }
    for hub in &hubs {
        hub.shutdown().await;
    }
    Ok(())
}

async fn hub(url: &str, directory: Option<&Path>) -> Result<Hub> {
    let kind = HttpKind::Streamable;
    let http = HttpSpec { kind, url: Template::literal(url), headers: BTreeMap::new() };
    let name = ServerName::parse("up")?;
    let spec = ServerSpec::new(name.clone(), Transport::Http(http));
    let mut desired = Desired::default();
    desired.servers.insert(ServerKey::global(name.clone()), Arc::new(spec));
    let servers = Some([name].into());
    desired.agents.insert(agent()?, AgentSpec { servers, ..AgentSpec::default() });
    let mut builder = Hub::builder();
    if let Some(directory) = directory {
        let address = Address::Sqlite(directory.join("calls.db"));
        let key = KeySource::File(directory.join("master.key"));
        builder = builder.store(Store::open(Options { address, key, clock: clock() }).await?);
    }
    let hub = builder.start().await?;
    hub.reconcile(&desired).await;
    hub.settle(Duration::from_secs(10)).await;
    Ok(hub)
}

/// How long each call took, of those that one after the other fit into the time.
async fn calls(hub: &Hub, time: Duration) -> Result<Vec<Duration>> {
    let (clock, mut tasks) = (clock(), JoinSet::new());
    let end = clock.monotonic() + time;
    for _ in 0..AT_ONCE {
        let (hub, clock, agent) = (hub.clone(), clock.clone(), agent()?);
        tasks.spawn(async move {
            let mut times = Vec::new();
            loop {
                let begun = clock.monotonic();
                if begun >= end {
                    return Ok(times);
                }
                let result = hub.call(&agent, "mcp__up__echo", r#"{"text": "hello"}"#).await?;
                ensure!(result.as_json().as_str().contains("hello"), "another answer came");
                times.push(clock.monotonic() - begun);
            }
        });
    }
    let mut all = Vec::new();
    while let Some(times) = tasks.join_next().await {
        all.extend(times??);
    }
    Ok(all)
}

fn agent() -> Result<AgentId> {
    Ok(AgentId::parse("bench")?)
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}
