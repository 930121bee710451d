//! Agents and their tokens, as the store has them. Whoever can open the hub's socket, or its
//! database, is its administrator.

mod agents;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_model::{AgentId, AgentSpec, CallOrigin};
use switchboard_rest::port::Hub as _;
use switchboard_store::{Actor, Error, Subject, Token};

use super::protocol::{Failure, PeopleAsk, Said, TokenReport};
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
        PeopleAsk::Agents => agents::all(operations, store).into_iter().map(Said::Agent).collect(),
        PeopleAsk::AddAgent { id, servers, description } => {
            let id = agent(&id)?;
            agents::free(operations, &id).await?;
            let names = servers.map(|names| agents::servers(operations, &id, &owner, &names));
            let spec =
                AgentSpec { servers: names.transpose()?, description, ..AgentSpec::default() };
            let made = store.agents().create(&id, &owner, &spec, &by).await.map_err(failed)?;
            made_so(operations).await?;
            vec![Said::Agent(agents::shown(&made))]
        }
        PeopleAsk::RemoveAgent { id } => {
            let id = agent(&id)?;
            agents::removable(operations, store, &id)?;
            store.agents().remove(&id, &by).await.map_err(failed)?;
            made_so(operations).await?;
            Vec::new()
        }
        PeopleAsk::Unassign { server } => {
            let changed = agents::unassign(operations, store, &server, &by).await?;
            made_so(operations).await?;
            changed.iter().map(|agent| Said::Agent(agents::shown(agent))).collect()
        }
        PeopleAsk::Tokens => {
            let tokens = store.tokens().list().await.map_err(failed)?;
            tokens.iter().map(|token| Said::Token(told(operations, token))).collect()
        }
        PeopleAsk::CreateToken { agent: id, name, lasting } => {
            let id = agent(&id)?;
            agents::known(operations, store, &id, &owner, &by).await?;
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

/// Returns when what was changed counts. Where no hub runs, it does from the next start on.
async fn made_so(operations: &Operations) -> Result<(), Failure> {
    let Some(sources) = &operations.sources else { return Ok(()) };
    let applied = sources.declarations.apply().await;
    applied.map_err(|error| Failure::new(error.to_string(), "the hub tries again by itself"))
}

fn agent(id: &str) -> Result<AgentId, Failure> {
    let remedy = "letters, digits, `_`, `-` and `.` are allowed";
    AgentId::parse(id).map_err(|error| Failure::new(format!("`{id}`: {error}"), remedy))
}

pub(super) fn failed(error: Error) -> Failure {
    Failure::new(error.to_string(), "")
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
