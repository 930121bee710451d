//! The one test context: a scratch machine with a home of its own, on which the real program runs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A scratch home and working directory.
pub(crate) struct Context {
    dir: TempDir,
    env: Vec<(String, String)>,
}

/// What a run printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Context {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir, env: Vec::new() }
    }

    /// With a file in the working directory.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// With a variable in the program's environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_at(&self.work().join(name), text);
    }

    pub(crate) fn write_at(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran::new(&output)
    }

    /// Runs the program, which must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// Runs the program, which must succeed and print JSON.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        self.prepare(command.args(args).stdin(Stdio::null()));
        command
    }

    /// Puts a command on this machine.
    pub(crate) fn prepare<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.current_dir(self.work()).env_clear();
        command.env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.envs(self.env.iter().map(|(name, value)| (name, value)))
    }
}

impl Ran {
    pub(crate) fn new(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
