//! What the files and the store say together, as data.

use std::path::Path;
use std::time::UNIX_EPOCH;

use switchboard_config::merge::{Input, merge as merge_files};
use switchboard_config::{Dialect, parse};
use switchboard_model::{Scope, ServerKey, ServerName, UserId};

use super::*;

fn files(text: &str) -> Loaded {
    let parsed = parse::text(Path::new("switchboard.toml"), text, &parse::Context::default());
    let declared = parsed.declared.unwrap();
    let input = Input { dialect: Dialect::Native, declared: &declared };
    let merged = merge_files(&[input], &Default::default());
    Loaded { desired: Arc::new(merged.desired), origins: merged.origins, ..Loaded::default() }
}

fn row(scope: Scope, name: &str, url: &str) -> Arc<ServerRow> {
    let text = format!("[servers.{name}]\nurl = \"{url}\"\n");
    let spec = files(&text).desired.servers.values().next().unwrap().clone();
    let key = ServerKey { scope, name: ServerName::parse(name).unwrap() };
    let (added_at, updated_at) = (UNIX_EPOCH, UNIX_EPOCH);
    let id = format!("srv_{name}");
    Arc::new(ServerRow { id, key, spec, added_at, updated_at, revision: 1, approval: None })
}

#[test]
fn the_files_count_first_and_everybody_has_their_own() {
    let files = files("[servers.wiki]\nurl = \"http://127.0.0.1:1/\"\n");
    let (ada, bob) = (UserId::parse("ada").unwrap(), UserId::parse("bob").unwrap());
    let rows = [
        row(Scope::Global, "wiki", "http://127.0.0.1:2/"),
        row(Scope::Global, "mail", "http://127.0.0.1:3/"),
        row(Scope::User(ada.clone()), "wiki", "http://127.0.0.1:4/"),
        row(Scope::User(bob.clone()), "wiki", "http://127.0.0.1:5/"),
    ];
    let declared = merge(&files, &rows, &[]);
    let targets: Vec<(String, String)> = declared
        .desired
        .servers
        .iter()
        .map(|(key, spec)| (key.to_string(), spec.target()))
        .collect();
    let expected = [
        ("mail", "http://127.0.0.1:3/"),
        ("wiki", "http://127.0.0.1:1/"),
        ("wiki (user ada)", "http://127.0.0.1:4/"),
        ("wiki (user bob)", "http://127.0.0.1:5/"),
    ];
    assert_eq!(targets, expected.map(|(key, url)| (key.to_owned(), url.to_owned())));
    assert_eq!(declared.shadowed.len(), 1);
    let file = &declared.sources[&rows[0].key];
    assert!(matches!(file, Source::File { line: Some(1), .. }), "{file:?}");
}
