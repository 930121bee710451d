//! The program `scripted-mcp`: from its arguments to a server that runs. Only wiring.

mod arguments;
mod ask;
mod cancel;
mod catalog;
mod dispatch;
mod emit;
mod era;
mod gate;
mod http;
mod lasting;
mod lists;
mod methods;
mod notices;
mod outlet;
mod process;
mod session;
mod stdio;
mod stream;
mod tools;
mod world;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use arguments::{Arguments, Transport};
use world::World;

/// Runs the program with these arguments.
pub fn run(arguments: Vec<String>) -> ExitCode {
    if arguments.first().is_some_and(|first| first == process::SURVIVE) {
        return process::survive(&arguments);
    }
    let arguments = match Arguments::parse(arguments) {
        Ok(arguments) => arguments,
        Err(problem) => {
            drop(writeln!(std::io::stderr(), "{problem}\n\n{}", arguments::HELP));
            return ExitCode::from(2);
        }
    };
    let world = Arc::new(World::new(arguments.script));
    drop(writeln!(std::io::stderr(), "{}: start {}", world.script.name, world.start));
    match arguments.transport {
        Transport::Stdio => stdio::serve(&world),
        Transport::Http => http::serve(&world, http::Style::Streamable, &arguments.place),
        Transport::Sse => http::serve(&world, http::Style::Legacy, &arguments.place),
    }
}
