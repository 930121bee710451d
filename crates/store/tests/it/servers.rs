//! Servers: declared, edited, approved, counted, forgotten.

use std::collections::BTreeSet;

use switchboard_model::server::KeyPlace;
use switchboard_model::{
    AgentSpec, Auth, Secret, SecretTemplate, ServerKey, ServerName, Template, Transport,
};
use switchboard_store::{
    Approve, CredentialKind, Error, InFiles, NewCredential, Store, Topic, command_hash,
};

use crate::kit::{World, ada, agent, command, global, of_agent, of_user, remote, user};

suite! {
    a_server_is_what_was_declared,
    equal_names_of_two_people_never_meet,
    only_the_revision_that_was_read_is_replaced,
    a_command_runs_only_as_it_was_approved,
    what_happened_to_a_server_is_kept,
    a_removed_server_leaves_nothing,
    what_a_file_hides_goes_alone,
    an_agent_loses_what_is_no_more,
    a_name_goes_with_the_last_server_that_it_means,
    all_are_added_or_none,
    credentials_are_kept_by_owner,
}

async fn a_server_is_what_was_declared(world: World) {
    let store = world.peopled().await;
    let key = global("github");
    let mut spec = command(&key, &["-y", "--token", "canary-1234567890abcdef12"]);
    let Transport::Stdio(stdio) = &mut spec.transport else { panic!("it is a command") };
    stdio.env.insert("KEY".to_owned(), SecretTemplate::new(Template::literal("shh")));
    let made = store.servers().create(&key, &spec, &ada()).await.unwrap();
    assert_eq!((&*made.spec, made.revision, made.key.clone()), (&spec, 1, key.clone()));
    assert_eq!(store.servers().by_id(&made.id).await.unwrap(), Some(made.clone()));
    let off = store.servers().disable(&key, &ada()).await.unwrap();
    assert!(!off.spec.enabled && off.revision == 2);
    let on = store.servers().enable(&key, &ada()).await.unwrap();
    assert_eq!((*on.spec).clone(), spec);
    let twice = store.servers().create(&key, &spec, &ada()).await.unwrap_err();
    assert!(matches!(twice, Error::Exists { what: "server", .. }), "{twice}");
    store.close().await.unwrap();
    let store = world.open().await;
    assert_eq!(*store.servers().declared().await.unwrap()[&key], spec);
    store.close().await.unwrap();
}

async fn equal_names_of_two_people_never_meet(world: World) {
    let store = world.peopled().await;
    let keys = [global("x"), of_user("ada", "x"), of_user("bob", "x"), of_agent("bob", "x")];
    for (n, key) in keys.iter().enumerate() {
        let spec = command(key, &[&format!("--number={n}")]);
        store.servers().create(key, &spec, &ada()).await.unwrap();
    }
    for (n, key) in keys.iter().enumerate() {
        let row = store.servers().get(key).await.unwrap().unwrap();
        assert_eq!(*row.spec, command(key, &[&format!("--number={n}")]));
    }
    store.servers().remove(&keys[1], &ada()).await.unwrap();
    assert_eq!(store.servers().list().await.unwrap().len(), 3);
    assert!(store.servers().get(&keys[1]).await.unwrap().is_none());
    store.close().await.unwrap();
}

async fn only_the_revision_that_was_read_is_replaced(world: World) {
    let store = world.peopled().await;
    let key = global("x");
    store.servers().create(&key, &remote(&key), &ada()).await.unwrap();
    let mut spec = remote(&key);
    spec.description = Some("first".to_owned());
    let by = ada();
    let both = tokio::join!(
        store.servers().update(&key, &spec, Some(1), &by),
        store.servers().update(&key, &spec, Some(1), &by),
    );
    let results = [both.0, both.1];
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let stale = results.into_iter().find_map(Result::err).unwrap();
    assert!(matches!(stale, Error::Stale { .. }), "{stale}");
    assert_eq!(store.servers().get(&key).await.unwrap().unwrap().revision, 2);
    let missing = store.servers().update(&global("y"), &spec, None, &ada()).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing}");
    store.close().await.unwrap();
}

async fn a_command_runs_only_as_it_was_approved(world: World) {
    let store = world.peopled().await;
    let key = of_user("bob", "x");
    let (spec, other) = (command(&key, &["a"]), command(&key, &["b"]));
    let made = store.servers().create(&key, &spec, &ada()).await.unwrap();
    assert!(!made.may_start());
    let wrong = store.servers().approve(&key, &command_hash(&other), &ada()).await.unwrap_err();
    assert!(matches!(wrong, Error::Stale { .. }), "{wrong}");
    let approved = store.servers().approve(&key, &command_hash(&spec), &ada()).await.unwrap();
    assert!(approved.may_start());
    assert_eq!(approved.approval.unwrap().by, "ada");
    let mut described = spec.clone();
    described.description = Some("the same line".to_owned());
    assert!(store.servers().update(&key, &described, None, &ada()).await.unwrap().may_start());
    assert!(!store.servers().update(&key, &other, None, &ada()).await.unwrap().may_start());
    // Back to the line that was approved once: an edit has withdrawn it.
    assert!(!store.servers().update(&key, &spec, None, &ada()).await.unwrap().may_start());
    store.servers().approve(&key, &command_hash(&spec), &ada()).await.unwrap();
    // Nor with its key in a variable that was none then, whatever it is called.
    for (name, approved) in [("KEY", Ok(())), ("NODE_OPTIONS", Err(()))] {
        let mut keyed = spec.clone();
        keyed.auth = Auth::ApiKey { place: KeyPlace::Variable(name.to_owned()), key: None };
        assert!(!store.servers().update(&key, &keyed, None, &ada()).await.unwrap().may_start());
        let made = store.servers().approve(&key, &command_hash(&keyed), &ada()).await;
        assert_eq!(made.map(drop).map_err(drop), approved, "{name}");
    }
    store.servers().update(&key, &spec, None, &ada()).await.unwrap();
    store.servers().approve(&key, &command_hash(&spec), &ada()).await.unwrap();
    // Edited behind the store's back, it does not start either.
    world.raw("UPDATE servers SET declaration = replace(declaration, '\"a\"', '\"evil\"')").await;
    assert!(!store.servers().get(&key).await.unwrap().unwrap().may_start());
    let url = global("url");
    assert!(store.servers().create(&url, &remote(&url), &ada()).await.unwrap().may_start());
    store.close().await.unwrap();
}

async fn what_happened_to_a_server_is_kept(world: World) {
    use switchboard_model::Clock;
    let store = world.open().await;
    let key = global("from-a-file");
    store.servers().note_status(&key, "failed", None, Some("it did not start")).await.unwrap();
    store.servers().note_status(&key, "connected", Some(12), None).await.unwrap();
    let stats = store.servers().stats(&key).await.unwrap();
    assert_eq!(stats.connection_status.as_deref(), Some("connected"));
    assert_eq!(stats.last_error.as_deref(), Some("it did not start"));
    assert_eq!(stats.tool_count, Some(12));
    assert_eq!(stats.last_connected_at, Some(world.clock.now()));
    assert_eq!(store.servers().all_stats().await.unwrap()[&key], stats);
    assert_eq!(store.servers().stats(&global("unknown")).await.unwrap(), Default::default());
    store.close().await.unwrap();
}

async fn a_removed_server_leaves_nothing(world: World) {
    let store = world.peopled().await;
    let key = global("x");
    let named = AgentSpec {
        servers: Some([ServerName::parse("x").unwrap()].into()),
        ..AgentSpec::default()
    };
    store.agents().create(&agent("cto"), &user("bob"), &named, &ada()).await.unwrap();
    store.servers().create(&key, &command(&key, &["--token", "t"]), &ada()).await.unwrap();
    store.tool_cache().put(&key, b"{}", "2025-11-25").await.unwrap();
    store.servers().note_status(&key, "connected", Some(1), None).await.unwrap();
    store.servers().remove(&key, &ada()).await.unwrap();
    for table in ["servers", "server_stats", "tool_cache", "agent_servers"] {
        assert_eq!(world.count(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed WHERE owner <> 'audit'").await, 0);
    let again = store.servers().remove(&key, &ada()).await.unwrap_err();
    assert!(matches!(again, Error::NotFound { .. }), "{again}");
    store.close().await.unwrap();
}

/// What is kept by name and owner is the file's: only the row goes, with what is sealed for it.
async fn what_a_file_hides_goes_alone(world: World) {
    let store = world.peopled().await;
    let key = global("x");
    let named = AgentSpec {
        servers: Some([ServerName::parse("x").unwrap()].into()),
        ..AgentSpec::default()
    };
    store.agents().create(&agent("cto"), &user("bob"), &named, &ada()).await.unwrap();
    store.servers().create(&key, &command(&key, &["--token", "t"]), &ada()).await.unwrap();
    store.tool_cache().put(&key, b"{}", "2025-11-25").await.unwrap();
    store.servers().note_status(&key, "connected", Some(1), None).await.unwrap();
    let new = NewCredential {
        kind: CredentialKind::Bearer,
        value: Secret::new("v"),
        issuer: None,
        scopes: None,
        expires_at: None,
        target: [7; 32],
    };
    store.credentials().set(&key, None, &new, &ada()).await.unwrap();
    let stale = store.servers().remove_if(&key, Some(7), InFiles::Same, &ada()).await.unwrap_err();
    assert!(matches!(stale, Error::Stale { .. }), "{stale}");
    store.servers().remove_if(&key, Some(1), InFiles::Same, &ada()).await.unwrap();
    for (table, left) in [
        ("servers", 0),
        ("server_stats", 1),
        ("tool_cache", 1),
        ("agent_servers", 1),
        ("credentials", 1),
    ] {
        assert_eq!(world.count(&format!("SELECT COUNT(*) FROM {table}")).await, left, "{table}");
    }
    assert_eq!(world.count("SELECT COUNT(*) FROM sealed WHERE owner = 'servers'").await, 0);
    let (_, value) = store.credentials().get(&key, None).await.unwrap().unwrap();
    assert_eq!(value.expose(), "v");
    store.close().await.unwrap();
}

async fn an_agent_loses_what_is_no_more(world: World) {
    let store = world.peopled().await;
    let names = |names: &[&str]| -> BTreeSet<ServerName> {
        names.iter().map(|name| ServerName::parse(name).unwrap()).collect()
    };
    let spec = AgentSpec { servers: Some(names(&["x", "y"])), ..AgentSpec::default() };
    for (id, owner) in [("ceo", "ada"), ("cto", "bob")] {
        store.agents().create(&agent(id), &user(owner), &spec, &ada()).await.unwrap();
    }
    for key in [global("x"), of_user("ada", "x")] {
        store.servers().create(&key, &remote(&key), &ada()).await.unwrap();
    }
    let people = store.watch(Topic::People);
    store.servers().remove(&global("x"), &ada()).await.unwrap();
    assert!(people.has_changed().unwrap());
    // To Ada's the name still means hers.
    let wanted = [("ceo", names(&["x", "y"]), 1), ("cto", names(&["y"]), 2)];
    let check = async |store: &Store, when: &str| {
        for (id, servers, revision) in &wanted {
            let kept = store.agents().get(&agent(id)).await.unwrap().unwrap();
            let known = store.access().agent(&agent(id)).unwrap();
            for found in [&kept, &*known] {
                let is = (found.spec.servers.as_ref(), found.revision);
                assert_eq!(is, (Some(servers), *revision), "{id} {when}");
            }
        }
    };
    check(&store, "when it is gone").await;
    store.servers().create(&global("x"), &remote(&global("x")), &ada()).await.unwrap();
    check(&store, "when another has its name").await;
    store.close().await.unwrap();
    let store = world.open().await;
    check(&store, "after a restart").await;
    store.close().await.unwrap();
}

/// Whoever's the server was, and whether the store or a file declared it.
async fn a_name_goes_with_the_last_server_that_it_means(world: World) {
    let store = world.peopled().await;
    let spec = AgentSpec { servers: Some([global("x").name].into()), ..AgentSpec::default() };
    for (id, owner) in [("ceo", "ada"), ("cto", "bob"), ("ops", "bob")] {
        store.agents().create(&agent(id), &user(owner), &spec, &ada()).await.unwrap();
    }
    let (all, bobs, ctos) = (global("x"), of_user("bob", "x"), of_agent("cto", "x"));
    let check = async |there: &[&ServerKey],
                       gone: Option<&ServerKey>,
                       in_files,
                       losers: &[&str]| {
        let case = format!("{there:?} without {gone:?}, {in_files:?} in files");
        for key in there {
            store.servers().create(key, &remote(key), &ada()).await.unwrap();
        }
        match gone {
            Some(key) => store.servers().remove_if(key, None, in_files, &ada()).await.unwrap(),
            None => {
                let lost = store.servers().unassign(&all.name, &ada()).await.unwrap();
                assert_eq!(lost, losers.iter().map(|id| agent(id)).collect::<Vec<_>>(), "{case}");
            }
        }
        for known in store.access().agents() {
            let named = known.spec.servers.as_ref().unwrap().len();
            let wanted = usize::from(!losers.contains(&known.id.as_str()));
            assert_eq!(named, wanted, "{} with {case}", known.id);
            store.agents().update(&known.id, &spec, None, &ada()).await.unwrap();
        }
        for key in there.iter().filter(|key| Some(**key) != gone) {
            store.servers().remove_if(key, None, InFiles::Same, &ada()).await.unwrap();
        }
    };
    use InFiles::{ForAll, Nothing, Same};
    check(&[&all], Some(&all), Nothing, &["ceo", "cto", "ops"]).await;
    check(&[&all], Some(&all), Same, &[]).await;
    check(&[&all, &bobs], Some(&all), Nothing, &["ceo"]).await;
    check(&[&all, &ctos], Some(&all), Nothing, &["ceo", "ops"]).await;
    // What is somebody's own was never named by anybody else's.
    check(&[&bobs], Some(&bobs), Nothing, &["cto", "ops"]).await;
    check(&[&bobs, &ctos], Some(&bobs), Nothing, &["ops"]).await;
    check(&[&bobs, &ctos], Some(&ctos), Nothing, &[]).await;
    check(&[&ctos], Some(&ctos), Nothing, &["cto"]).await;
    for own in [&bobs, &ctos] {
        check(&[&all, own], Some(own), Nothing, &[]).await;
        check(&[own], Some(own), ForAll, &[]).await;
    }
    // And after a file's.
    check(&[], None, Nothing, &["ceo", "cto", "ops"]).await;
    check(&[&all], None, Nothing, &[]).await;
    check(&[&bobs], None, Nothing, &["ceo"]).await;
    store.close().await.unwrap();
}

async fn all_are_added_or_none(world: World) {
    let store = world.peopled().await;
    let keys = ["a", "b", "c"].map(global);
    store.servers().create(&keys[2], &remote(&keys[2]), &ada()).await.unwrap();
    let specs = keys.each_ref().map(|key| command(key, &["x"]));
    let new: Vec<_> = keys.iter().cloned().zip(&specs).collect();
    let taken = store.servers().create_all(&new, Approve::Now, &ada()).await.unwrap_err();
    assert!(matches!(taken, Error::Exists { .. }), "{taken}");
    assert_eq!(store.servers().list().await.unwrap().len(), 1);
    store.servers().create_all(&new[..2], Approve::Now, &ada()).await.unwrap();
    for key in &keys[..2] {
        assert!(store.servers().get(key).await.unwrap().unwrap().may_start(), "{key}");
    }
    store.close().await.unwrap();
}

async fn credentials_are_kept_by_owner(world: World) {
    let store = world.peopled().await;
    let key = global("sentry");
    let new = |value: &str| NewCredential {
        kind: CredentialKind::OAuth,
        value: Secret::new(value),
        issuer: Some("https://issuer.example".to_owned()),
        scopes: Some("read".to_owned()),
        expires_at: None,
        target: [7; 32],
    };
    let credentials = store.credentials();
    credentials.set(&key, None, &new("shared"), &ada()).await.unwrap();
    credentials.set(&key, Some(&user("bob")), &new("his"), &ada()).await.unwrap();
    let value = async |owner: Option<&str>| {
        let owner = owner.map(user);
        let found = credentials.get(&key, owner.as_ref()).await.unwrap();
        found.map(|(known, value)| (known.revision, value.expose().to_owned()))
    };
    assert_eq!(value(None).await, Some((1, "shared".to_owned())));
    assert_eq!(value(Some("bob")).await, Some((1, "his".to_owned())));
    assert_eq!(value(Some("ada")).await, None);
    // Where it was given to stays as it was said; only what nobody said is filled in.
    let target = async || credentials.get(&key, None).await.unwrap().unwrap().0.target;
    credentials.bind(&key, None, &[8; 32]).await.unwrap();
    assert_eq!(target().await, Some([7; 32]));
    world.raw("UPDATE credentials SET target = NULL").await;
    assert_eq!(target().await, None);
    credentials.bind(&key, None, &[8; 32]).await.unwrap();
    assert_eq!(target().await, Some([8; 32]));
    credentials.replace(&key, None, &new("fresh"), 1).await.unwrap();
    assert_eq!(target().await, Some([7; 32]));
    let stale = credentials.replace(&key, None, &new("late"), 1).await.unwrap_err();
    assert!(matches!(stale, Error::Stale { .. }), "{stale}");
    assert_eq!(value(None).await, Some((2, "fresh".to_owned())));
    let mut all: Vec<_> = credentials.every_secret().await.unwrap();
    all.sort_by(|a, b| a.expose().cmp(b.expose()));
    assert_eq!(all.iter().map(Secret::expose).collect::<Vec<_>>(), ["fresh", "his"]);
    assert!(credentials.remove(&key, Some(&user("bob")), &ada()).await.unwrap());
    assert!(!credentials.remove(&key, Some(&user("bob")), &ada()).await.unwrap());
    assert_eq!(credentials.list().await.unwrap().len(), 1);
    store.close().await.unwrap();
}
