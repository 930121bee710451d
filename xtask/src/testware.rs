//! Installs what the tests run and the project does not build: Node, MCP servers and clients, the
//! conformance suite, a browser. Never touches what the user has installed; a browser that is not
//! there is installed only for root on Debian and its kin.

mod browser;
mod part;

use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::{environment, say};
use part::Part;

/// Where tests read which directory holds the tools.
const VARIABLE: &str = "SWITCHBOARD_TEST_TOOLS";

/// Installs what is missing, each part once, and puts it under names that tests know.
pub(crate) fn install() -> Result<()> {
    let home = home()?;
    let _one = lock(&home)?;
    let parts = part::all()?;
    let node = parts.first();
    let missing: Vec<&Part> = parts.iter().filter(|part| !part.is_complete(&home)).collect();
    if missing.is_empty() {
        say::note(format_args!("all parts are installed ({})", parts.len()));
    }
    // Node comes before what it installs; the Python environments need nobody.
    let (python, npm): (Vec<&Part>, Vec<&Part>) =
        missing.into_iter().partition(|part| part.is_python());
    let rest = Mutex::new(python.into_iter());
    let next = || rest.lock().ok()?.next();
    let work = |first: Vec<&Part>| -> Result<()> {
        let install = |part: &Part| part.install(&home, node);
        first.into_iter().try_for_each(install)?;
        iter::from_fn(next).try_for_each(install)
    };
    thread::scope(|scope| {
        let workers = [npm, Vec::new()].map(|first| scope.spawn(|| work(first)));
        let ends = workers.map(|one| one.join().map_err(|_| anyhow!("an installer panicked"))?);
        ends.into_iter().collect::<Result<()>>()
    })?;
    let browser = browser::find_or_install()?;
    let set = set_of(&home, &parts);
    fs::create_dir_all(&set).with_context(|| format!("cannot create {}", set.display()))?;
    for part in &parts {
        link(&part.place(&home), &set.join(part.name()))?;
    }
    link(&browser, &set.join("chromium"))?;
    link(&set, &home.join("current"))?;
    say::note(format_args!("tests find the tools in {}", set.display()));
    Ok(())
}

/// Tells a command where the tools are, whether they are installed or not: a test that misses one
/// says what to do.
pub(crate) fn announce(command: &mut Command) -> Result<()> {
    command.env(VARIABLE, set()?);
    Ok(())
}

/// The directory that holds every tool under its name.
pub(crate) fn set() -> Result<PathBuf> {
    Ok(set_of(&home()?, &part::all()?))
}

fn home() -> Result<PathBuf> {
    Ok(environment::cache()?.join("testware"))
}

fn parts_of(home: &Path) -> PathBuf {
    home.join("parts")
}

/// Clones with other pins have another set, so that neither disturbs the other.
fn set_of(home: &Path, parts: &[Part]) -> PathBuf {
    let digest = part::digest(parts.iter().map(|part| part.directory().into_bytes()));
    home.join("sets").join(digest)
}

/// Waits until nobody else installs; the turn ends when the value drops.
fn lock(home: &Path) -> Result<File> {
    let place = home.join("lock");
    let open = || -> std::io::Result<File> {
        fs::create_dir_all(home)?;
        let file = File::create(&place)?;
        if file.try_lock().is_err() {
            say::note(format_args!(
                "waiting for another run that installs into {}",
                home.display()
            ));
            file.lock()?;
        }
        Ok(file)
    };
    open().with_context(|| format!("cannot lock {}", place.display()))
}

/// Makes `name` point to `target`, in one step for whoever looks.
fn link(target: &Path, name: &Path) -> Result<()> {
    if fs::read_link(name).is_ok_and(|present| present == target) {
        return Ok(());
    }
    let fresh = name.with_extension("new");
    let _ = fs::remove_file(&fresh);
    symlink(target, &fresh)
        .and_then(|()| fs::rename(&fresh, name))
        .with_context(|| format!("cannot link {} to {}", name.display(), target.display()))
}

#[cfg(unix)]
fn symlink(target: &Path, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, name)
}

#[cfg(not(unix))]
fn symlink(_target: &Path, _name: &Path) -> std::io::Result<()> {
    Err(std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "the tools are installed on Unix only",
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_made_kept_and_moved() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let (one, two, name) =
            (scratch.path().join("one"), scratch.path().join("two"), scratch.path().join("name"));
        for target in [&one, &one, &two] {
            link(target, &name).expect("writable");
            assert_eq!(fs::read_link(&name).expect("a link"), *target);
        }
        assert_eq!(fs::read_dir(scratch.path()).expect("readable").count(), 1, "nothing is left");
    }

    #[test]
    fn another_pin_is_another_set() {
        let home = Path::new("/home");
        let parts = |pins: &str| [Part::for_test("npm", pins), Part::for_test("python-a", "b")];
        let set = set_of(home, &parts("a"));
        assert_eq!(set_of(home, &parts("a")), set);
        assert_ne!(set_of(home, &parts("c")), set);
        assert!(set.starts_with("/home/sets"));
    }
}
