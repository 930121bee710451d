//! One state, whichever door: random changes through the file, the command line and the API, by several people,
//! with the hub up and down, on both engines. What runs is what is declared, each time, and every agent sees
//! what is its owner's and everybody's, and nothing else.

mod doors;

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};
use switchboard_testkit::script::Script;
use switchboard_testkit::{Postgres, repetitions, seed};

use crate::context::Context;
use crate::hub::{Hub, status, wait};
use crate::rest::{person, served};

/// An administrator and two members, who have servers of the same names.
const PEOPLE: [&str; 3] = ["admin", "anna", "bob"];
/// So few that they meet.
const NAMES: [&str; 3] = ["s0", "s1", "s2"];

/// What is declared of a server: how many tools it adds, and whether it may run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Server {
    tools: usize,
    on: bool,
}

/// What ought to run.
#[derive(Clone, Debug, Default)]
struct Declared {
    file: BTreeMap<&'static str, Server>,
    /// Everybody's, in the store.
    store: BTreeMap<&'static str, Server>,
    /// Somebody's own, in the store.
    own: BTreeMap<(&'static str, &'static str), Server>,
    /// What somebody's second agent names.
    named: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl Declared {
    /// By scope and name; the file counts before the store.
    fn runs(&self) -> BTreeMap<(String, String), Server> {
        let key = |scope: &str, name: &str| (scope.to_owned(), name.to_owned());
        let global = self.store.iter().chain(&self.file);
        let global = global.map(|(name, server)| (key("global", name), *server));
        let own = self.own.iter();
        let own = own.map(|((who, name), server)| (key(&format!("user {who}"), name), *server));
        global.chain(own).collect()
    }

    /// Whose, what it is called, from where, and whether the file's counts instead.
    fn rows(&self) -> BTreeSet<(String, String, String, bool)> {
        let row = |scope: &str, name: &str, source: &str, shadowed| {
            (scope.to_owned(), name.to_owned(), source.to_owned(), shadowed)
        };
        let files = self.file.keys().map(|name| row("global", name, "file", false));
        let hidden = |name| self.file.contains_key(name);
        let store = self.store.keys().map(|name| row("global", name, "store", hidden(name)));
        let own = self.own.keys();
        let own = own.map(|(who, name)| row(&format!("user {who}"), name, "store", false));
        files.chain(store).chain(own).collect()
    }

    /// How many tools of which server somebody's agent sees. One's own hides everybody's, also while it is
    /// switched off.
    fn seen_by(&self, who: &'static str, base: usize) -> BTreeMap<String, usize> {
        let global = self.store.iter().chain(&self.file).map(|(name, server)| (*name, *server));
        let own = self.own.iter().filter(|((owner, _), _)| *owner == who);
        let own = own.map(|((_, name), server)| (*name, *server));
        let all: BTreeMap<&str, Server> = global.chain(own).collect();
        let on = all.into_iter().filter(|(_, server)| server.on);
        on.map(|(name, server)| (name.to_owned(), base + server.tools)).collect()
    }
}

/// Who makes changes, and by which agents it is looked at: one that may use what agents may by default, and one
/// whose servers are named.
struct Person {
    token: String,
    agent: String,
    second: String,
}

struct World {
    context: Context,
    hub: Option<Hub>,
    people: BTreeMap<&'static str, Person>,
    /// The beginning of the file.
    head: String,
    declared: Declared,
    random: Rng,
    /// Counts servers, so that no two have as many tools.
    made: usize,
    /// How many tools each has at the least.
    base: usize,
}

impl World {
    fn new(head: &str, random: Rng) -> Self {
        let context = Context::new().with("switchboard.toml", head);
        let hub = Hub::start(&context);
        let people = PEOPLE.map(|who| (who, of(&context, &hub, who))).into_iter().collect();
        let mut world = Self {
            context,
            hub: Some(hub),
            people,
            head: head.to_owned(),
            declared: Declared {
                named: PEOPLE.map(|who| (who, BTreeSet::new())).into(),
                ..Declared::default()
            },
            random,
            made: 0,
            base: 0,
        };
        let entry = served(&Script::new());
        let base = json!({"name": "base", "scope": "global", "entry": entry, "approve": true});
        let (_, made) = world.rest("admin", "POST", "/api/v1/servers", Some(&base));
        world.base = made["state"]["tools"].as_u64().unwrap() as usize;
        world.declared.store.insert("base", Server { tools: 0, on: true });
        world
    }

    fn rest(&self, who: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let token = &self.people[who].token;
        let answer = self.hub.as_ref().unwrap().rest(method, path, token, body);
        (answer.status, answer.body)
    }

    /// One random change through a random door.
    fn step(&mut self) -> String {
        match self.random.u8(0..11) {
            0 => self.by_file(),
            1..=3 => self.by_command(),
            4 => self.while_down(),
            5 => self.by_naming(),
            _ => self.by_api(),
        }
    }

    /// Changes that nobody sees until the hub is up again.
    fn while_down(&mut self) -> String {
        if let Some(hub) = self.hub.take() {
            hub.stop();
        }
        let mut said = vec!["down".to_owned()];
        for _ in 0..self.random.u8(0..4) {
            said.push(match self.random.u8(0..3) {
                0 => self.by_file(),
                _ => self.by_command(),
            });
        }
        self.hub = Some(Hub::start(&self.context));
        said.push("up".to_owned());
        said.join(", ")
    }

    /// Waits until the hub knows where everything is declared, which need not be seen by what runs.
    fn known(&self, after: &str) {
        let wanted = self.declared.rows();
        wait(&format!("{wanted:?} is declared after {after}"), || {
            let rows = self.context.json(&["list"]);
            let row = |row: &Value| {
                let text = |name: &str| row[name].as_str().unwrap().to_owned();
                let shadowed = row["shadowed"].as_bool().unwrap();
                (text("scope"), text("name"), text("source"), shadowed)
            };
            rows.as_array().unwrap().iter().map(row).collect::<BTreeSet<_>>() == wanted
        });
    }

    /// Waits until what runs is what is declared, and every agent sees its part of it.
    fn settled(&self, after: &str) {
        let wanted = self.declared.runs();
        let same = |now: &[Value]| {
            now.len() == wanted.len()
                && now.iter().all(|server| {
                    let text = |name: &str| server[name].as_str().unwrap().to_owned();
                    let declared = wanted.get(&(text("scope"), text("server")));
                    declared.is_some_and(|declared| match declared.on {
                        true => {
                            let tools = server["tools"].as_u64().unwrap_or_default() as usize;
                            server["ok"] == true && tools == self.base + declared.tools
                        }
                        false => server["state"] == "disabled",
                    })
                })
        };
        self.known(after);
        wait(&format!("{wanted:?} runs after {after}"), || same(&status(&self.context)));
        for (who, person) in &self.people {
            let wanted = self.declared.seen_by(who, self.base);
            wait(&format!("the agent of {who} sees {wanted:?} after {after}"), || {
                self.seen_by(&person.agent) == wanted
            });
            let (named, mut wanted) = (&self.declared.named[who], wanted);
            wanted.retain(|name, _| named.contains(name.as_str()));
            wait(&format!("the second agent of {who} sees {wanted:?} after {after}"), || {
                self.seen_by(&person.second) == wanted
            });
        }
    }

    /// How many tools of which server an agent is told of.
    fn seen_by(&self, agent: &str) -> BTreeMap<String, usize> {
        let mut seen = BTreeMap::new();
        for tool in self.hub.as_ref().unwrap().tools("/mcp", agent) {
            // The hub's own, which nobody declares, have no server before their names.
            if let Some((server, _)) = tool.split_once("__") {
                *seen.entry(server.to_owned()).or_default() += 1;
            }
        }
        seen
    }
}

/// Somebody with two agents.
fn of(context: &Context, hub: &Hub, who: &str) -> Person {
    let token = person(context, who);
    let [agent, second] = [("of", Value::Null), ("second-of", json!([]))].map(|(word, servers)| {
        let new = json!({"id": format!("{word}-{who}"), "servers": servers});
        let made = hub.rest("POST", "/api/v1/agents", &token, Some(&new));
        assert_eq!(made.status, 201, "{}", made.body);
        let path = format!("/api/v1/agents/{word}-{who}/tokens");
        let made = hub.rest("POST", &path, &token, Some(&json!({"name": "test"})));
        made.body["secret"].as_str().unwrap().to_owned()
    });
    Person { token, agent, second }
}

fn changes(head: &str, steps: u32) {
    let mut world = World::new(head, Rng::with_seed(seed(fastrand::u64(..))));
    let mut taken = Vec::new();
    for _ in 0..steps {
        taken.push(world.step());
        world.settled(&format!("{taken:?}"));
    }
}

#[test]
fn prove_one_state_whichever_door_on_sqlite() {
    changes("", repetitions(200));
}

#[test]
fn prove_one_state_whichever_door_on_postgresql() {
    let server = Postgres::start();
    let head = format!("[hub]\nstore = {:?}\n", server.database_by_tcp());
    changes(&head, repetitions(200));
}
