//! Where the program is: beside the test that asks for it, else it is built. Never runs it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

const NAME: &str = "scripted-mcp";

/// The path of `scripted-mcp`, built for the profile of the running test. A run of the whole
/// workspace has built it already; one of a single crate may not have, or long ago.
pub fn binary() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = profile_folder();
        let program = folder.join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
        if !is_fresh(&program) {
            build(&folder, &program);
        }
        program
    })
}

/// `target/<profile>`: tests lie in its `deps`, examples in its `examples`, programs in itself.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let folder = test.parent().expect("a program is in a folder");
    let inside = folder.file_name().is_some_and(|name| name == "deps" || name == "examples");
    let folder = if inside { folder.parent().expect("`deps` is in a folder") } else { folder };
    folder.to_owned()
}

fn is_fresh(program: &Path) -> bool {
    let Some(built) = modified(program) else { return false };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let own = [source.join("script"), source.join("script.rs"), source.join("bin")];
    own.iter().filter_map(|path| newest(path)).all(|changed| changed <= built)
}

fn newest(path: &Path) -> Option<SystemTime> {
    let Ok(entries) = fs::read_dir(path) else { return modified(path) };
    entries.flatten().filter_map(|entry| newest(&entry.path())).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Builds into the folder of the running test, one test at a time.
fn build(folder: &Path, program: &Path) {
    let lock = File::create(folder.join(format!("{NAME}.lock"))).expect("a lock beside the tests");
    lock.lock().expect("a lock that can be taken");
    if is_fresh(program) {
        return;
    }
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let status = Command::new("cargo")
        .args(["build", "--quiet", "-p", "switchboard-testkit", "--bin", NAME])
        .args(["--profile", profile, "--target-dir"])
        .arg(folder.parent().expect("a profile is in the target folder"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success(), "`{NAME}` could not be built");
}
