//! An MCP server that follows a script; see `switchboard_testkit::script`.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard_testkit::script::serve::run(std::env::args().skip(1).collect())
}
