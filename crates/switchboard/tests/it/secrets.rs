//! A secret is never printed, whatever goes wrong around it.

use crate::context::Context;
use crate::hub::{Hub, wait};

/// Planted as variables' values and as texts in the files.
const CANARY: &str = "canary-9f3b7c";

fn scene() -> Context {
    let toml = format!(
        "[servers.a]\ncommand = \"a\"\nenv = {{ TOKEN = \"${{FROM_ENV}}\", KEY = \"{CANARY}\", BAD = [1] }}\n\n\
         [servers.b]\nurl = \"https://u:{CANARY}@example.com/mcp?key={CANARY}\"\nheaders = {{ Authorization = \"Bearer {CANARY}\", X = {{}} }}\n\n\
         [servers.c]\nurl = \"https://u:{CANARY}@example.com/mcp?key={CANARY}\"\nauth = {{ type = \"bearer\", token = \"{CANARY}\", nope = 1 }}\n\n\
         [servers.d]\ncommand = \"srv\"\nargs = [\"--api-key\", \"{CANARY}\", \"--token={CANARY}\"]\nenv = {{ K = \"{CANARY}\" }}\n\n\
         [servers.e]\nurl = \"ftp://u:{CANARY}@example.com/?key={CANARY}\"\n"
    );
    let json = format!(
        "{{\"mcpServers\": {{\"f\": {{\"command\": \"f\", \"env\": {{\"K\": \"{CANARY}\", \"L\": {{}}}}}}}}}}"
    );
    Context::new()
        .with("switchboard.toml", &toml)
        .with("mcp-servers.json", &json)
        .with("import.json", &json.replace("{}", "\"1\""))
        .variable("FROM_ENV", CANARY)
        .variable("SWITCHBOARD_LOG", "trace")
}

#[test]
fn nothing_prints_them() {
    let context = scene();
    for args in [
        &["check"][..],
        &["check", "--json"],
        &["check", "--strict"],
        &["list"],
        &["list", "--json"],
        &["import", "import.json", "--dry-run"],
        &["import", "import.json", "--json"],
        &["remove", "d", "--dry-run"],
        &["add", "g", "--env", "K=canary-9f3b7c", "cmd"],
        &["remove", "g"],
    ] {
        let ran = context.run(args);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains(CANARY), "{args:?} prints a secret:\n{all}");
        assert!(!all.is_empty(), "{args:?} says something");
    }
}

#[test]
fn the_hub_prints_none_either() {
    let context = scene();
    let log = context.home().join("hub.log");
    let hub = Hub::start_logging(&context, &log);
    let says = |words: &str| std::fs::read_to_string(&log).unwrap().contains(words);
    context.write(
        "switchboard.toml",
        &context.read("switchboard.toml").replace("[servers.d]", "[servers.z]"),
    );
    wait("the change is told", || says("configuration changed: + z, - d"));
    hub.stop();
    assert!(!says(CANARY), "{}", std::fs::read_to_string(&log).unwrap());
}
