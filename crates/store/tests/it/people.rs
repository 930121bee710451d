//! People, agents, tokens and how they get in.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use switchboard_model::{AgentSpec, Clock, Secret, ServerName};
use switchboard_store::{
    Actor, CallRecord, Claim, Error, NewEvent, Recorder, RecorderOptions, Replay, Role, Store,
    Subject, Topic,
};

use crate::kit::{World, ada, agent, call, command, global, of_agent, of_user, until, user};

suite! {
    the_first_person_is_the_administrator,
    the_last_administrator_stays,
    two_administrators_cannot_take_each_other_away,
    a_store_without_an_administrator_gets_one_back,
    passwords_open_and_shut,
    a_sign_in_link_works_once,
    sessions_end,
    a_token_is_known_at_once_and_never_again_after_it_is_revoked,
    tokens_expire,
    an_agent_is_what_was_declared,
    last_use_is_written,
    deleting_a_person_takes_what_is_theirs_and_nothing_else,
}

const HOUR: Duration = Duration::from_secs(3600);

async fn the_first_person_is_the_administrator(world: World) {
    let store = world.open().await;
    let first = store.users().first(&user("ada"), "Ada").await.unwrap().unwrap();
    assert_eq!(first.role, Role::Administrator);
    assert_eq!(store.users().first(&user("eve"), "Eve").await.unwrap(), None);
    let again = store.users().create(&user("ada"), "Ada", Role::Member, &ada()).await;
    assert!(matches!(again, Err(Error::Exists { what: "user", .. })));
    assert_eq!(store.users().list().await.unwrap().len(), 1);
    assert_eq!(store.users().rename(&user("ada"), "Ada L.", &ada()).await.unwrap().name, "Ada L.");
    store.close().await.unwrap();
}

async fn the_last_administrator_stays(world: World) {
    let store = world.peopled().await;
    let users = store.users();
    for refused in [
        users.set_role(&user("ada"), Role::Member, &ada()).await.unwrap_err(),
        users.remove(&user("ada"), &ada()).await.unwrap_err(),
    ] {
        assert!(matches!(refused, Error::Refused(_)), "{refused}");
    }
    users.set_role(&user("bob"), Role::Administrator, &ada()).await.unwrap();
    users.remove(&user("ada"), &ada()).await.unwrap();
    assert!(users.get(&user("ada")).await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn two_administrators_cannot_take_each_other_away(world: World) {
    let (here, there) = (world.peopled().await, world.open().await);
    let by = ada();
    let (ada_id, bob_id) = (user("ada"), user("bob"));
    for round in 0..20 {
        here.users().set_role(&bob_id, Role::Administrator, &by).await.unwrap();
        let (one, other) = match round % 2 {
            0 => {
                let (one, other) = tokio::join!(
                    here.users().set_role(&ada_id, Role::Member, &by),
                    there.users().set_role(&bob_id, Role::Member, &by)
                );
                (one.is_ok(), other.is_ok())
            }
            _ => {
                let (one, other) = tokio::join!(
                    here.users().remove(&ada_id, &by),
                    there.users().set_role(&bob_id, Role::Member, &by)
                );
                (one.is_ok(), other.is_ok())
            }
        };
        assert!(one != other, "round {round}: one of the two, and not {one} and {other}");
        match here.users().get(&ada_id).await.unwrap() {
            None => here.users().create(&ada_id, "Ada", Role::Administrator, &by).await,
            Some(_) => here.users().set_role(&ada_id, Role::Administrator, &by).await,
        }
        .unwrap();
    }
    here.close().await.unwrap();
    there.close().await.unwrap();
}

async fn a_store_without_an_administrator_gets_one_back(world: World) {
    let store = world.peopled().await;
    for (id, people) in [("ada", 2), ("eve", 3)] {
        world.raw("UPDATE users SET role = 'member'").await;
        let restored = store.users().restore(&user(id), "Administrator").await.unwrap();
        assert_eq!(restored.role, Role::Administrator, "{id}");
        // Who is there already stays who they are, and a second time changes nothing.
        assert_eq!(restored.name == "Ada", id == "ada", "{restored:?}");
        assert_eq!(store.users().restore(&user(id), "X").await.unwrap(), restored);
        assert_eq!(store.users().list().await.unwrap().len(), people);
    }
    store.close().await.unwrap();
}

async fn passwords_open_and_shut(world: World) {
    let store = world.peopled().await;
    let users = store.users();
    let right = || Secret::new("correct horse battery");
    let short = users.set_password(&user("bob"), Some(Secret::new("short")), &ada()).await;
    assert!(matches!(short, Err(Error::Invalid(_))));
    users.set_password(&user("bob"), Some(right()), &ada()).await.unwrap();
    assert!(users.check_password(&user("bob"), right()).await.unwrap().is_some());
    assert!(users.check_password(&user("bob"), Secret::new("wrong")).await.unwrap().is_none());
    assert!(users.check_password(&user("ada"), right()).await.unwrap().is_none());
    assert!(users.check_password(&user("nobody"), right()).await.unwrap().is_none());
    users.set_password(&user("bob"), None, &ada()).await.unwrap();
    assert!(users.check_password(&user("bob"), right()).await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn a_sign_in_link_works_once(world: World) {
    let store = world.peopled().await;
    let link = store.sign_in().link(&user("ada"), HOUR, &Actor::system()).await.unwrap();
    let late = store.sign_in().link(&user("ada"), HOUR, &Actor::system()).await.unwrap();
    let both =
        tokio::join!(store.sign_in().redeem(&link, HOUR), store.sign_in().redeem(&link, HOUR));
    let sessions = [both.0.unwrap(), both.1.unwrap()];
    assert_eq!(sessions.iter().flatten().count(), 1, "one of two at once");
    assert!(store.sign_in().redeem(&link, HOUR).await.unwrap().is_none());
    world.clock.advance(2 * HOUR);
    assert!(store.sign_in().redeem(&late, HOUR).await.unwrap().is_none());
    assert!(store.sign_in().redeem(&Secret::new("swl_none"), HOUR).await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn sessions_end(world: World) {
    let store = world.peopled().await;
    let session = store.sign_in().begin(&user("bob"), HOUR).await.unwrap();
    let other = store.sign_in().begin(&user("bob"), 3 * HOUR).await.unwrap();
    let found = store.sign_in().session(&session.id).await.unwrap().unwrap();
    assert_eq!(found.user.id, user("bob"));
    assert!(found.allows(&session.csrf));
    assert!(!found.allows(&other.csrf));
    assert!(!found.allows(&session.id));
    world.clock.advance(2 * HOUR);
    assert!(store.sign_in().session(&session.id).await.unwrap().is_none());
    assert!(store.sign_in().session(&other.id).await.unwrap().is_some());
    store.sign_in().end(&other.id).await.unwrap();
    assert!(store.sign_in().session(&other.id).await.unwrap().is_none());
    let another = store.sign_in().begin(&user("bob"), HOUR).await.unwrap();
    store.users().set_password(&user("bob"), None, &ada()).await.unwrap();
    assert!(store.sign_in().session(&another.id).await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn a_token_is_known_at_once_and_never_again_after_it_is_revoked(world: World) {
    let store = world.peopled().await;
    store
        .agents()
        .create(&agent("cto"), &user("bob"), &AgentSpec::default(), &ada())
        .await
        .unwrap();
    let subject = Subject::Agent(agent("cto"));
    let new = store.tokens().create(&subject, "laptop", None, &ada()).await.unwrap();
    assert!(new.secret.expose().starts_with("swb_") && new.secret.expose().len() == 47);
    assert!(new.secret.expose().starts_with(&new.token.hint) && new.token.hint.len() == 8);
    let principal = store.access().identify(&new.secret).unwrap();
    assert_eq!(principal.user.id, user("bob"));
    assert_eq!(principal.agent.unwrap().id, agent("cto"));
    for wrong in ["", "swb_", &new.token.hint, &new.token.id] {
        assert!(store.access().identify(&Secret::new(wrong)).is_none(), "{wrong}");
    }
    let own =
        store.tokens().create(&Subject::User(user("ada")), "cli", None, &ada()).await.unwrap();
    assert_eq!(store.access().identify(&own.secret).unwrap().agent, None);
    let revoked = store.tokens().revoke(&new.token.id, &ada()).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert!(store.access().identify(&new.secret).is_none());
    assert_eq!(store.tokens().list().await.unwrap().len(), 2);
    let nobody = store.tokens().create(&Subject::Agent(agent("x")), "", None, &ada()).await;
    assert!(matches!(nobody, Err(Error::NotFound { what: "agent", .. })));
    store.close().await.unwrap();
}

async fn tokens_expire(world: World) {
    let store = world.peopled().await;
    let until = Some(world.clock.now() + HOUR);
    let new = store.tokens().create(&Subject::User(user("bob")), "", until, &ada()).await.unwrap();
    assert!(store.access().identify(&new.secret).is_some());
    world.clock.advance(HOUR);
    assert!(store.access().identify(&new.secret).is_none());
    store.close().await.unwrap();
}

async fn an_agent_is_what_was_declared(world: World) {
    let store = world.peopled().await;
    let name = |name| ServerName::parse(name).unwrap();
    let spec = AgentSpec {
        enabled: true,
        servers: Some(BTreeSet::from([name("github"), name("linear")])),
        description: Some("builds".to_owned()),
    };
    let made = store.agents().create(&agent("cto"), &user("bob"), &spec, &ada()).await.unwrap();
    assert_eq!((made.spec, made.revision), (spec.clone(), 1));
    let none = AgentSpec { servers: Some(BTreeSet::new()), enabled: false, description: None };
    let stale = store.agents().update(&agent("cto"), &none, Some(7), &ada()).await;
    assert!(matches!(stale, Err(Error::Stale { .. })));
    let updated = store.agents().update(&agent("cto"), &none, Some(1), &ada()).await.unwrap();
    assert_eq!((updated.spec, updated.revision), (none, 2));
    let default = store.agents().update(&agent("cto"), &AgentSpec::default(), None, &ada()).await;
    assert_eq!(default.unwrap().spec.servers, None);
    assert_eq!(store.agents().list().await.unwrap().len(), 1);
    store.close().await.unwrap();
}

async fn last_use_is_written(world: World) {
    let store = world.peopled().await;
    let new = store.tokens().create(&Subject::User(user("bob")), "", None, &ada()).await.unwrap();
    world.clock.advance(HOUR);
    store.access().identify(&new.secret).unwrap();
    store.close().await.unwrap();
    let store = world.open().await;
    let token = store.tokens().get(&new.token.id).await.unwrap().unwrap();
    assert_eq!(token.last_used, Some(world.clock.now()));
    world.clock.advance(HOUR);
    store.access().identify(&new.secret).unwrap();
    until("it is written while running too", async || {
        let token = store.tokens().get(&new.token.id).await.unwrap().unwrap();
        token.last_used == Some(world.clock.now())
    })
    .await;
    store.close().await.unwrap();
}

async fn deleting_a_person_takes_what_is_theirs_and_nothing_else(world: World) {
    use switchboard_store::{CredentialKind, NewCredential};
    let store = world.peopled().await;
    let spec = AgentSpec::default();
    store.agents().create(&agent("cto"), &user("bob"), &spec, &ada()).await.unwrap();
    store.agents().create(&agent("ceo"), &user("ada"), &spec, &ada()).await.unwrap();
    let [his, hers, agents, shared] =
        [of_user("bob", "x"), of_user("ada", "x"), of_agent("cto", "x"), global("x")];
    for key in [&his, &hers, &agents, &shared] {
        store.servers().create(key, &command(key, &["--api-key", "k"]), &ada()).await.unwrap();
        let new = NewCredential {
            kind: CredentialKind::Bearer,
            value: Secret::new("t"),
            issuer: None,
            scopes: None,
            expires_at: None,
            target: [7; 32],
        };
        store.credentials().set(key, Some(&user("bob")), &new, &ada()).await.unwrap();
        store.credentials().set(key, None, &new, &ada()).await.unwrap();
    }
    let token = Subject::Agent(agent("cto"));
    let token = store.tokens().create(&token, "", None, &ada()).await.unwrap();
    let session = store.sign_in().begin(&user("bob"), HOUR).await.unwrap();
    for who in ["ada", "bob", "bobby"] {
        traces_of(&world, &store, who).await;
    }
    let changed = store.watch(Topic::Servers);

    let removed = store.users().remove(&user("bob"), &ada()).await.unwrap();
    assert_eq!(removed.servers, [agents, his]);
    assert_eq!(removed.credentials, [shared.clone(), hers.clone()]);
    assert_eq!(removed.agents, [agent("cto")]);
    assert!(changed.has_changed().unwrap());
    assert!(store.access().identify(&token.secret).is_none());
    assert!(store.sign_in().session(&session.id).await.unwrap().is_none());
    let left: Vec<_> = store.servers().list().await.unwrap().into_iter().map(|s| s.key).collect();
    assert_eq!(left, [shared.clone(), hers.clone()]);
    assert_eq!(store.credentials().list().await.unwrap().len(), 2);
    assert_eq!(store.agents().list().await.unwrap().len(), 1);
    // Two servers, two credentials, two answers, the head of the log: nothing else sealed is left behind.
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed").await, 7);
    // Whoever has that id next finds nothing of it.
    store.users().create(&user("bob"), "Another Bob", Role::Member, &ada()).await.unwrap();
    for (who, left) in [("bob", 0), ("ada", 1), ("bobby", 1)] {
        let count = async |what: &str| world.count(&format!("SELECT COUNT(*) FROM {what}")).await;
        let usage = count(&format!("usage WHERE period = 'day' AND user_id = '{who}'")).await;
        let key = format!("'user:{who}/x'");
        let events = count(&format!("events WHERE user_id = '{who}' OR server = {key}")).await;
        let answers = count(&format!("idempotency WHERE user_id = '{who}'")).await;
        assert_eq!((usage, events, answers), (left, 2 * left, left), "{who}");
    }
    let claim = store.idempotency().claim((&user("bob"), "bob"), "k", b"x", HOUR).await.unwrap();
    assert!(matches!(claim, Claim::First(_)), "{claim:?}");
    store.close().await.unwrap();
}

/// A call, two events and an answer of one person.
async fn traces_of(world: &World, store: &Store, who: &str) {
    let recorder = Recorder::start(store, RecorderOptions::default()).unwrap();
    recorder.record(CallRecord { user: Some(user(who)), ..call(world, 0) });
    recorder.close(HOUR).await;
    for (user, server) in [(Some(user(who)), None), (None, Some(of_user(who, "x")))] {
        let event = NewEvent { kind: "k".to_owned(), user, server, payload: json!({}) };
        store.events().append(&event).await.unwrap();
    }
    let claim = store.idempotency().claim((&user(who), who), "k", b"x", HOUR).await.unwrap();
    let Claim::First(held) = claim else { panic!("it is the first: {claim:?}") };
    let answer = Replay { status: 201, headers: Vec::new(), body: b"{}".to_vec() };
    store.idempotency().finish(&held, &answer).await.unwrap();
}
