//! Things that are not files, and files that are too much of one.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use switchboard_config::{Loaded, Loader, Places, Selection, file};
use switchboard_testkit::{ManualClock, Scratch};

use super::each;

fn load(selection: Selection) -> Loaded {
    Loader::new(selection, Arc::new(ManualClock::new())).load()
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    loaded.problems.iter().map(|problem| problem.code.as_str()).collect()
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let scratch = Scratch::new();
    for name in ["switchboard.toml", "switchboard.yaml", ".mcp.json"] {
        let path = scratch.write(name, "");
        File::options().write(true).open(&path).unwrap().set_len(file::MAX_BYTES + 1).unwrap();
        let loaded = load(Selection::Named(vec![path.clone()]));
        assert_eq!(codes(&loaded), ["file-too-large"], "{name}");
        let message = &loaded.problems[0].message;
        assert!(message.contains("is larger than 32 MiB"), "{message}");
        let remedy = &loaded.problems[0].remedy;
        assert_eq!(remedy, "No configuration is that large; is it the right file?");
        fs::remove_file(path).unwrap();
    }
}

/// As many bytes as are allowed are read, whatever they are.
#[test]
fn a_file_at_the_limit_is_read() {
    let scratch = Scratch::new();
    let mut text = String::from("[servers.a]\ncommand = 'x'\n#");
    text.push_str(&"x".repeat(file::MAX_BYTES as usize - text.len()));
    let path = scratch.write("switchboard.toml", text);
    let loaded = load(Selection::Named(vec![path]));
    assert_eq!((codes(&loaded), loaded.desired.servers.len()), (vec![], 1));
}

#[test]
fn what_is_no_file_does_not_hang() {
    let scratch = Scratch::new();
    let name = |name: &str| scratch.path().join(name);
    fs::create_dir(name("directory.toml")).unwrap();
    let pipe = name("pipe.json");
    let made = Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    let file = scratch.write("file.toml", "");
    let paths: Vec<PathBuf> = [
        Some(name("directory.toml")),
        Some(name("missing.toml")),
        Some(name("missing/missing.toml")),
        Some(file.join("below-a-file.toml")),
        Some(PathBuf::new()),
        Some(PathBuf::from("/dev/zero")),
        Some(PathBuf::from("/dev/tty")),
        Some("x".repeat(5_000).into()),
        made.then_some(pipe),
    ]
    .into_iter()
    .flatten()
    .collect();
    let items: Vec<_> = paths.into_iter().map(|p| (p.display().to_string(), p)).collect();
    each(items, |path| {
        let loaded = load(Selection::Named(vec![path.clone()]));
        assert_eq!(codes(&loaded), ["unreadable-file"], "{}", path.display());
        assert!(loaded.desired.servers.is_empty());
    });
}

/// The same where files are looked for: what is no file of ours is told, and the others load.
#[test]
fn what_is_no_file_does_not_spoil_a_search() {
    let scratch = Scratch::new();
    scratch.write("work/external-mcps.json", r#"{"a": {"command": "x"}}"#);
    for name in ["switchboard.toml", "config.toml", "mcp-servers.json"] {
        fs::create_dir_all(scratch.path().join("work").join(name)).unwrap();
    }
    let places = Places { cwd: scratch.path().join("work"), ..Places::default() };
    let loaded = load(Selection::Search(places));
    assert_eq!(loaded.desired.servers.len(), 1);
    assert_eq!(codes(&loaded), ["unreadable-file", "unreadable-file"]);
}
