//! The doors: each makes one random change through one of them, and notes what is declared from then on.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_testkit::script::{Script, Scripted};

use super::{Declared, NAMES, PEOPLE, Server, World};
use crate::hub::entry;
use crate::rest::served;

/// Whose server of the store it is.
#[derive(Clone, Copy)]
enum Of {
    Everybody,
    One(&'static str),
}

impl Of {
    fn id(self, name: &str) -> String {
        match self {
            Self::Everybody => format!("global:{name}"),
            Self::One(who) => format!("user:{who}:{name}"),
        }
    }
}

impl World {
    /// Writes the whole file anew, as an editor would.
    pub(super) fn by_file(&mut self) -> String {
        let (name, server) = (self.name(), self.server());
        let removed = self.declared.file.remove(name).is_some();
        if !removed || self.random.bool() {
            self.declared.file.insert(name, server);
        }
        let entries = self.declared.file.iter().map(|(name, server)| {
            let enabled = if server.on { "" } else { "enabled = false\n" };
            format!("{}{enabled}", entry(name, &Script::new().tools(server.tools)))
        });
        let text = format!("{}\n{}", self.head, entries.collect::<Vec<_>>().join("\n"));
        self.context.write("switchboard.toml", &text);
        format!("file {name}")
    }

    /// In the file, or in the store, as whoever runs the hub.
    pub(super) fn by_command(&mut self) -> String {
        let name = self.name();
        match self.declared.file.get(name).copied() {
            _ if self.random.bool() => {
                let who = self.person();
                self.stored_by_command(Of::One(who), name)
            }
            None if self.declared.store.contains_key(name) => {
                self.stored_by_command(Of::Everybody, name)
            }
            None => {
                let server = self.server();
                self.command(&["add", name], Some(server));
                self.declared.file.insert(name, server);
                format!("command adds {name}")
            }
            Some(known) if self.random.bool() => {
                self.command(&[if known.on { "disable" } else { "enable" }, name], None);
                self.declared.file.insert(name, Server { on: !known.on, ..known });
                format!("command switches {name}")
            }
            Some(_) if self.declared.store.contains_key(name) && self.random.bool() => {
                self.remove_stored(Of::Everybody, name);
                format!("command removes the hidden {name}")
            }
            Some(_) => {
                // The store may have one of that name too.
                self.command(&["remove", name, "--from", "files"], None);
                self.declared.file.remove(name);
                self.unname(Of::Everybody, name);
                format!("command removes {name}")
            }
        }
    }

    fn stored_by_command(&mut self, of: Of, name: &'static str) -> String {
        // The name alone would mean one's own first.
        let id = of.id(name);
        match (self.stored(of, name), of) {
            (None, Of::Everybody) => unreachable!("it is one that the store has"),
            (None, Of::One(who)) => {
                let server = self.server();
                self.command(&["add", "--user", who, name], Some(server));
                self.store(of, name, Some(server));
                format!("command adds {id}")
            }
            (Some(_), _) if self.random.u8(0..4) == 0 => {
                self.remove_stored(of, name);
                format!("command removes {id}")
            }
            (Some(known), _) => {
                self.command(&[if known.on { "disable" } else { "enable" }, &id], None);
                self.store(of, name, Some(Server { on: !known.on, ..known }));
                format!("command switches {id}")
            }
        }
    }

    fn remove_stored(&mut self, of: Of, name: &'static str) {
        let scope = match of {
            Of::Everybody => "global".to_owned(),
            Of::One(who) => format!("user {who}"),
        };
        self.command(&["remove", name, "--from", "store", "--scope", &scope], None);
        self.store(of, name, None);
    }

    /// Somebody names other servers for their second agent, whether there are any of those names or not.
    pub(super) fn by_naming(&mut self) -> String {
        let who = self.person();
        let names = NAMES.into_iter().filter(|_| self.random.bool()).collect::<BTreeSet<_>>();
        let path = format!("/api/v1/agents/second-of-{who}");
        let (status, said) = self.rest(who, "PUT", &path, Some(&json!({"servers": names})));
        assert_eq!(status, 200, "{who}: {names:?}: {said}");
        let text = format!("{who} names {names:?}");
        self.declared.named.insert(who, names);
        text
    }

    /// Runs a command that must succeed, with a server's command line behind it.
    fn command(&self, words: &[&str], server: Option<Server>) {
        let line = server.map(|server| Scripted::stdio(&Script::new().tools(server.tools)));
        let line = line.map(|(command, arguments)| {
            let command = command.to_str().unwrap().to_owned();
            std::iter::once(command).chain(arguments).collect::<Vec<_>>()
        });
        let line = line.unwrap_or_default();
        let words: Vec<&str> =
            words.iter().copied().chain(line.iter().map(String::as_str)).collect();
        self.context.ok(&words);
    }

    pub(super) fn by_api(&mut self) -> String {
        let (who, name) = (self.person(), self.name());
        let of = match who == "admin" && self.random.bool() {
            true => Of::Everybody,
            false => Of::One(who),
        };
        let (known, server, id) = (self.stored(of, name), self.server(), of.id(name));
        let in_file = matches!(of, Of::Everybody) && self.declared.file.contains_key(name);
        let path = |act: &str| format!("/api/v1/servers/{id}{act}");
        let entry = served(&Script::new().tools(server.tools));
        let (method, path, body, status, after) = match (known, self.random.u8(0..4)) {
            // What a file declares is not changed here, nor is there a second one of that name.
            _ if in_file => ("POST", path("/disable"), None, 409, known),
            (None, _) => {
                let scope = if matches!(of, Of::Everybody) { "global" } else { "user" };
                let body = json!({"name": name, "scope": scope, "entry": entry});
                ("POST", "/api/v1/servers".to_owned(), Some(body), 201, Some(server))
            }
            (Some(_), 0) => ("DELETE", path(""), None, 204, None),
            (Some(_), 1) => ("PUT", path(""), Some(json!({"entry": entry})), 200, Some(server)),
            (Some(known), _) => {
                let act = if known.on { "/disable" } else { "/enable" };
                let after = Server { on: !known.on, ..known };
                ("POST", path(act), None, 200, Some(after))
            }
        };
        // What is refused changes nothing.
        if !in_file {
            self.store(of, name, after);
        }
        let (answered, mut said) = self.rest(who, method, &path, body.as_ref());
        assert_eq!(answered, status, "{who}: {method} {path}: {said}");
        if body.is_some() {
            said = self.approved(&said, &id);
        }
        if let (Some(after), 200..300) = (after, answered) {
            // The answer carries what came of it.
            let state = if after.on { "connected" } else { "disabled" };
            assert_eq!(said["state"]["code"], state, "{who}: {method} {path}: {said}");
        }
        self.is_nobody_elses(of, name);
        format!("{who}: {method} {path}")
    }

    /// A command line starts when an administrator has approved it.
    fn approved(&self, made: &Value, id: &str) -> Value {
        assert_eq!(made["state"]["code"], "needs_approval", "{made}");
        let (admin, hash) = ("admin", &made["approval"]["hash"]);
        let shown = self.rest(admin, "GET", &format!("/api/v1/servers/{id}"), None).1;
        assert_eq!(shown["approval"]["hash"], *hash, "{shown}");
        let path = format!("/api/v1/servers/{id}/approve");
        self.rest(admin, "POST", &path, Some(&json!({"hash": hash}))).1
    }

    /// Members cannot see what is somebody else's, whatever they have of that name.
    fn is_nobody_elses(&self, of: Of, name: &str) {
        let Of::One(owner) = of else { return };
        for who in PEOPLE.into_iter().filter(|who| ![owner, "admin"].contains(who)) {
            let path = format!("/api/v1/servers/{}", of.id(name));
            assert_eq!(self.rest(who, "GET", &path, None).0, 404, "{who}: {path}");
        }
    }

    fn stored(&self, of: Of, name: &'static str) -> Option<Server> {
        match of {
            Of::Everybody => self.declared.store.get(name).copied(),
            Of::One(who) => self.declared.own.get(&(who, name)).copied(),
        }
    }

    fn store(&mut self, of: Of, name: &'static str, server: Option<Server>) {
        let Self { declared, .. } = self;
        match (of, server) {
            (Of::Everybody, Some(server)) => drop(declared.store.insert(name, server)),
            (Of::Everybody, None) => drop(declared.store.remove(name)),
            (Of::One(who), Some(server)) => drop(declared.own.insert((who, name), server)),
            (Of::One(who), None) => drop(declared.own.remove(&(who, name))),
        }
        if server.is_none() {
            self.unname(of, name);
        }
    }

    /// Something was removed: the agents that had it name it no longer, unless the name still means a server to them.
    /// An editor of the file removes nothing in this sense: what vanishes from it may come back.
    fn unname(&mut self, of: Of, name: &'static str) {
        let Declared { file, store, own, named } = &mut self.declared;
        if file.contains_key(name) || store.contains_key(name) {
            return;
        }
        for (who, names) in named {
            let had_it = match of {
                Of::Everybody => true,
                Of::One(owner) => owner == *who,
            };
            if had_it && !own.contains_key(&(*who, name)) {
                names.remove(name);
            }
        }
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.usize(..NAMES.len())]
    }

    fn person(&mut self) -> &'static str {
        PEOPLE[self.random.usize(..PEOPLE.len())]
    }

    /// One that is like no other.
    fn server(&mut self) -> Server {
        self.made += 1;
        Server { tools: self.made, on: true }
    }
}
