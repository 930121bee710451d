//! Writes to a store as fast as it can and says what is done, until it is killed. For the tests.

#![expect(clippy::unwrap_used, reason = "a broken assumption must stop the test")]

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    CallOrigin, Decision, HttpKind, HttpSpec, Outcome, Secret, ServerKey, ServerName, ServerSpec,
    SystemClock, Template, Transport, UserId,
};
use switchboard_store::{
    Actor, Address, CallRecord, CredentialKind, KeySource, NewCredential, Options, Recorder,
    RecorderOptions, Role, Store,
};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().unwrap();
    let address = match next().as_str() {
        "sqlite" => Address::Sqlite(next().into()),
        _ => Address::Postgres(Secret::new(next())),
    };
    let key_file = next();
    let key = KeySource::File(key_file.clone().into());
    let round = next();
    let store = Store::open(Options { address, key, clock: Arc::new(SystemClock) }).await.unwrap();
    let recorder = Recorder::start(&store, RecorderOptions::default()).unwrap();
    for n in 0.. {
        let name = format!("w{round}-{n}");
        step(&store, &recorder, &name, n).await;
        if n % 15 == 14 {
            store.rotate(KeySource::File(key_file.clone().into())).await.unwrap();
            done("rotated", &name);
        }
    }
}

async fn step(store: &Store, recorder: &Recorder, name: &str, n: u32) {
    let by = Actor::system();
    let key = ServerKey::global(ServerName::parse(name).unwrap());
    recorder.record(call(&key));
    match n % 3 {
        0 => {
            let url = Template::literal(format!("https://example.com/?key={name}"));
            let http = HttpSpec { kind: HttpKind::Streamable, url, headers: Default::default() };
            let spec = ServerSpec::new(key.name.clone(), Transport::Http(http));
            store.servers().create(&key, &spec, &by).await.unwrap();
            done("server", name);
        }
        1 => {
            let id = UserId::parse(name).unwrap();
            store.users().create(&id, name, Role::Member, &by).await.unwrap();
            done("user", name);
        }
        _ => {
            let new = NewCredential {
                kind: CredentialKind::Bearer,
                value: Secret::new(name),
                issuer: None,
                scopes: None,
                expires_at: None,
                target: [7; 32],
            };
            store.credentials().set(&key, None, &new, &by).await.unwrap();
            done("credential", name);
        }
    }
}

fn call(server: &ServerKey) -> CallRecord {
    CallRecord {
        at: switchboard_model::Clock::now(&SystemClock),
        user: None,
        agent: None,
        server: server.clone(),
        tool: "t".into(),
        origin: CallOrigin::Mcp,
        decision: Decision::Allow,
        outcome: Some(Outcome::Done),
        duration: Duration::from_millis(1),
        bytes_in: 1,
        bytes_out: 1,
        trace: None,
        shape: None,
        arguments: None,
        error: None,
    }
}

/// Said in one piece, after the fact.
fn done(kind: &str, name: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{kind} {name}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
