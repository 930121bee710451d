//! Finding a command the way a shell would, with an error that says where it was looked for.

use std::path::{Path, PathBuf};

use crate::error::ConnectError;

/// The file that `command` means: a path as it is, a name through `path`.
pub(super) fn find(command: &str, path: &str, cwd: Option<&str>) -> Result<PathBuf, ConnectError> {
    let not_found = |searched: String| ConnectError::NotFound {
        command: command.to_owned(),
        searched,
        hint: hint(command),
    };
    let named = Path::new(command);
    if named.components().count() > 1 {
        let file = cwd.map_or_else(|| named.to_owned(), |cwd| Path::new(cwd).join(named));
        // Relative to the hub, and relative to where it starts, are both what people mean.
        let candidates = [file, named.to_owned()];
        let found = candidates.iter().find_map(|file| executable(file));
        return found.map(absolute).ok_or_else(|| not_found(candidates[0].display().to_string()));
    }
    let mut places: Vec<PathBuf> = Vec::new();
    for place in std::env::split_paths(path) {
        if !place.as_os_str().is_empty() && !places.contains(&place) {
            places.push(place);
        }
    }
    let found = places.iter().find_map(|place| executable(&place.join(command)));
    found.map(absolute).ok_or_else(|| {
        let list: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        not_found(if list.is_empty() { "PATH, which is empty".to_owned() } else { list.join(", ") })
    })
}

/// A relative file would be looked for in the child's directory.
fn absolute(file: PathBuf) -> PathBuf {
    std::path::absolute(&file).unwrap_or(file)
}

fn executable(file: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        let with = |extension: &str| file.with_extension(extension);
        let candidates = [file.to_owned(), with("exe"), with("cmd"), with("bat")];
        return candidates.into_iter().find(|file| file.is_file());
    }
    runs(file).then(|| file.to_owned())
}

#[cfg(unix)]
fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn runs(file: &Path) -> bool {
    file.is_file()
}

fn hint(command: &str) -> &'static str {
    match command {
        "npx" | "npm" | "node" => {
            "install Node.js, or declare `env.PATH` with the directory it is in"
        }
        "uvx" | "uv" => "install uv, or declare `env.PATH` with the directory it is in",
        "python" | "python3" => "install Python, or declare `env.PATH` with the directory it is in",
        "docker" | "podman" => "install it, or declare `env.PATH` with the directory it is in",
        _ => "correct the command, install it, or declare `env.PATH` with the directory it is in",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_and_not_found() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("tool");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let path = format!("/nowhere:{}", here.path().display());
        let missing = find("tool", &path, None).unwrap_err();
        assert!(matches!(&missing, ConnectError::NotFound { searched, .. }
            if *searched == format!("/nowhere, {}", here.path().display())));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(find("tool", &path, None).unwrap(), file);
            assert_eq!(find("./tool", "", here.path().to_str()).unwrap(), file);
        }
        let npx = find("npx", "", None).unwrap_err().trouble();
        assert_eq!(npx.code, "command_not_found");
        assert_eq!(npx.message, "`npx` was not found in PATH, which is empty");
        assert!(npx.remedy.contains("Node.js"));
    }
}
