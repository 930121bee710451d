//! From what a person wrote to the servers that are meant.

use switchboard_model::ServerKey;

use super::Operations;
use super::protocol::{Failure, Target};

impl Operations {
    /// The one server that is meant.
    pub(super) fn find(&self, target: &Target) -> Result<ServerKey, Failure> {
        let keys: Vec<ServerKey> =
            self.upstreams.status().into_iter().map(|status| status.key).collect();
        find(&keys, target)
    }

    /// The servers that are meant; all, if none is named.
    pub(super) fn find_all(&self, targets: &[Target]) -> Result<Vec<ServerKey>, Failure> {
        match targets {
            [] => Ok(self.upstreams.status().into_iter().map(|status| status.key).collect()),
            targets => targets.iter().map(|target| self.find(target)).collect(),
        }
    }
}

/// The one of `keys` that is meant.
pub(crate) fn find(keys: &[ServerKey], target: &Target) -> Result<ServerKey, Failure> {
    let is_meant = |key: &&ServerKey| {
        key.name.as_str() == target.name
            && target.scope.as_ref().is_none_or(|scope| key.scope.to_string() == *scope)
    };
    let found: Vec<&ServerKey> = keys.iter().filter(is_meant).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(nothing(keys, target)),
        several => {
            let scopes: Vec<String> =
                several.iter().map(|key| format!("`--scope \"{}\"`", key.scope)).collect();
            Err(Failure::new(
                format!("there are several servers named `{}`", target.name),
                format!("say which one: {}", scopes.join(", ")),
            ))
        }
    }
}

fn nothing(keys: &[ServerKey], target: &Target) -> Failure {
    let near = keys.iter().map(|key| key.name.as_str()).max_by(|a, b| {
        let like = |name: &str| strsim::jaro_winkler(name, &target.name);
        like(a).total_cmp(&like(b))
    });
    let remedy = match near {
        Some(near) if strsim::jaro_winkler(near, &target.name) > 0.8 => {
            format!("did you mean `{near}`?")
        }
        _ => "`switchboard list` shows what is declared".to_owned(),
    };
    Failure::new(format!("no server is named `{}`", target.name), remedy)
}

#[cfg(test)]
mod tests {
    use switchboard_model::{AgentId, Scope, ServerName};

    use super::*;

    #[test]
    fn what_is_meant() {
        let key = |name: &str| ServerKey::global(ServerName::parse(name).unwrap());
        let own = ServerKey { scope: Scope::Agent(AgentId::parse("cto").unwrap()), ..key("files") };
        let keys = [key("files"), own, key("github")];
        for (name, scope, expected) in [
            ("github", None, "github"),
            ("github", Some("global"), "github"),
            ("files", Some("agent cto"), "files (agent cto)"),
            ("files", None, "say which one: `--scope \"global\"`, `--scope \"agent cto\"`"),
            ("gihub", None, "did you mean `github`?"),
            ("zzz", None, "`switchboard list` shows what is declared"),
        ] {
            let target = Target { name: name.to_owned(), scope: scope.map(str::to_owned) };
            let found = match find(&keys, &target) {
                Ok(key) => key.to_string(),
                Err(failure) => failure.remedy,
            };
            assert_eq!(found, expected, "{name} {scope:?}");
        }
    }
}
