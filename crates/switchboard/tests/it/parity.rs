//! One state, whichever door: random changes through the file, the command line and the API, with
//! restarts between, on both engines. What runs is what is declared, each time.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};
use switchboard_testkit::{Postgres, repetitions};

use crate::context::Context;
use crate::hub::{Hub, entry, status, wait};
use crate::rest::{person, served};

/// What is declared of a server: how many tools it adds, and whether it may run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Server {
    tools: usize,
    on: bool,
}

/// What ought to run.
#[derive(Clone, Debug, Default)]
struct Declared {
    file: BTreeMap<String, Server>,
    /// Everybody's, in the store.
    store: BTreeMap<String, Server>,
    /// The administrator's own, in the store.
    own: BTreeMap<String, Server>,
}

impl Declared {
    /// By scope and name; the file counts before the store.
    fn runs(&self) -> BTreeMap<(String, String), Server> {
        let scoped = |scope: &'static str, all: &BTreeMap<String, Server>| {
            let pair =
                |(name, server): (&String, &Server)| ((scope.to_owned(), name.clone()), *server);
            all.iter().map(pair).collect::<Vec<_>>()
        };
        let mut runs: BTreeMap<_, _> = scoped("global", &self.store).into_iter().collect();
        runs.extend(scoped("global", &self.file));
        runs.extend(scoped("user admin", &self.own));
        runs
    }
}

struct World {
    context: Context,
    hub: Option<Hub>,
    token: String,
    store: String,
    declared: Declared,
}

impl World {
    fn new(store: &str) -> Self {
        let context = Context::new().with("switchboard.toml", store);
        let hub = Hub::start(&context);
        let token = person(&context, "admin");
        let declared = Declared::default();
        Self { context, hub: Some(hub), token, store: store.to_owned(), declared }
    }

    /// Writes the whole file anew, as an editor would.
    fn write(&self) {
        let entries = self.declared.file.iter().map(|(name, server)| {
            let enabled = if server.on { "" } else { "enabled = false\n" };
            format!("{}{enabled}", entry(name, &Script::new().tools(server.tools)))
        });
        let text = format!("{}\n{}", self.store, entries.collect::<Vec<_>>().join("\n"));
        self.context.write("switchboard.toml", &text);
    }

    fn rest(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let answer = self.hub.as_ref().unwrap().rest(method, path, &self.token, body);
        (answer.status, answer.body)
    }

    /// One random change through a random door.
    fn step(&mut self, nth: usize) -> String {
        let name = format!("s{}", fastrand::u8(0..4));
        let server = Server { tools: 1 + nth, on: true };
        match fastrand::u8(0..10) {
            0 | 1 => {
                if self.declared.file.remove(&name).is_none() || fastrand::bool() {
                    self.declared.file.insert(name.clone(), server);
                }
                self.write();
                format!("file {name}")
            }
            2 | 3 => self.by_command(&name, server),
            4 => {
                if let Some(hub) = self.hub.take() {
                    hub.stop();
                }
                self.hub = Some(Hub::start(&self.context));
                "restart".to_owned()
            }
            _ => self.by_api(&name, server),
        }
    }

    fn by_command(&mut self, name: &str, server: Server) -> String {
        let (command, arguments) = Scripted::stdio(&Script::new().tools(server.tools));
        let command = command.to_str().unwrap().to_owned();
        let mut add = vec!["add", name, &command];
        add.extend(arguments.iter().map(String::as_str));
        match self.declared.file.get(name).copied() {
            None if self.declared.store.contains_key(name) => {
                if fastrand::u8(0..4) == 0 {
                    self.context.ok(&["remove", name, "--from", "store", "--scope", "global"]);
                    self.declared.store.remove(name);
                    return format!("command removes {name} of the store");
                }
                let on = self.declared.store[name].on;
                // The name alone would mean one's own first.
                let id = format!("global:{name}");
                self.context.ok(&[if on { "disable" } else { "enable" }, &id]);
                self.declared.store.get_mut(name).unwrap().on = !on;
                format!("command switches {name} of the store")
            }
            None => {
                self.context.ok(&add);
                self.declared.file.insert(name.to_owned(), server);
                format!("command adds {name}")
            }
            Some(known) if fastrand::bool() => {
                self.context.ok(&[if known.on { "disable" } else { "enable" }, name]);
                self.declared.file.get_mut(name).unwrap().on = !known.on;
                format!("command switches {name}")
            }
            Some(_) => {
                // The store may have one of that name too.
                self.context.ok(&["remove", name, "--from", "files"]);
                self.declared.file.remove(name);
                format!("command removes {name}")
            }
        }
    }

    fn by_api(&mut self, name: &str, server: Server) -> String {
        let own = fastrand::bool();
        let (scope, all, in_file) = match own {
            true => ("user", &mut self.declared.own, false),
            false => ("global", &mut self.declared.store, self.declared.file.contains_key(name)),
        };
        let known = all.get(name).copied();
        let entry = served(&Script::new().tools(server.tools));
        let key = if own { format!("user:admin:{name}") } else { format!("global:{name}") };
        let path = |act: &str| format!("/api/v1/servers/{key}{act}");
        let (method, path, body, status, after) = match known {
            // What a file declares is not changed here, nor is there a second one of that name.
            _ if in_file => ("POST", path("/disable"), None, 409, known),
            None => {
                let body = json!({"name": name, "scope": scope, "entry": entry, "approve": true});
                ("POST", "/api/v1/servers".to_owned(), Some(body), 201, Some(server))
            }
            Some(known) => match fastrand::u8(0..4) {
                0 => ("DELETE", path(""), None, 204, None),
                1 => {
                    let body = json!({"entry": entry, "approve": true});
                    ("PUT", path(""), Some(body), 200, Some(server))
                }
                _ => {
                    let act = if known.on { "/disable" } else { "/enable" };
                    let after = Server { on: !known.on, ..known };
                    ("POST", path(act), None, 200, Some(after))
                }
            },
        };
        match after {
            Some(server) => all.insert(name.to_owned(), server),
            None => all.remove(name),
        };
        let (answered, said) = self.rest(method, &path, body.as_ref());
        assert_eq!(answered, status, "{method} {path}: {said}");
        if let (Some(after), 200..300) = (after, answered) {
            // The answer carries what came of it.
            let state = if after.on { "connected" } else { "disabled" };
            assert_eq!(said["state"]["code"], state, "{method} {path}: {said}");
        }
        format!("{method} {path}")
    }

    /// Waits until what runs is what is declared.
    fn settled(&self, base: usize, what: &str) {
        let wanted = self.declared.runs();
        let mut now = Vec::new();
        let same = |now: &[Value]| {
            now.len() == wanted.len()
                && now.iter().all(|server| {
                    let text = |name: &str| server[name].as_str().unwrap().to_owned();
                    let Some(declared) = wanted.get(&(text("scope"), text("server"))) else {
                        return false;
                    };
                    match declared.on {
                        true => {
                            let tools = server["tools"].as_u64().unwrap_or_default() as usize;
                            server["ok"] == true && tools == base + declared.tools
                        }
                        false => server["state"] == "disabled",
                    }
                })
        };
        wait(&format!("{wanted:?} runs after {what}"), || {
            now = status(&self.context);
            same(&now)
        });
    }
}

fn changes(store: &str, steps: usize) {
    let mut world = World::new(store);
    let made = json!({"name": "base", "scope": "global", "entry": served(&Script::new()), "approve": true});
    let (_, made) = world.rest("POST", "/api/v1/servers", Some(&made));
    let base = made["state"]["tools"].as_u64().unwrap() as usize;
    world.declared.store.insert("base".to_owned(), Server { tools: 0, on: true });
    let mut steps_taken = Vec::new();
    for nth in 0..steps {
        let step = world.step(nth);
        steps_taken.push(step);
        world.settled(base, &format!("{steps_taken:?}"));
    }
}

#[test]
fn prove_one_state_whichever_door_on_sqlite() {
    changes("", repetitions(200) as usize);
}

#[test]
fn prove_one_state_whichever_door_on_postgresql() {
    let server = Postgres::start();
    let store = format!("[hub]\nstore = {:?}\n", server.database());
    changes(&store, repetitions(200) as usize);
}
