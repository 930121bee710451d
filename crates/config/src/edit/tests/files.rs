//! Real files: permissions, symlinks, failures, and several editors at once.

use std::fs;

use switchboard_testkit::Scratch;

use super::*;

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[cfg(unix)]
#[test]
fn permissions_and_symlinks_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = Scratch::new();
    let (real, link) = (directory.path().join("real.toml"), directory.path().join("link.toml"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.toml", &link).unwrap();
    write_atomic(&link, "new").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(mode(&real), 0o640);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("real.toml"));
    assert_eq!(entries(directory.path()), ["link.toml", "real.toml"]);

    let dangling = directory.path().join("dangling.toml");
    symlink("later.toml", &dangling).unwrap();
    edit(&dangling, &add(stdio("a", "x"))).unwrap();
    let later = directory.path().join("later.toml");
    assert!(fs::read_to_string(&later).unwrap().contains("[servers.a]"));
    assert_eq!(mode(&later), 0o600);
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());

    let loops = directory.path().join("loop.toml");
    symlink("loop.toml", &loops).unwrap();
    assert!(write_atomic(&loops, "x").is_err());
}

#[test]
fn failures_leave_nothing_behind() {
    let directory = Scratch::new();
    let target = directory.path().join("switchboard.toml");
    fs::create_dir(&target).unwrap();
    assert!(write_atomic(&target, "x").is_err());
    let error = edit(&target, &add(stdio("a", "x"))).unwrap_err();
    assert!(matches!(error, EditError::Io { .. }), "{error}");
    assert_eq!(entries(directory.path()), ["switchboard.toml"]);
    assert!(write_atomic(&directory.path().join("no/such/file"), "x").is_err());

    let path = directory.path().join("new.toml");
    edit(&path, &add(http("a", "not a url"))).unwrap_err();
    for change in [remove("a"), enable("a", true), replace(stdio("a", "x"))] {
        edit(&path, &change).unwrap_err();
    }
    assert_eq!(entries(directory.path()), ["switchboard.toml"]);
    fs::write(&path, b"\xFF\xFE").unwrap();
    let error = edit(&path, &remove("a")).unwrap_err();
    assert!(matches!(error, EditError::Invalid { .. }), "{error}");
}

#[test]
fn a_file_is_made_changed_and_left_alone() {
    let directory = Scratch::new();
    let path = directory.path().join("switchboard.toml");
    let made = edit(&path, &add(stdio("a", "x"))).unwrap();
    assert_eq!((made.before.as_str(), made.dialect), ("", Dialect::Native));
    assert_eq!(fs::read_to_string(&path).unwrap(), made.after);
    #[cfg(unix)]
    assert_eq!(mode(&path), 0o600);

    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let before = modified(&path);
    let same = edit(&path, &enable("a", true)).unwrap();
    assert_eq!(same.before, same.after);
    assert_eq!(modified(&path), before);

    let removed = edit(&path, &remove("a")).unwrap();
    assert_eq!(removed.before, made.after);
    assert_eq!(fs::read_to_string(&path).unwrap(), "");

    let mark = "\u{FEFF}servers: {}\n";
    let yaml = directory.path().join("switchboard.yaml");
    fs::write(&yaml, mark).unwrap();
    edit(&yaml, &add(stdio("a", "x"))).unwrap();
    assert_eq!(fs::read_to_string(&yaml).unwrap(), "\u{FEFF}servers:\n  a:\n    command: x\n");
}

/// Eight editors of one file, which none of them has yet: nothing is lost.
#[test]
fn editors_wait_for_each_other() {
    let directory = Scratch::new();
    for file in ["switchboard.toml", "switchboard.yaml", "switchboard.json"] {
        let path = directory.path().join(file);
        std::thread::scope(|scope| {
            for editor in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for round in 0..5 {
                        let server = format!("s{editor}-{round}");
                        edit(path, &add(stdio(&server, "x"))).unwrap();
                        if round % 2 == 1 {
                            edit(path, &remove(&format!("s{editor}-{}", round - 1))).unwrap();
                        }
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let parsed = parse::text(&path, &text, &Context::default());
        let declared = parsed.declared.unwrap();
        let found: BTreeMap<&str, ()> =
            declared.servers.iter().map(|server| (server.key.name.as_str(), ())).collect();
        let expected: Vec<String> =
            (0..8).flat_map(|e| [1, 3, 4].map(|round| format!("s{e}-{round}"))).collect();
        assert_eq!(found.into_keys().collect::<Vec<_>>(), expected);
    }
    assert_eq!(entries(directory.path()).len(), 3);
}

#[test]
fn several_changes_are_made_together_or_not_at_all() {
    let directory = Scratch::new();
    let path = directory.path().join("switchboard.toml");
    let changes = [add(stdio("a", "x")), add_own(stdio("b", "x"), "cto"), enable("a", false)];
    let shown = preview(&path, &changes).unwrap();
    assert!(entries(directory.path()).is_empty(), "a preview writes nothing");
    assert_eq!(edit_all(&path, &changes).unwrap(), shown);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, shown.after);

    edit_all(&path, &[remove("a"), remove("nothing")]).unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
