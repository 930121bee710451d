//! A connection to any server, by hand: `upstream-test-server try COMMAND|URL [ARG…]` says what it
//! speaks and offers; with `TOOL` and `ARGS` in the environment it also makes calls.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard_model::{
    Desired, HttpKind, HttpSpec, Secret, ServerKey, ServerName, ServerSpec, StdioSpec, Template,
    Transport,
};
use switchboard_upstream::{Caller, Context, Instance, Upstreams};
use switchboard_wire::{method, write};

use crate::{println, raw};

pub(crate) fn run(words: &[String]) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("there are threads").block_on(connect(words));
}

#[expect(clippy::disallowed_methods, reason = "it is started by hand")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

async fn connect(words: &[String]) {
    let env = |name: &str| variable(name).map(Secret::new);
    let context = Context::new(Arc::new(env), Instance::current(Path::new("/tmp/trial")));
    let upstreams = Upstreams::new(context);
    let name = ServerName::parse("trial").expect("it is a name");
    let key = ServerKey::global(name.clone());
    let literal = |word: &String| Template::literal(word);
    let transport = if words[0].starts_with("http") {
        let kind = if words.len() > 1 { HttpKind::Sse } else { HttpKind::Streamable };
        Transport::Http(HttpSpec { kind, url: literal(&words[0]), headers: [].into() })
    } else {
        Transport::Stdio(StdioSpec {
            command: literal(&words[0]),
            args: words[1..].iter().map(literal).collect(),
            env: [].into(),
            cwd: None,
        })
    };
    let mut desired = Desired::default();
    desired.servers.insert(key.clone(), Arc::new(ServerSpec::new(name, transport)));
    let began = tokio::time::Instant::now();
    upstreams.connect_all(&desired).await;
    upstreams.settle(Duration::from_secs(120)).await;
    let took = began.elapsed();
    if let Some(status) = upstreams.status_of(&key) {
        let (revision, counts) = (status.revision.unwrap_or("-"), status.counts);
        println(&format!(
            "{revision} {:?} {counts:?} {took:?}: {}",
            status.server,
            status.state.sentence()
        ));
        status
            .log
            .iter()
            .for_each(|line| println(&format!("  {} {}", line.source.as_str(), line.text)));
    }
    if let Some(tool) = variable("TOOL") {
        call(&upstreams, &key, &tool).await;
    }
    upstreams.disconnect_all().await;
}

/// `COUNT` calls, `WIDTH` at a time.
async fn call(upstreams: &Upstreams, key: &ServerKey, tool: &str) {
    let number = |name: &str| variable(name).and_then(|count| count.parse().ok()).unwrap_or(1_u32);
    let arguments = raw(&variable("ARGS").unwrap_or_else(|| "{}".to_owned()));
    let params = write::object(|params| {
        params.text("name", tool);
        params.raw("arguments", arguments.as_json());
    });
    let (count, width) = (number("COUNT"), number("WIDTH"));
    let began = tokio::time::Instant::now();
    let tasks = tokio_util::task::TaskTracker::new();
    let good = Arc::new(AtomicU32::new(0));
    for _ in 0..width {
        let (upstreams, key, params) = (upstreams.clone(), key.clone(), params.clone());
        let good = good.clone();
        tasks.spawn(async move {
            for nth in 0..count / width {
                let caller = Caller::default();
                let made =
                    upstreams.call(&key, method::TOOLS_CALL, Some(params.as_json()), &caller);
                let result = made.await;
                good.fetch_add(u32::from(result.is_ok()), Ordering::Relaxed);
                if nth == 0 && count / width == 1 {
                    let text = result.map(|result| result.as_json().as_str().to_owned());
                    println(&format!("{:.300}", format!("{text:?}")));
                }
            }
        });
    }
    tasks.close();
    tasks.wait().await;
    let took = began.elapsed();
    let (rate, good) = (f64::from(count) / took.as_secs_f64(), good.load(Ordering::Relaxed));
    println(&format!("{count} calls, {width} at a time: {good} good, {rate:.0}/s"));
}
