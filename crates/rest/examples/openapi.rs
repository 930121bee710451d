//! Prints the OpenAPI document of every route, as `docs/openapi.json` has it.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

fn main() -> Result<(), serde_json::Error> {
    println!("{}", switchboard_rest::openapi().to_pretty_json()?);
    Ok(())
}
