//! Servers that people really use, as they are published: each connects, offers what it is known
//! for, answers calls, and nothing of it is left running.

mod http;
mod npm;
mod page;
mod python;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{Counts, Secret, ServerName, ServerSpec, StdioSpec, Template, Transport};
use switchboard_testkit::Tools;
use switchboard_upstream::{Caller, Context, Instance, instance};

use crate::kit::{Hub, is_running, key, text};

/// What is known of a server at its pinned version.
struct Offers {
    revision: &'static str,
    /// Tools, resources, templates, prompts.
    counts: [usize; 4],
}

/// A call, and something that its answer contains.
type Call<'a> = (&'a str, String, &'a str);

/// A server that is started with a command.
fn stdio(command: &Path, arguments: &[&str]) -> ServerSpec {
    let stdio = StdioSpec {
        command: Template::literal(command.to_str().unwrap()),
        args: arguments.iter().map(|argument| Template::literal(*argument)).collect(),
        env: BTreeMap::new(),
        cwd: None,
    };
    patient(Transport::Stdio(stdio))
}

fn patient(transport: Transport) -> ServerSpec {
    let mut spec = ServerSpec::new(ServerName::parse("real").unwrap(), transport);
    // A busy machine takes its time to load an interpreter.
    spec.timing.connect = Duration::from_secs(120);
    spec
}

/// The whole life of a connection to one server.
async fn check(mut server: ServerSpec, offers: Offers, calls: &[Call<'_>]) {
    let home = tempfile::tempdir().unwrap();
    let started = match &mut server.transport {
        Transport::Stdio(stdio) => {
            // Some write where they are started.
            stdio.cwd.get_or_insert(Template::literal(home.path().to_str().unwrap()));
            true
        }
        Transport::Http(_) => false,
    };
    let mut context = context(home.path());
    if offers.revision != "2024-11-05" {
        // These all answer; on a busy machine, an interpreter that loads must not pass for silence.
        context.waits.probe = Duration::from_secs(60);
    }
    let mark = context.instance;
    let hub = Hub::with(context, [server]).await;
    hub.until("real", |state| state.is_connected()).await;
    let status = hub.upstreams.status_of(&key("real")).unwrap();
    let Counts { tools, resources, templates, prompts } = status.counts;
    assert_eq!(status.revision, Some(offers.revision));
    assert_eq!([tools, resources, templates, prompts], offers.counts, "{:?}", status.server);
    for (tool, arguments, expected) in calls {
        let answer = hub.raw("real", tool, arguments, &Caller::default()).await.unwrap();
        let said = text(&answer);
        assert!(said.contains(expected), "{tool} {arguments}: {}", answer.as_json().as_str());
    }
    let family = family(status.pid, mark);
    assert_eq!(started, !marked(mark).is_empty(), "a process of it carries the mark");
    assert_eq!(started, !family.is_empty());
    hub.stop().await;
    let left = || -> Vec<u32> {
        let old = family.iter().filter(|(pid, start)| start_of(*pid) == Some(*start));
        old.map(|(pid, _)| *pid).chain(marked(mark)).filter(|pid| is_running(*pid)).collect()
    };
    for _ in 0..300 {
        if left().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let command = |pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    panic!("left running: {:?}", left().into_iter().map(command).collect::<Vec<_>>());
}

fn context(home: &Path) -> Context {
    let (path, at) = (Tools::find().path(), home.to_str().unwrap().to_owned());
    let env = move |name: &str| match name {
        "PATH" => Some(Secret::new(path.clone())),
        "HOME" => Some(Secret::new(at.clone())),
        _ => None,
    };
    Context::new(Arc::new(env), Instance::current(home))
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every process that carries this mark, as what clears up after a crash would find it.
fn marked(mark: Instance) -> Vec<u32> {
    let wanted = format!("{}={mark}", instance::VARIABLE);
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    processes().filter(carries).collect()
}

/// The process, those that carry the mark, and all that they have started, each with when it began.
/// A browser hides the mark of its children, and gives them groups of their own.
fn family(pid: Option<u32>, mark: Instance) -> Vec<(u32, u64)> {
    let mut known: Vec<u32> = pid.into_iter().chain(marked(mark)).collect();
    let parents: Vec<(u32, Option<u32>)> = processes().map(|pid| (pid, parent_of(pid))).collect();
    let mut at = 0;
    while let Some(parent) = known.get(at).copied() {
        let children = parents.iter().filter(|(_, of)| *of == Some(parent)).map(|(pid, _)| *pid);
        let fresh: Vec<u32> = children.filter(|pid| !known.contains(pid)).collect();
        known.extend(fresh);
        at += 1;
    }
    known.into_iter().filter_map(|pid| Some((pid, start_of(pid)?))).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    field(pid, 1)?.parse().ok()
}

fn start_of(pid: u32) -> Option<u64> {
    field(pid, 19)?.parse().ok()
}

/// A field of a process's status, counted from the one after its name.
fn field(pid: u32, nth: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(nth).map(str::to_owned)
}
