//! One part of what the tests run: a directory that npm or pip fills from pinned files, named after
//! a digest of them. Never changes a part that is complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::say::{self, Stopwatch};
use crate::{environment, process};

/// Written last: a directory without it is what an interrupted run left.
const COMPLETE: &str = ".complete";

/// One part, as the pinned files say now.
pub(crate) struct Part {
    name: &'static str,
    kind: Kind,
    digest: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Node itself.
    Node,
    /// Packages that Node runs.
    Npm,
    /// A virtual environment with packages.
    Python,
}

/// Every part; Node comes first, as it installs the npm packages.
const PARTS: &[(&str, Kind)] = &[
    ("node", Kind::Node),
    ("npm", Kind::Npm),
    ("python-servers", Kind::Python),
    ("python-sqlite", Kind::Python),
    ("python-time-2024", Kind::Python),
    ("python-mcp-2", Kind::Python),
    ("python-mcp-1", Kind::Python),
    ("python-fastmcp", Kind::Python),
    ("python-schemathesis", Kind::Python),
];

/// Reads the pinned files.
pub(crate) fn all() -> Result<Vec<Part>> {
    let interpreter = interpreter()?;
    let part = |&(name, kind): &(&'static str, Kind)| -> Result<Part> {
        let mut pins = Vec::new();
        for file in kind.files(name) {
            pins.push(fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
        }
        // An environment belongs to the interpreter that made it.
        if kind == Kind::Python {
            pins.push(interpreter.clone().into_bytes());
        }
        Ok(Part { name, kind, digest: digest(pins) })
    };
    PARTS.iter().map(part).collect()
}

/// FNV-1a over texts and the borders between them: short, and the same in every version.
pub(crate) fn digest(texts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let bytes = texts.into_iter().flat_map(|text| text.into_iter().map(u16::from).chain([256]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, unit| {
        (hash ^ u64::from(unit)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Kind {
    /// The files that pin a part; a changed one means another installation.
    fn files(self, name: &str) -> Vec<PathBuf> {
        let pins = environment::root().join("xtask/testware");
        match self {
            Self::Node | Self::Npm => {
                ["package.json", "package-lock.json"].map(|file| pins.join(name).join(file)).into()
            }
            Self::Python => {
                let name = name.strip_prefix("python-").unwrap_or(name);
                vec![pins.join("python").join(format!("{name}.txt"))]
            }
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Node | Self::Npm => {
                "it comes from the npm registry through `npm` (Debian: `apt-get install npm`)"
            }
            Self::Python => {
                "it comes from PyPI through `python3 -m pip` of Python 3.11 or newer \
                 (Debian: `apt-get install python3 python3-pip`)"
            }
        }
    }
}

impl Part {
    /// What tests call it.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn is_python(&self) -> bool {
        self.kind == Kind::Python
    }

    /// Its directory's name.
    pub(crate) fn directory(&self) -> String {
        format!("{}-{}", self.name, self.digest)
    }

    /// Its directory.
    pub(crate) fn place(&self, home: &Path) -> PathBuf {
        super::parts_of(home).join(self.directory())
    }

    pub(crate) fn is_complete(&self, home: &Path) -> bool {
        self.place(home).join(COMPLETE).is_file()
    }

    /// Makes it, from nothing; whoever calls this holds the lock.
    ///
    /// It is filled under its last name, as Python's programs know where they lie; nobody takes it
    /// for complete before the mark is there.
    pub(crate) fn install(&self, home: &Path, node: Option<&Part>) -> Result<()> {
        let (name, place) = (self.name, self.place(home));
        say::note(format_args!("{name}: installing it once, into the cache"));
        let watch = Stopwatch::start();
        let fill = || -> Result<()> {
            if place.exists() {
                fs::remove_dir_all(&place)?;
            }
            fs::create_dir_all(&place)?;
            match self.kind {
                Kind::Node | Kind::Npm => self.by_npm(&place, node.map(|node| node.place(home)))?,
                Kind::Python => self.by_pip(&place)?,
            }
            fs::write(place.join(COMPLETE), "")?;
            Ok(())
        };
        fill().with_context(|| {
            format!(
                "`{name}` could not be installed; {}: check that and the network, and run \
                 `cargo xtask test --only tools` again",
                self.kind.remedy()
            )
        })?;
        say::note(format_args!("{name}: installed in {}", say::elapsed(watch.read())));
        Ok(())
    }

    fn by_npm(&self, place: &Path, node: Option<PathBuf>) -> Result<()> {
        for file in self.kind.files(self.name) {
            fs::copy(&file, place.join(file.file_name().unwrap_or_default()))?;
        }
        let mut npm = Command::new("npm");
        npm.current_dir(place).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        if let (Kind::Npm, Some(node)) = (self.kind, node) {
            let own = node.join("node_modules/.bin");
            let path = std::env::join_paths([own].into_iter().chain(environment::search_path()))?;
            npm.env("PATH", path);
        }
        process::output(npm)?;
        let program = place.join("node_modules/.bin/node");
        ensure!(
            self.kind != Kind::Node || program.is_file(),
            "npm brought no Node: the registry is out of reach, or has none for this platform \
             under the names in xtask/testware/node/package.json"
        );
        Ok(())
    }

    fn by_pip(&self, place: &Path) -> Result<()> {
        // Without pip of its own: that needs `ensurepip`, which Debian packs apart.
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--without-pip"]).arg(place);
        process::output(venv)?;
        for file in self.kind.files(self.name) {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "--python"]).arg(place.join("bin/python")).args([
                "install",
                "--quiet",
                "--no-input",
                "--disable-pip-version-check",
                "--no-deps",
                "--require-hashes",
                "-r",
            ]);
            pip.arg(file);
            process::output(pip)?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn for_test(name: &'static str, pins: &str) -> Self {
        Self { name, kind: Kind::Python, digest: digest([pins.as_bytes().to_vec()]) }
    }
}

/// Which Python there is.
fn interpreter() -> Result<String> {
    let mut command = Command::new("python3");
    command.args(["-c", "import sys; print(sys.version, sys.base_prefix)"]);
    process::output(command)
        .context("Python 3.11 or newer is needed (Debian: `apt-get install python3 python3-pip`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_knows_its_texts_and_their_borders() {
        let of = |texts: &[&str]| digest(texts.iter().map(|text| text.as_bytes().to_vec()));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        for other in [&["ab"] as &[&str], &["a", "c"], &["a", "b", ""], &["", "ab"], &[]] {
            assert_ne!(of(other), of(&["a", "b"]), "{other:?}");
        }
    }

    #[test]
    fn every_part_is_pinned() {
        for (name, kind) in PARTS {
            for file in kind.files(name) {
                assert!(file.is_file(), "{}", file.display());
            }
        }
    }

    #[test]
    fn what_was_interrupted_is_not_complete() {
        let home = tempfile::tempdir().expect("scratch directory");
        let part = Part::for_test("npm", "a");
        fs::create_dir_all(part.place(home.path())).expect("writable");
        assert!(!part.is_complete(home.path()));
        fs::write(part.place(home.path()).join(COMPLETE), "").expect("writable");
        assert!(part.is_complete(home.path()));
    }
}
