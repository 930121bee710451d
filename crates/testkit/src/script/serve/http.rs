//! Serves over HTTP on loopback, a thread for each connection. Only listening and routing.

mod legacy;
mod mangle;
mod mirror;
mod request;
mod streamable;
mod telling;
mod wire;

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::arguments::Place;
use super::process;
use super::world::{Origins, World};
use crate::script::fault::Fault;
use request::Request;
use wire::{End, Wire};

/// Which of the two transports.
#[derive(Clone, Copy)]
pub(super) enum Style {
    /// Streamable HTTP at `/mcp`.
    Streamable,
    /// HTTP+SSE at `/sse` and `/messages`.
    Legacy,
}

/// Which of its origins a request came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Own,
    Other,
}

/// Serves until it is killed.
pub(super) fn serve(world: &Arc<World>, style: Style, place: &Place) -> ExitCode {
    let at_start = world.at_start();
    if let Some(crash) = at_start.iter().find(|fault| matches!(fault, Fault::CrashStart { .. })) {
        process::act(crash);
    }
    let listener = listen(place.port);
    let other = world.script.faults.iter().any(leads_elsewhere).then(|| listen(0));
    let origin = |listener: &TcpListener| format!("http://127.0.0.1:{}", port(listener));
    let origins = Origins { own: origin(&listener), other: other.as_ref().map(origin) };
    say_where(style, &origins, port(&listener));
    drop(world.origins.set(origins));
    if place.while_stdin && !at_start.contains(&Fault::IgnoreStdinClose {}) {
        thread::spawn(|| {
            drop(io::stdin().read_to_end(&mut Vec::new()));
            std::process::exit(0);
        });
    }
    at_start.iter().for_each(process::act);
    if let Some(other) = other {
        let world = Arc::clone(world);
        thread::spawn(move || accept(&world, &other, style, Door::Other));
    }
    accept(world, &listener, style, Door::Own);
    ExitCode::SUCCESS
}

fn leads_elsewhere(rule: &crate::script::Rule) -> bool {
    matches!(&rule.fault, Fault::Redirect { to, .. } if to == "other")
}

/// A port that an earlier instance had may take a moment to be free.
fn listen(port: u16) -> TcpListener {
    for _ in 0..100 {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return listener;
        }
        thread::sleep(Duration::from_millis(20));
    }
    process::exit(1, "the port is taken")
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("a listener has an address").port()
}

fn say_where(style: Style, origins: &Origins, port: u16) {
    let path = match style {
        Style::Streamable => "/mcp",
        Style::Legacy => "/sse",
    };
    let said = json!({
        "url": format!("{}{path}", origins.own),
        "port": port,
        "pid": std::process::id(),
        "other": origins.other.as_ref().map(|other| format!("{other}{path}")),
    });
    drop(writeln!(io::stdout(), "{said}"));
}

fn accept(world: &Arc<World>, listener: &TcpListener, style: Style, door: Door) {
    for socket in listener.incoming().flatten() {
        let world = Arc::clone(world);
        thread::spawn(move || converse(&world, &socket, style, door));
    }
}

fn converse(world: &Arc<World>, socket: &TcpStream, style: Style, door: Door) {
    drop(socket.set_nodelay(true));
    let mut reader = BufReader::new(socket);
    while let Some(request) = Request::read(&mut reader, socket) {
        let end = match (style, request.path.as_str()) {
            (Style::Streamable, "/mcp" | "/mcp/") => {
                streamable::answer(world, socket, &request, door)
            }
            (Style::Legacy, "/sse" | "/messages") => legacy::answer(world, socket, &request, door),
            _ => Wire::plain(socket).whole(404, &[], wire::TEXT, b"not here"),
        };
        match end {
            Ok(End::Next) => {}
            Ok(End::Close) | Err(_) => return,
            Ok(End::Reset) => {
                let at_once = Some(Duration::ZERO);
                return rustix::net::sockopt::set_socket_linger(socket, at_once)
                    .expect("a connection can be reset");
            }
        }
    }
}
