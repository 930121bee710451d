//! Calls through `Upstreams` next to a bare loop on the same wire, in one run; what an idle
//! connection costs; how long a hundred servers take to connect.
//!
//! The servers answer at once: this very program with an argument, on its standard input and output,
//! or HTTP/1.1 written by hand on a thread of this process.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "what it prints is its result")]
#![expect(clippy::unwrap_used, reason = "a broken benchmark must stop")]

mod bare;
mod hub;
mod sample;
mod server;

use std::process::Command;
use std::time::Duration;

use sample::Sample;

/// Of each measurement the best of so many: a shared machine only ever adds time.
const ROUNDS: usize = 5;
/// How long one of them takes.
const SPAN: Duration = Duration::from_millis(600);
/// The argument of a process in which idle connections are made, and nothing else was before.
const IDLE: &str = "idle";
/// Servers in the rows that need many.
const MANY: usize = 100;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(server::STDIO) => return server::stdio(),
        Some(server::HTTP) => return server::http(),
        Some(IDLE) => return idle(),
        _ => {}
    }
    // `reqwest alone` takes the provider from here; the hub's own client brings it along.
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("{:<46}{:>10}{:>10}{:>10}{:>8}", "calls", "per s", "p50 µs", "p99 µs", "ratio");
        for window in [1, 64] {
            over_stdio(window).await;
        }
        for window in [1, 64] {
            over_http(window).await;
        }
        println!("\n{:<46}{:>12}", format!("{MANY} connections, idle"), "KB each");
        memory();
        println!("\n{:<46}{:>12}", format!("{MANY} stdio servers"), "time");
        connect().await;
    });
}

async fn over_stdio(window: usize) {
    let hub = hub::Hub::start([hub::stdio("s")]).await;
    let mut pipe = bare::Pipe::start().await;
    let (mut bare, mut ours) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        let sample;
        (pipe, sample) = pipe.run(window, SPAN).await;
        bare = bare.better(sample);
        ours = ours.better(hub.run(window, SPAN).await);
    }
    bare.print(&format!("stdio, {window} at a time: bare loop"), &bare);
    ours.print(&format!("stdio, {window} at a time: Upstreams::call"), &bare);
    hub.stop().await;
}

async fn over_http(window: usize) {
    let server = server::Inside::start();
    let hub = hub::Hub::start([hub::http("s", &server.url())]).await;
    let (mut bare, mut pooled, mut ours) =
        (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        bare = bare.better(bare::sockets(server.address, window, SPAN).await);
        pooled = pooled.better(bare::pooled(&server.url(), window, SPAN).await);
        ours = ours.better(hub.run(window, SPAN).await);
    }
    bare.print(&format!("HTTP, {window} at a time: bare sockets"), &bare);
    pooled.print(&format!("HTTP, {window} at a time: reqwest alone"), &bare);
    ours.print(&format!("HTTP, {window} at a time: Upstreams::call"), &bare);
    hub.stop().await;
}

/// In a process of its own: what was freed before would be used again and not be seen.
fn memory() {
    for kind in ["stdio", "HTTP"] {
        let measured =
            Command::new(std::env::current_exe().unwrap()).args([IDLE, kind]).output().unwrap();
        let each = String::from_utf8(measured.stdout).unwrap();
        println!("{:<46}{:>12}", format!("{kind}: resident, of the hub's process"), each.trim());
    }
}

fn idle() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let outside = server::Outside::start();
        let over_http = std::env::args().nth(2).as_deref() == Some("HTTP");
        let specs = (0..MANY).map(|at| format!("s{at}")).map(|name| match over_http {
            true => hub::http(&name, &outside.url),
            false => hub::stdio(&name),
        });
        let specs: Vec<_> = specs.collect();
        // Some before, so that what is made only once is not counted.
        let (first, hub) = (10, hub::Hub::start([]).await);
        hub.declare(specs.iter().take(first).cloned()).await;
        let before = sample::resident();
        hub.declare(specs).await;
        let more = sample::resident().saturating_sub(before);
        println!("{:.1}", more as f64 / (MANY - first) as f64 / 1024.0);
        hub.stop().await;
    });
}

async fn connect() {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let hub = hub::Hub::start([]).await;
        let specs: Vec<_> = (0..MANY).map(|at| hub::stdio(&format!("s{at}"))).collect();
        let began = std::time::Instant::now();
        hub.declare(specs).await;
        best = best.min(began.elapsed());
        hub.stop().await;
    }
    let took = format!("{:.0} ms", best.as_secs_f64() * 1000.0);
    println!("{:<46}{took:>12}", "connected, with their lists read");
}
