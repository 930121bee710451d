//! A server's key as one text, the same in every table: `global/name`, `user:ada/name`,
//! `agent:cto/name`. Ids hold neither `:` nor `/`, so that no two keys are written alike.

use switchboard_model::{AgentId, Scope, ServerKey, ServerName, UserId};

use crate::error::{Error, Result};

/// The key as a text.
pub fn write_key(key: &ServerKey) -> String {
    match &key.scope {
        Scope::Global => format!("global/{}", key.name),
        Scope::User(user) => format!("user:{user}/{}", key.name),
        Scope::Agent(agent) => format!("agent:{agent}/{}", key.name),
    }
}

/// The key that a text stands for.
pub fn parse_key(text: &str) -> Result<ServerKey> {
    let bad = || Error::malformed("server key", format!("`{text}`"));
    let (scope, name) = text.split_once('/').ok_or_else(bad)?;
    let scope = match scope.split_once(':') {
        None if scope == "global" => Scope::Global,
        Some(("user", id)) => Scope::User(UserId::parse(id).map_err(|_| bad())?),
        Some(("agent", id)) => Scope::Agent(AgentId::parse(id).map_err(|_| bad())?),
        _ => return Err(bad()),
    };
    Ok(ServerKey { scope, name: ServerName::parse(name).map_err(|_| bad())? })
}

/// The two columns in which a scope is kept.
pub(crate) fn columns(scope: &Scope) -> (&'static str, &str) {
    match scope {
        Scope::Global => ("global", ""),
        Scope::User(user) => ("user", user.as_str()),
        Scope::Agent(agent) => ("agent", agent.as_str()),
    }
}

/// The key that those columns and a name stand for.
pub(crate) fn from_columns(scope: &str, owner: &str, name: &str) -> Result<ServerKey> {
    parse_key(&if scope == "global" {
        format!("global/{name}")
    } else {
        format!("{scope}:{owner}/{name}")
    })
}
