//! The directory in which a hub keeps its socket, its lock and what it learnt. One hub at a time;
//! nobody but its user may look inside.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest path that a Unix socket can have on every platform.
const LONGEST_SOCKET: usize = 103;

/// How often, and after how long each time, it is tried again to take what somebody may only look at.
const LOOKS: u32 = 5;
const LOOK: Duration = Duration::from_millis(10);

/// Why the state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// There is no home to put it in.
    #[error("there is no place for the hub's state; set SWITCHBOARD_STATE_DIR or HOME")]
    Nowhere,
    /// It cannot be made or opened.
    #[error("the state directory {} cannot be used", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another hub has it.
    #[error(
        "a hub already runs{}; stop it, or give this one another SWITCHBOARD_STATE_DIR than {}",
        who(.hub), path.display()
    )]
    Taken {
        /// The directory.
        path: PathBuf,
        /// What the other hub wrote about itself.
        hub: String,
    },
    /// A socket in it would have too long a path.
    #[error(
        "the path of {} is too long for a socket; set SWITCHBOARD_STATE_DIR to a shorter one",
        path.display()
    )]
    TooLong {
        /// The directory.
        path: PathBuf,
    },
}

fn who(hub: &str) -> String {
    if hub.is_empty() { String::new() } else { format!(" ({hub})") }
}

/// The directory.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

/// The right to be the hub of a state directory, as long as it is kept.
#[derive(Debug)]
pub struct Claim {
    file: File,
}

impl StateDir {
    /// Makes the directory if it is not there, for this user alone.
    pub fn open(path: Option<PathBuf>) -> Result<Self, StateError> {
        let path = path.ok_or(StateError::Nowhere)?;
        let unusable = |source| StateError::Unusable { path: path.clone(), source };
        let path = std::path::absolute(&path).map_err(unusable)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(unusable)?;
        let mode = fs::metadata(&path).map_err(unusable)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(unusable)?;
        }
        if path.join("hub.sock").as_os_str().len() > LONGEST_SOCKET {
            return Err(StateError::TooLong { path });
        }
        Ok(Self(path))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a running hub listens for this user's commands.
    pub fn socket(&self) -> PathBuf {
        self.0.join("hub.sock")
    }

    /// Where a running hub lets this user's agents in.
    pub fn mcp_socket(&self) -> PathBuf {
        self.0.join("mcp.sock")
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where its hub listens, as it said itself, if one runs and listens.
    pub fn address(&self) -> Option<String> {
        // What a hub of before wrote is still there.
        UnixStream::connect(self.socket()).ok()?;
        let said = fs::read_to_string(self.file("hub.lock")).ok()?;
        said.split(", ").find(|word| word.starts_with("http://")).map(str::to_owned)
    }

    /// Whether a hub has it, also one that is not up yet.
    pub fn is_taken(&self) -> bool {
        let Ok(file) = File::open(self.file("hub.lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Becomes its one hub.
    pub fn claim(&self) -> Result<Claim, StateError> {
        let unusable = |source| StateError::Unusable { path: self.0.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(self.file("hub.lock")).map_err(unusable)?;
        let mut locked = file.try_lock();
        // Whoever only looks whether it is taken has it for a moment.
        for _ in 0..LOOKS {
            if !matches!(locked, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(LOOK);
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => Ok(Claim { file }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
            Err(TryLockError::WouldBlock) => {
                let mut hub = String::new();
                let _ = file.read_to_string(&mut hub);
                Err(StateError::Taken { path: self.0.clone(), hub: hub.trim().to_owned() })
            }
        }
    }
}

impl Claim {
    /// Says who has it, for whoever wants it too.
    pub fn sign(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use switchboard_testkit::Scratch;

    use super::*;

    #[test]
    fn one_hub_at_a_time() {
        let scratch = Scratch::new();
        let place = scratch.path().join("deep").join("state");
        let state = StateDir::open(Some(place.clone())).unwrap();
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        let mut claim = state.claim().unwrap();
        claim.sign("pid 7, a longer text than the next").unwrap();
        claim.sign("pid 7").unwrap();
        let refused = state.claim().unwrap_err().to_string();
        assert!(refused.starts_with("a hub already runs (pid 7); stop it"), "{refused}");
        assert!(state.is_taken());
        drop(claim);
        assert!(!state.is_taken(), "what it wrote is still there");
        state.claim().unwrap();
    }

    #[test]
    fn unusable_places() {
        let scratch = Scratch::new();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        for (path, words) in [
            (None, "set SWITCHBOARD_STATE_DIR"),
            (Some(file), "cannot be used"),
            (Some(scratch.path().join("x".repeat(120))), "too long for a socket"),
        ] {
            let error = StateDir::open(path).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
