//! What has to be done so that what runs is what is declared. Pure: the same inputs give the same
//! plan, and doing it is somebody else's work.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_model::{Changes, ServerKey, ServerSpec};

type Servers = BTreeMap<ServerKey, Arc<ServerSpec>>;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A new server gets its supervisor.
    Start(ServerKey, Arc<ServerSpec>),
    /// A server that is declared no longer is ended.
    Stop(ServerKey),
    /// The connection itself changed: it is made anew.
    Restart(ServerKey, Arc<ServerSpec>),
    /// Limits, times, filters or words changed: the connection stays.
    Adjust(ServerKey, Arc<ServerSpec>),
}

impl Action {
    /// Which server it is about.
    pub fn server(&self) -> &ServerKey {
        match self {
            Self::Start(key, _)
            | Self::Stop(key)
            | Self::Restart(key, _)
            | Self::Adjust(key, _) => key,
        }
    }
}

/// The way from what runs to what is declared. What is not named is left alone.
pub fn plan(running: &Servers, declared: &Servers) -> Vec<Action> {
    let changes = Changes::between(running, declared);
    let with = |keys: Vec<ServerKey>, act: fn(ServerKey, Arc<ServerSpec>) -> Action| {
        keys.into_iter().filter_map(move |key| {
            let spec = declared.get(&key)?.clone();
            Some(act(key, spec))
        })
    };
    // What goes, goes first: it may hold what its successor needs, such as a port.
    let stops = changes.removed.into_iter().map(Action::Stop);
    stops
        .chain(with(changes.changed, Action::Restart))
        .chain(with(changes.adjusted, Action::Adjust))
        .chain(with(changes.added, Action::Start))
        .collect()
}

#[cfg(test)]
mod tests {
    use switchboard_model::{ServerName, StdioSpec, Template, Transport};

    use super::*;

    fn servers(list: &[(&str, &str, Option<&str>)]) -> Servers {
        let make = |(name, command, words): &(&str, &str, Option<&str>)| {
            let name = ServerName::parse(name).unwrap();
            let stdio = StdioSpec {
                command: Template::literal(*command),
                args: Vec::new(),
                env: BTreeMap::new(),
                cwd: None,
            };
            let mut spec = ServerSpec::new(name.clone(), Transport::Stdio(stdio));
            spec.description = words.map(str::to_owned);
            (ServerKey::global(name), Arc::new(spec))
        };
        list.iter().map(make).collect()
    }

    #[test]
    fn plans() {
        let check = |from: &[_], to: &[_], expected: &[&str]| {
            let plan = plan(&servers(from), &servers(to));
            let told: Vec<String> = plan
                .iter()
                .map(|action| match action {
                    Action::Start(key, _) => format!("+{key}"),
                    Action::Stop(key) => format!("-{key}"),
                    Action::Restart(key, _) => format!("~{key}"),
                    Action::Adjust(key, _) => format!("={key}"),
                })
                .collect();
            assert_eq!(told, expected);
        };
        let (a, b) = (("a", "1", None), ("b", "1", None));
        check(&[], &[a, b], &["+a", "+b"]);
        check(&[a, b], &[a, b], &[]);
        check(&[a, b], &[], &["-a", "-b"]);
        check(&[a, b], &[("a", "2", None), ("b", "1", Some("new"))], &["~a", "=b"]);
        check(&[a], &[("c", "1", None)], &["-a", "+c"]);
    }
}
