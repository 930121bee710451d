//! What is shown of a file, and what is not, whether it can be read or not.

use std::path::Path;

use crate::parse;

fn check(name: &str, text: &str, shown: &str) {
    assert_eq!(parse::masked(Path::new(name), text), shown);
}

#[test]
fn of_a_file_that_can_be_read() {
    check("s.toml", "[servers.a]\ncommand = \"npx\"\n", "[servers.a]\ncommand = \"npx\"\n");
    check(
        "s.toml",
        "env = { A = \"hunter2\", B = \"${X}\", C = \"${X:-hunter2}\" }",
        "env = { A = \"*******\", B = \"${X}\", C = \"${X**********\" }",
    );
    check(
        "s.toml",
        "headers = { Authorization = \"Bearer hunter2\" }",
        "headers = { Authorization = \"Bearer *******\" }",
    );
    check(
        "s.toml",
        "url = \"https://u:hunter2@x.example/mcp?k=hunter2&v=${V}\"",
        "url = \"https://u:*******@x.example/mcp?k=*******&v=${V}\"",
    );
    check("s.toml", "url = \"http://localhost:3001\"", "url = \"http://localhost:3001\"");
    check(
        "s.toml",
        "args = [\"--api-key\", \"hunter2\", \"--token=hunter2\", \"-y\"]",
        "args = [\"--api-key\", \"*******\", \"--token=*******\", \"-y\"]",
    );
    check(
        "s.yaml",
        "api_key: hunter2\nbearer_token_env_var: NAME\n",
        "api_key: *******\nbearer_token_env_var: NAME\n",
    );
    check(
        "s.json",
        "{\"env\": {\"A\": 1234567, \"B\": \"ü${X\"}}",
        "{\"env\": {\"A\": *******, \"B\": \"**${X\"}}",
    );
}

#[test]
fn of_a_file_that_cannot() {
    check("s.toml", "[servers.a\ncommand = \"npx\"\n", "[servers.a\ncommand = \"npx\"\n");
    check(
        "s.toml",
        "env = { A = \"hunter2\", B = \"${X}\"\n",
        "env = { A = \"*******\", B = \"${X}\"\n",
    );
    check("s.toml", "KEY = \"hunter2\nx = ]", "KEY = \"*******\nx = ]");
    check("s.yaml", "a: [\nKEY: hunter2\n", "a: [\nKEY: *******\n");
    check(
        "s.json",
        "{\"mcpServers\": {\"f\": {\"env\": {\"K\": \"hunter2\"}}}",
        "{\"mcpServers\": {\"f\": {\"env\": {\"K\": \"*******\"}}}",
    );
}
