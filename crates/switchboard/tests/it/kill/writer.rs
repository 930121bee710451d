//! One who changes things over the API and remembers what was acknowledged. What was under way when the
//! hub died may be done or not; nothing else may.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::door::Door;

/// How many things one keeps at a time.
const KEPT: usize = 10;

/// All that can be said of a token.
const GOOD: &str = "good";

#[derive(Clone, Copy, Debug)]
enum Kind {
    Server,
    User,
    Agent,
    Token,
}

/// Something that was made.
#[derive(Debug)]
struct Thing {
    kind: Kind,
    id: String,
    /// A token's secret, once it is known.
    secret: Option<String>,
    /// What is written in it; `None` if it is not there. More than one if nobody can know.
    may_be: Vec<Option<String>>,
}

pub(super) struct Writer {
    nr: usize,
    next: u32,
    random: fastrand::Rng,
    things: Vec<Thing>,
    /// What was removed in this life.
    gone: Vec<Thing>,
}

impl Writer {
    pub(super) fn new(nr: usize, random: fastrand::Rng) -> Self {
        Self { nr, next: 0, random, things: Vec::new(), gone: Vec::new() }
    }

    /// Changes things until nobody answers any more.
    pub(super) fn write(&mut self, door: &Door, done: &AtomicU32) {
        while self.act(door).is_some() {
            done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Everything is as it was acknowledged; from here on it is known how it stands.
    pub(super) fn look(&mut self, door: &Door, life: u32) {
        // A token that nobody was told of cannot be looked for.
        self.things.retain(|thing| !matches!((thing.kind, &thing.secret), (Kind::Token, None)));
        self.things.append(&mut self.gone);
        for thing in &mut self.things {
            let found = thing.read(door);
            assert!(thing.may_be.contains(&found), "life {life}: {found:?} is in {thing:?}");
            thing.may_be = vec![found];
        }
        self.things.retain(|thing| thing.may_be != [None]);
    }

    /// One change, to its end; nothing if that did not come.
    fn act(&mut self, door: &Door) -> Option<()> {
        self.next += 1;
        let value = format!("v{}-{}", self.nr, self.next);
        if self.things.len() < KEPT && self.random.bool() || self.things.is_empty() {
            let kind = self.random.choice([Kind::Server, Kind::User, Kind::Agent, Kind::Token])?;
            let id = format!("k{}-{}", self.nr, self.next);
            self.things.push(Thing { kind, id, secret: None, may_be: vec![None] });
            return self.things.last_mut()?.create(door, value);
        }
        let at = self.random.usize(..self.things.len());
        if self.random.bool() && !matches!(self.things[at].kind, Kind::Token) {
            return self.things[at].update(door, value);
        }
        self.things[at].remove(door)?;
        self.gone.push(self.things.swap_remove(at));
        Some(())
    }
}

impl Thing {
    fn create(&mut self, door: &Door, value: String) -> Option<()> {
        let body = match self.kind {
            Kind::Server => {
                json!({"name": self.id, "scope": "global", "entry": entry(&value)})
            }
            Kind::User => json!({"id": self.id, "name": value}),
            Kind::Agent => json!({"id": self.id, "description": value}),
            Kind::Token => json!({"name": value}),
        };
        let value = if let Kind::Token = self.kind { GOOD.to_owned() } else { value };
        let made = self.change(door, ("POST", self.all().to_owned(), Some(body)), Some(value))?;
        if let Kind::Token = self.kind {
            self.id = made["token"]["id"].as_str().unwrap().to_owned();
            self.secret = Some(made["secret"].as_str().unwrap().to_owned());
        }
        Some(())
    }

    fn update(&mut self, door: &Door, value: String) -> Option<()> {
        let body = match self.kind {
            Kind::Server => json!({"entry": entry(&value)}),
            Kind::User => json!({"name": value}),
            Kind::Agent => json!({"description": value}),
            Kind::Token => return Some(()),
        };
        self.change(door, ("PUT", self.path(), Some(body)), Some(value)).map(drop)
    }

    fn remove(&mut self, door: &Door) -> Option<()> {
        self.change(door, ("DELETE", self.path(), None), None).map(drop)
    }

    /// Sends a change, which may be done or not until it is answered.
    fn change(
        &mut self,
        door: &Door,
        (method, path, body): (&str, String, Option<Value>),
        to: Option<String>,
    ) -> Option<Value> {
        self.may_be.push(to.clone());
        let (status, answer) = door.ask(method, &path, body.as_ref())?;
        assert!(status < 300, "{method} {path}: {status} {answer}");
        self.may_be = vec![to];
        Some(answer)
    }

    /// What is written in it now.
    fn read(&self, door: &Door) -> Option<String> {
        let (door, path) = match &self.secret {
            Some(secret) => (door.with_token(secret), "/api/v1/me".to_owned()),
            None => (door.clone(), self.path()),
        };
        let (status, found) = door.ask("GET", &path, None).expect("the hub answers");
        let key = match self.kind {
            Kind::Server | Kind::Agent => "description",
            Kind::User => "name",
            // Only whether it is still good.
            Kind::Token => return (status == 200).then(|| GOOD.to_owned()),
        };
        assert!(matches!(status, 200 | 404), "{path}: {status} {found}");
        (status == 200).then(|| found[key].as_str().unwrap_or_default().to_owned())
    }

    fn all(&self) -> &'static str {
        match self.kind {
            Kind::Server => "/api/v1/servers",
            Kind::User => "/api/v1/users",
            Kind::Agent => "/api/v1/agents",
            Kind::Token => "/api/v1/tokens",
        }
    }

    fn path(&self) -> String {
        let scope = if let Kind::Server = self.kind { "global:" } else { "" };
        format!("{}/{scope}{}", self.all(), self.id)
    }
}

/// A server that is declared and not connected to.
fn entry(value: &str) -> Value {
    json!({"url": "http://127.0.0.1:9/mcp", "enabled": false, "description": value})
}
