//! A canary planted as every kind of secret is found nowhere: in no file, no dump, no `Debug`.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use switchboard_model::server::KeyPlace;
use switchboard_model::{
    AgentSpec, Auth, CallOrigin, Clock, Secret, SecretTemplate, ServerSpec, Template, Transport,
};
use switchboard_store::{
    Address, Asked, Claim, CredentialKind, Filter, KeySource, NewCredential, Replay, Store, Subject,
};

use crate::kit::{World, ada, agent, command, global, of_user, remote, user};

suite! {
    a_canary_is_found_nowhere,
}

/// Like no word that could be there by chance, and like a key.
const CANARY: &str = "canary7f3a9b2c5d8e1f4a6b0c";

fn secret() -> Secret {
    Secret::new(CANARY)
}

fn template() -> SecretTemplate {
    SecretTemplate::new(Template::literal(CANARY))
}

fn specs() -> Vec<(switchboard_model::ServerKey, ServerSpec)> {
    let first = global("stdio");
    let mut stdio = command(&first, &["--api-key", CANARY]);
    if let Transport::Stdio(spec) = &mut stdio.transport {
        spec.env.insert("KEY".to_owned(), template());
    }
    stdio.auth = Auth::ApiKey { place: KeyPlace::Variable("K".to_owned()), key: Some(template()) };
    let second = of_user("bob", "http");
    let mut http = remote(&second);
    if let Transport::Http(spec) = &mut http.transport {
        spec.url = Template::literal(format!("https://example.com/mcp?token={CANARY}"));
        spec.headers.insert("authorization".to_owned(), template());
    }
    http.auth = Auth::Bearer { token: Some(template()) };
    let third = global("oauth");
    let mut oauth = remote(&third);
    let (scopes, client_id) = (Vec::new(), None);
    oauth.auth = Auth::OAuth { scopes, client_id, client_secret: Some(template()) };
    vec![(first, stdio), (second, http), (third, oauth)]
}

/// Plants it everywhere; returns every secret that the store itself made, and what it said.
async fn plant(store: &Store, world: &World) -> (Vec<Secret>, String) {
    let mut said = String::new();
    for (key, spec) in specs() {
        let row = store.servers().create(&key, &spec, &ada()).await.unwrap();
        store.servers().update(&key, &spec, Some(1), &ada()).await.unwrap();
        write!(said, "{row:?}").unwrap();
    }
    let new = NewCredential {
        kind: CredentialKind::OAuth,
        value: secret(),
        issuer: None,
        scopes: None,
        expires_at: None,
        target: [7; 32],
    };
    store.credentials().set(&global("oauth"), Some(&user("bob")), &new, &ada()).await.unwrap();
    write!(
        said,
        "{new:?} {:?}",
        store.credentials().get(&global("oauth"), Some(&user("bob"))).await
    )
    .unwrap();
    store.settings().set_secret("telegram", Some(&secret()), &ada()).await.unwrap();
    store.users().set_password(&user("bob"), Some(secret()), &ada()).await.unwrap();
    let asked = Asked {
        user: user("bob"),
        agent: None,
        session: None,
        server: global("stdio"),
        tool: "t".to_owned(),
        origin: CallOrigin::Mcp,
        reason: "r".to_owned(),
        arguments: Secret::new(format!("{{\"key\":\"{CANARY}\"}}")),
        expires_at: world.clock.now() + Duration::from_secs(60),
    };
    let id = store.approvals().ask(&asked).await.unwrap();
    write!(said, "{:?}", store.approvals().get(&id).await.unwrap()).unwrap();
    let requests = store.idempotency();
    let claim = requests
        .claim((&user("ada"), "ada"), CANARY, CANARY.as_bytes(), Duration::from_secs(60))
        .await;
    let Ok(Claim::First(held)) = claim else { panic!("it is the first") };
    let headers = vec![("location".to_owned(), CANARY.to_owned())];
    let answer = Replay { status: 201, headers, body: CANARY.as_bytes().to_vec() };
    requests.finish(&held, &answer).await.unwrap();

    store
        .agents()
        .create(&agent("cto"), &user("bob"), &AgentSpec::default(), &ada())
        .await
        .unwrap();
    let token =
        store.tokens().create(&Subject::Agent(agent("cto")), "n", None, &ada()).await.unwrap();
    let session = store.sign_in().begin(&user("bob"), Duration::from_secs(60)).await.unwrap();
    let link = store.sign_in().link(&user("bob"), Duration::from_secs(60), &ada()).await.unwrap();
    write!(said, "{token:?} {session:?} {link:?} {store:?} {:?}", store.access()).unwrap();
    write!(said, "{:?}", store.audit().page(&Filter::default(), None, 1_000).await.unwrap())
        .unwrap();
    (vec![token.secret, session.id, session.csrf, link, secret()], said)
}

async fn a_canary_is_found_nowhere(world: World) {
    let store = world.peopled().await;
    let (mut secrets, said) = plant(&store, &world).await;
    let key = std::fs::read_to_string(world.key_file()).unwrap();
    secrets.push(Secret::new(key.trim()));
    secrets.push(Secret::new(format!("{:?}", CANARY.as_bytes())));
    let found = |place: &str, bytes: &[u8]| {
        for secret in &secrets {
            let at =
                bytes.windows(secret.expose().len()).position(|w| w == secret.expose().as_bytes());
            assert!(at.is_none(), "a secret stands in {place}");
        }
    };
    found("what was shown", said.as_bytes());
    for round in ["before", "after a rotation"] {
        for (place, bytes) in stored(&world) {
            found(&format!("{place} {round}"), &bytes);
        }
        store.rotate(KeySource::File(world.key_file())).await.unwrap();
    }
    store.close().await.unwrap();
    for (place, bytes) in stored(&world) {
        found(&format!("{place} at the end"), &bytes);
    }
    // The search can find: the name of a server stands in clear.
    assert!(stored(&world).iter().any(|(_, bytes)| bytes.windows(5).any(|w| w == b"oauth")));
}

/// Everything that the database keeps: its files, or a dump.
fn stored(world: &World) -> Vec<(String, Vec<u8>)> {
    match &world.address {
        Address::Sqlite(path) => {
            let directory = path.parent().unwrap();
            let files = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
            let files = files.filter(|path| !path.ends_with("master.key"));
            files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
        }
        Address::Postgres(url) => {
            let dump = Command::new(pg_dump()).arg("--inserts").arg(url.expose()).output().unwrap();
            assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
            vec![("the dump".to_owned(), dump.stdout)]
        }
    }
}

/// Beside the server's own programs, of the same version.
fn pg_dump() -> std::path::PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = versions.map(|version| version.path().join("bin/pg_dump")).filter(|p| p.is_file());
    found.max().unwrap_or_else(|| Path::new("pg_dump").to_owned())
}
