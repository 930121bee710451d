//! Agents and their tokens, as the store has them. Whoever can open the hub's socket, or its
//! database, is its administrator.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_model::{AgentId, AgentSpec, CallOrigin, ServerName};
use switchboard_store::{Actor, Agent, Error, Store, Subject, Token};

use super::protocol::{AgentReport, Failure, PeopleAsk, Said, TokenReport};
use super::{Operations, Say};
use crate::storage;

pub(super) async fn people(
    operations: &Operations,
    ask: PeopleAsk,
    say: &Say,
) -> Result<(), Failure> {
    let Some(store) = &operations.store else {
        return Err(Failure::new("there is no store", "start the hub with one"));
    };
    let owner = storage::administrator(store).await.map_err(failed)?.id;
    let by = Actor::user(owner.clone(), CallOrigin::Cli);
    let said = match ask {
        PeopleAsk::Agents => {
            let agents = store.agents().list().await.map_err(failed)?;
            agents.iter().map(|agent| Said::Agent(shown(agent))).collect()
        }
        PeopleAsk::AddAgent { id, servers, description } => {
            let names = servers.map(|names| names.iter().map(|name| server(name)).collect());
            let spec =
                AgentSpec { servers: names.transpose()?, description, ..AgentSpec::default() };
            let made = store.agents().create(&agent(&id)?, &owner, &spec, &by).await;
            vec![Said::Agent(shown(&made.map_err(failed)?))]
        }
        PeopleAsk::RemoveAgent { id } => {
            store.agents().remove(&agent(&id)?, &by).await.map_err(failed)?;
            Vec::new()
        }
        PeopleAsk::Tokens => {
            let tokens = store.tokens().list().await.map_err(failed)?;
            tokens.iter().map(|token| Said::Token(told(operations, token))).collect()
        }
        PeopleAsk::CreateToken { agent: id, name, lasting } => {
            let id = agent(&id)?;
            known(store, &id, &owner, &by).await?;
            let expires =
                lasting.map(|seconds| operations.clock.now() + Duration::from_secs(seconds));
            let made = store.tokens().create(&Subject::Agent(id), &name, expires, &by).await;
            let made = made.map_err(failed)?;
            let token = Some(made.secret.expose().to_owned());
            vec![Said::Token(TokenReport { token, ..told(operations, &made.token) })]
        }
        PeopleAsk::RevokeToken { id } => {
            let token = store.tokens().revoke(&id, &by).await.map_err(failed)?;
            vec![Said::Token(told(operations, &token))]
        }
    };
    for said in said {
        let _ = say.send(said).await;
    }
    Ok(())
}

/// An agent that a file declares is known to the store from its first token on.
async fn known(
    store: &Store,
    id: &AgentId,
    owner: &switchboard_model::UserId,
    by: &Actor,
) -> Result<(), Failure> {
    if store.agents().get(id).await.map_err(failed)?.is_none() {
        store.agents().create(id, owner, &AgentSpec::default(), by).await.map_err(failed)?;
    }
    Ok(())
}

fn agent(id: &str) -> Result<AgentId, Failure> {
    let remedy = "letters, digits, `_`, `-` and `.` are allowed";
    AgentId::parse(id).map_err(|error| Failure::new(format!("`{id}`: {error}"), remedy))
}

fn server(name: &str) -> Result<ServerName, Failure> {
    ServerName::parse(name).map_err(|error| {
        Failure::new(format!("`{name}`: {error}"), "`switchboard list` shows the servers")
    })
}

fn failed(error: Error) -> Failure {
    Failure::new(error.to_string(), "")
}

fn shown(agent: &Agent) -> AgentReport {
    let servers = agent.spec.servers.as_ref();
    AgentReport {
        id: agent.id.to_string(),
        owner: agent.owner.to_string(),
        enabled: agent.spec.enabled,
        servers: servers.map(|names| names.iter().map(ToString::to_string).collect()),
        description: agent.spec.description.clone(),
    }
}

fn told(operations: &Operations, token: &Token) -> TokenReport {
    let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let state = match (token.revoked_at, token.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= operations.clock.now() => "expired",
        (None, _) => "good",
    };
    TokenReport {
        id: token.id.clone(),
        name: token.name.clone(),
        of: match &token.subject {
            Subject::Agent(agent) => format!("agent {agent}"),
            Subject::User(user) => format!("user {user}"),
        },
        hint: token.hint.clone(),
        state: state.to_owned(),
        created_at: seconds(token.created_at),
        expires_at: token.expires_at.map(seconds),
        last_used: token.last_used.map(seconds),
        token: None,
    }
}
