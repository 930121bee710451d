//! Where tests find the programs that are not ours: Node, MCP servers and clients, a browser.
//! Never installs anything; a test that misses one stops, and says what to do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `cargo xtask test --only tools` installed.
#[derive(Clone, Debug)]
pub struct Tools {
    set: PathBuf,
}

impl Tools {
    /// Looks where `SWITCHBOARD_TEST_TOOLS` says, else where they are installed by default.
    pub fn find() -> Self {
        let cache = || {
            let home = || variable("HOME").map(|home| Path::new(&home).join(".cache"));
            let cache = variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
            cache.map(|cache| cache.join("switchboard-xtask/testware/current"))
        };
        let set = variable("SWITCHBOARD_TEST_TOOLS").map(PathBuf::from).or_else(cache);
        Self { set: present(set.unwrap_or_else(|| PathBuf::from("testware"))) }
    }

    /// Node, in a version that runs all of the packages.
    pub fn node(&self) -> PathBuf {
        self.at("node/node_modules/.bin/node")
    }

    /// The folder in which the npm packages are installed, as `npx` wants to know.
    pub fn npm(&self) -> PathBuf {
        self.at("npm")
    }

    /// A file of an npm package, such as `mcp-remote/dist/proxy.js`.
    pub fn package(&self, file: &str) -> PathBuf {
        self.at(&format!("npm/node_modules/{file}"))
    }

    /// The interpreter of one of the Python environments, such as `servers` or `mcp-2`.
    pub fn python(&self, environment: &str) -> PathBuf {
        self.at(&format!("python-{environment}/bin/python"))
    }

    /// A browser.
    pub fn chromium(&self) -> PathBuf {
        self.at("chromium")
    }

    /// The search path of these tests with Node before everything else.
    pub fn path(&self) -> String {
        let own = self.node().parent().map(Path::to_owned).into_iter();
        let path = variable("PATH").unwrap_or_default();
        let all = std::env::join_paths(own.chain(std::env::split_paths(&path)));
        let all = all.expect("no directory of the search path holds a colon");
        all.into_string().expect("the search path is text")
    }

    fn at(&self, place: &str) -> PathBuf {
        present(self.set.join(place))
    }
}

fn present(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing; run `cargo xtask test --only tools`", path.display());
    path
}

#[expect(clippy::disallowed_methods, reason = "tests are told by the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
