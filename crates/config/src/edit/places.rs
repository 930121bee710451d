//! Where each dialect has its servers and their assignments.

use switchboard_model::{AgentId, Scope, ServerKey, ServerName};

use super::text::{Step, Trail, further, trail};
use crate::catalog;
use crate::dialect::Dialect;
use crate::syntax::{Node, Value};

/// The entry of a server.
#[derive(Clone, Debug)]
pub(super) struct Entry<'n> {
    pub(super) key: ServerKey,
    pub(super) trail: Trail,
    pub(super) node: &'n Node,
}

/// Every entry of this name, in the order of the file's own lists.
pub(super) fn entries<'n>(dialect: Dialect, root: &'n Node, name: &ServerName) -> Vec<Entry<'n>> {
    match dialect {
        Dialect::Spacebot => in_lists(root, name),
        Dialect::Native => {
            let own = fields(root, "agents").filter_map(|(id, agent)| {
                let id = AgentId::parse(id).ok()?;
                let way = [Step::from("agents"), id.as_str().into(), "own".into()];
                entry(agent.get("own")?, way.to_vec(), Scope::Agent(id), name)
            });
            let global = root.get("servers");
            let global = global.and_then(|map| entry(map, trail(["servers"]), Scope::Global, name));
            global.into_iter().chain(own).collect()
        }
        Dialect::Aicib => {
            let Some(ours) = root.get("integrations") else { return Vec::new() };
            let way = trail(["integrations", "servers"]);
            let servers = ours.get("servers");
            let found = servers.and_then(|map| entry(map, way, Scope::Global, name));
            // Composio has a key of its own.
            let is_composio = name.as_str() == catalog::COMPOSIO;
            let composio = || entry(ours, trail(["integrations"]), Scope::Global, name);
            found.or_else(|| is_composio.then(composio).flatten()).into_iter().collect()
        }
        _ => {
            let way = map_of_servers(dialect, root);
            let map = super::text::find(root, &way);
            map.and_then(|map| entry(map, way, Scope::Global, name)).into_iter().collect()
        }
    }
}

fn entry<'n>(map: &'n Node, way: Trail, scope: Scope, name: &ServerName) -> Option<Entry<'n>> {
    let node = map.get(name.as_str())?;
    let key = ServerKey { scope, name: name.clone() };
    Some(Entry { key, trail: further(&way, name.as_str()), node })
}

/// Spacebot's servers are items of lists and say their names themselves.
fn in_lists<'n>(root: &'n Node, name: &ServerName) -> Vec<Entry<'n>> {
    let mut lists = Vec::new();
    if let Some(list) = root.get("defaults").and_then(|defaults| defaults.get("mcp")) {
        lists.push((Scope::Global, trail(["defaults", "mcp"]), list));
    }
    for (at, agent) in root.get("agents").map(Node::items).unwrap_or_default().iter().enumerate() {
        let id = agent.get("id").and_then(Node::as_str).and_then(|id| AgentId::parse(id).ok());
        if let (Some(id), Some(list)) = (id, agent.get("mcp")) {
            let way = vec![Step::from("agents"), at.into(), "mcp".into()];
            lists.push((Scope::Agent(id), way, list));
        }
    }
    let named = |node: &Node| node.get("name").and_then(Node::as_str) == Some(name.as_str());
    let mut found = Vec::new();
    for (scope, way, list) in lists {
        for (at, node) in list.items().iter().enumerate().filter(|(_, node)| named(node)) {
            let key = ServerKey { scope: scope.clone(), name: name.clone() };
            found.push(Entry { key, trail: further(&way, at), node });
        }
    }
    found
}

/// The map that a new server goes into, for the dialects that have one map.
pub(super) fn map_of_servers(dialect: Dialect, root: &Node) -> Trail {
    match dialect {
        Dialect::Native => trail(["servers"]),
        Dialect::Aicib => trail(["integrations", "servers"]),
        Dialect::McpServers => {
            let has = |key: &str| root.get(key).is_some();
            let itself = !has("mcpServers")
                && !has("projects")
                && root.fields().iter().any(|field| field.value.is_map());
            if itself { Trail::new() } else { trail(["mcpServers"]) }
        }
        _ => Trail::new(),
    }
}

/// A list of servers that somebody has.
pub(super) struct List<'n> {
    /// Who; nobody, if it is the default.
    pub(super) agent: Option<&'n str>,
    pub(super) trail: Trail,
    pub(super) items: &'n [Node],
}

impl List<'_> {
    pub(super) fn names(&self, name: &ServerName) -> bool {
        self.items.iter().any(|item| item.as_str() == Some(name.as_str()))
    }
}

/// Every list of servers, in the order in which a new assignment looks for one.
pub(super) fn lists(dialect: Dialect, root: &Node) -> Vec<List<'_>> {
    let mut found = Vec::new();
    match dialect {
        Dialect::Native => {
            add(&mut found, None, trail(["defaults", "servers"]), root);
            for (id, _) in fields(root, "agents") {
                add(&mut found, Some(id), trail(["agents", id, "servers"]), root);
            }
        }
        Dialect::Aicib => {
            add(&mut found, None, trail(["integrations", "default_servers"]), root);
            if let Some(ours) = root.get("integrations") {
                for (role, _) in fields(ours, "per_agent") {
                    let way = trail(["integrations", "per_agent", role]);
                    add(&mut found, Some(role), way, root);
                }
            }
            for (role, agent) in fields(root, "agents") {
                let way = trail(["agents", role]);
                add(&mut found, Some(role), further(&way, "mcp_servers"), root);
                let workers = agent.get("workers").map(Node::items).unwrap_or_default();
                for (at, worker) in workers.iter().enumerate() {
                    let way = further(&further(&way, "workers"), at);
                    for field in worker.fields() {
                        let way = further(&further(&way, field.key.as_str()), "mcp_servers");
                        add(&mut found, Some(&field.key), way, root);
                    }
                }
            }
        }
        _ => {}
    }
    found
}

/// Whether AICIB's file has this role, as an agent, a worker or in an assignment.
pub(super) fn has_role(root: &Node, role: &str) -> bool {
    let per_agent = root.get("integrations").and_then(|ours| ours.get("per_agent"));
    let is_worker = |agent: &Node| {
        let workers = agent.get("workers").map(Node::items).unwrap_or_default();
        workers.iter().any(|worker| worker.get(role).is_some())
    };
    per_agent.is_some_and(|map| map.get(role).is_some())
        || fields(root, "agents").any(|(known, agent)| known == role || is_worker(agent))
}

fn add<'n>(found: &mut Vec<List<'n>>, agent: Option<&'n str>, trail: Trail, root: &'n Node) {
    if let Some(Node { value: Value::List(items), .. }) = super::text::find(root, &trail) {
        found.push(List { agent, trail, items });
    }
}

fn fields<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = (&'n str, &'n Node)> {
    let fields = node.get(key).map(Node::fields).unwrap_or_default();
    fields.iter().map(|field| (field.key.as_str(), &field.value))
}
