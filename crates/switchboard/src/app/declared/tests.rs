//! What the files and the store say together, as data.

use std::path::Path;
use std::time::UNIX_EPOCH;

use switchboard_config::merge::{Input, merge as merge_files};
use switchboard_config::{Dialect, parse};
use switchboard_model::{AgentId, Scope, ServerKey, ServerName, UserId};

use super::*;

fn files(text: &str) -> Loaded {
    let parsed = parse::text(Path::new("switchboard.toml"), text, &parse::Context::default());
    let declared = parsed.declared.unwrap();
    let input = Input { dialect: Dialect::Native, declared: &declared };
    let merged = merge_files(&[input], &Default::default());
    let (desired, origins, agents) = (Arc::new(merged.desired), merged.origins, merged.agents);
    Loaded { desired, origins, agents, ..Loaded::default() }
}

fn agent(id: &str, servers: Option<&[&str]>) -> Arc<Agent> {
    let names =
        |names: &[&str]| names.iter().map(|name| ServerName::parse(name).unwrap()).collect();
    Arc::new(Agent {
        id: AgentId::parse(id).unwrap(),
        owner: UserId::parse("ada").unwrap(),
        spec: AgentSpec { servers: servers.map(names), ..AgentSpec::default() },
        created_at: UNIX_EPOCH,
        revision: 1,
    })
}

#[test]
fn an_agent_that_a_file_hides_is_told_unless_it_is_only_there_for_its_tokens() {
    let text =
        "[servers.wiki]\nurl = \"http://127.0.0.1:1/\"\n[agents.cto]\nservers = [\"wiki\"]\n";
    let files = files(text);
    for (stored, told) in [
        (agent("cto", None), None),
        (agent("cto", Some(&["wiki"])), None),
        (agent("ceo", Some(&["mail"])), None),
        (
            agent("cto", Some(&["mail"])),
            Some("agent `cto` is declared in switchboard.toml and in the store"),
        ),
    ] {
        let agents = Agents { counting: vec![stored.clone()], contested: Vec::new() };
        let declared = merge(&files, &[], &agents, []);
        let said: Vec<&str> = declared.problems.iter().map(|problem| &*problem.message).collect();
        assert_eq!(said, told.into_iter().collect::<Vec<_>>(), "{stored:?}");
    }
}

fn row(scope: Scope, name: &str, url: &str) -> Arc<ServerRow> {
    let text = format!("[servers.{name}]\nurl = \"{url}\"\n");
    let spec = files(&text).desired.servers.values().next().unwrap().clone();
    let key = ServerKey { scope, name: ServerName::parse(name).unwrap() };
    let (added_at, updated_at) = (UNIX_EPOCH, UNIX_EPOCH);
    let id = format!("srv_{name}");
    Arc::new(ServerRow { id, key, spec, added_at, updated_at, revision: 1, approval: None })
}

#[test]
fn the_files_count_first_and_everybody_has_their_own() {
    let files = files("[servers.wiki]\nurl = \"http://127.0.0.1:1/\"\n");
    let (ada, bob) = (UserId::parse("ada").unwrap(), UserId::parse("bob").unwrap());
    let rows = [
        row(Scope::Global, "wiki", "http://127.0.0.1:2/"),
        row(Scope::Global, "mail", "http://127.0.0.1:3/"),
        row(Scope::User(ada.clone()), "wiki", "http://127.0.0.1:4/"),
        row(Scope::User(bob.clone()), "wiki", "http://127.0.0.1:5/"),
    ];
    let declared = merge(&files, &rows, &Agents::default(), []);
    let targets: Vec<(String, String)> = declared
        .desired
        .servers
        .iter()
        .map(|(key, spec)| (key.to_string(), spec.target()))
        .collect();
    let expected = [
        ("mail", "http://127.0.0.1:3/"),
        ("wiki", "http://127.0.0.1:1/"),
        ("wiki (user ada)", "http://127.0.0.1:4/"),
        ("wiki (user bob)", "http://127.0.0.1:5/"),
    ];
    assert_eq!(targets, expected.map(|(key, url)| (key.to_owned(), url.to_owned())));
    assert_eq!(declared.shadowed.len(), 1);
    let said: Vec<&str> = declared.problems.iter().map(|problem| &*problem.message).collect();
    assert_eq!(said, ["server `wiki` is declared in switchboard.toml and in the store"]);
    assert!(declared.problems[0].place.is_some() && !declared.problems[0].is_error());
    let file = &declared.sources[&rows[0].key];
    assert!(matches!(file, Source::File { line: Some(1), .. }), "{file:?}");
}

#[test]
fn a_contested_agent_is_a_problem_that_names_both() {
    let files = files("[agents.ops]\n");
    let row = Arc::new(Agent {
        id: switchboard_model::AgentId::parse("ops").unwrap(),
        owner: UserId::parse("bob").unwrap(),
        spec: Default::default(),
        created_at: UNIX_EPOCH,
        revision: 1,
    });
    let agents = Agents { counting: Vec::new(), contested: vec![row] };
    let declared = merge(&files, &[], &agents, []);
    let [problem] = declared.problems.as_slice() else { panic!("{:?}", declared.problems) };
    let text = problem.to_string();
    for word in ["`ops`", "`bob`", "switchboard.toml, line 1", "switchboard agent remove ops"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_credential_of_ones_own_is_a_server_of_ones_own() {
    let files = files("[servers.wiki]\nurl = \"http://127.0.0.1:1/\"\nauth = \"bearer\"\n");
    let (ada, bob) = (UserId::parse("ada").unwrap(), UserId::parse("bob").unwrap());
    let rows = [
        row(Scope::Global, "mail", "http://127.0.0.1:2/"),
        row(Scope::User(bob.clone()), "mail", "http://127.0.0.1:3/"),
    ];
    let credential = |owner: Option<&UserId>, name: &str| Credential {
        server: ServerKey::global(ServerName::parse(name).unwrap()),
        owner: owner.cloned(),
        kind: switchboard_store::CredentialKind::Bearer,
        issuer: None,
        scopes: None,
        expires_at: None,
        target: None,
        created_at: UNIX_EPOCH,
        updated_at: UNIX_EPOCH,
        revision: 1,
    };
    let credentials = [
        credential(None, "wiki"),
        credential(Some(&ada), "wiki"),
        credential(Some(&ada), "gone"),
        credential(Some(&bob), "mail"),
    ];
    let declared = merge(&files, &rows, &Agents::default(), &credentials);
    let told: Vec<String> = declared
        .sources
        .iter()
        .map(|(key, source)| match source {
            Source::File { .. } => format!("{key}: file"),
            Source::Store(_) => format!("{key}: store"),
            Source::Credential { shared, .. } => format!("{key}: {shared}"),
        })
        .collect();
    let wanted = ["mail: store", "wiki: file", "wiki (user ada): wiki", "mail (user bob): store"];
    assert_eq!(told, wanted);
    // Only her agents have it, and have it instead.
    let agent = switchboard_model::AgentId::parse("a").unwrap();
    let names = |user: &UserId| -> Vec<String> {
        let seen = declared.desired.servers_of(&agent, Some(user));
        seen.iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(&ada), ["mail", "wiki (user ada)"]);
    assert_eq!(names(&bob), ["mail (user bob)", "wiki"]);
}
