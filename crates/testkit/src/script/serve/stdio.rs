//! Serves over stdin and stdout, one message per line. Only framing and the order of things.

use std::io::{self, Read as _, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::stdio::{Decoder, Line, encode};
use switchboard_wire::{code, method};

use super::dispatch::{self, Arrival, Flow};
use super::outlet::{Item, Outlet, Then, filler};
use super::process;
use super::session::Session;
use super::world::World;
use crate::script::fault::Fault;

/// Serves until stdin ends.
pub(super) fn serve(world: &Arc<World>) -> ExitCode {
    let at_start = world.at_start();
    at_start.iter().for_each(process::act);
    let outlet: Arc<dyn Outlet> = Arc::new(Stdout);
    let session = Arc::new(Session::new("stdio".to_owned(), Arc::clone(&outlet)));
    world.add_session(&session);
    let mut server = Server { world, session, outlet, stdin: Stdin::Open };
    server.read();
    world.note(&json!({"event": "stdin_closed"}));
    if server.stdin == Stdin::Closed || at_start.contains(&Fault::IgnoreStdinClose {}) {
        process::linger();
    }
    // What was asked before the end is still answered, if that is quickly done.
    for _ in 0..40 {
        if world.busy.load(Ordering::SeqCst) == 0 {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    ExitCode::SUCCESS
}

struct Server<'a> {
    world: &'a Arc<World>,
    session: Arc<Session>,
    outlet: Arc<dyn Outlet>,
    stdin: Stdin,
}

#[derive(PartialEq, Eq)]
enum Stdin {
    Open,
    /// By this side.
    Closed,
}

impl Server<'_> {
    fn read(&mut self) {
        let mut decoder = Decoder::new(usize::MAX);
        let mut chunk = vec![0; 64 * 1024];
        loop {
            while let Some(line) = decoder.next_line() {
                if let Line::Whole(line) = line {
                    self.line(&line);
                }
                if self.stdin == Stdin::Closed {
                    return process::close_stdin();
                }
            }
            match io::stdin().read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(count) => decoder.feed(&chunk[..count]),
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return dispatch::refuse(self.outlet.as_ref(), code::PARSE_ERROR, "Parse error");
        };
        self.world.note(&json!({"at": "stdio", "message": message}));
        if !message.is_object() {
            return dispatch::refuse(self.outlet.as_ref(), code::INVALID_REQUEST, "No message");
        }
        let arrival = Arrival::new(self.world, message);
        if arrival.faults.contains(&Fault::CloseStdin {}) {
            self.stdin = Stdin::Closed;
        }
        if dispatch::meet(self.world, &self.session, &arrival) == Flow::On {
            self.go_on(arrival);
        }
    }

    /// Requests are worked on side by side; what changes the session comes in its turn.
    fn go_on(&self, arrival: Arrival) {
        let (world, session) = (Arc::clone(self.world), Arc::clone(&self.session));
        let outlet = Arc::clone(&self.outlet);
        if !arrival.is_request() || arrival.method() == Some(method::INITIALIZE) {
            return dispatch::handle(&world, &session, &outlet, arrival);
        }
        world.busy.fetch_add(1, Ordering::SeqCst);
        session.begin(&arrival.message["id"]);
        thread::spawn(move || {
            dispatch::handle(&world, &session, &outlet, arrival);
            world.busy.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

struct Stdout;

impl Outlet for Stdout {
    fn put(&self, item: Item) {
        let mut out = io::stdout().lock();
        let written = match item {
            Item::Message(body) | Item::Answer { body, .. } | Item::Garbage(body) => {
                let mut line = Vec::new();
                encode(&mut line, &body);
                out.write_all(&line)
            }
            Item::Half { body, then } => half(&mut out, &body, &then),
            Item::Huge { head, bytes, tail } => huge(&mut out, &head, bytes, &tail),
        };
        if written.and_then(|()| out.flush()).is_err() {
            std::process::exit(0);
        }
    }
}

fn half(out: &mut impl Write, body: &[u8], then: &Then) -> io::Result<()> {
    out.write_all(&body[..body.len() / 2])?;
    out.flush()?;
    match then {
        // With the lock held, so that nobody writes after it.
        Then::Stall => process::linger(),
        Then::Exit { code, stderr } => process::exit(*code, stderr),
    }
}

fn huge(out: &mut impl Write, head: &[u8], bytes: u64, tail: &[u8]) -> io::Result<()> {
    out.write_all(head)?;
    for piece in filler(bytes) {
        out.write_all(piece)?;
    }
    out.write_all(tail)?;
    out.write_all(b"\n")
}
