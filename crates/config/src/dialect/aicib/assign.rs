//! Who uses which server in AICIB's file: `per_agent` and inline lists merged, workers too, the
//! default only for agents with none; a disabled agent starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use switchboard_model::{AgentSpec, Code, Place, ServerName};

use super::super::native::{agent_id, references};
use crate::catalog;
use crate::declared::{Declared, Defaults, FromCatalog};
use crate::decode::{Fields, Report, Spanned, Text, What};
use crate::syntax::{Field, Node};

/// What was found out about one role.
struct Role {
    id: Text,
    enabled: bool,
    servers: Vec<Text>,
}

/// Who uses what.
#[derive(Default)]
pub(super) struct Assignments {
    pub(super) defaults: Vec<Text>,
    roles: BTreeMap<String, Role>,
}

impl Assignments {
    /// `integrations.per_agent`: role to list.
    pub(super) fn per_agent(&mut self, node: &Node, report: &mut Report) {
        let Some(fields) = Fields::of(node, "`per_agent`", report) else { return };
        for field in fields.rest() {
            let role = self.role(&field.key, field);
            if !matches!(field.value.value, crate::syntax::Value::List(_)) {
                report.wrong_type(
                    &field.value,
                    &format!("`per_agent.{}`", field.key),
                    "a list of names",
                );
            }
            let names = field.value.items().iter();
            role.servers
                .extend(names.filter_map(|item| crate::decode::text(item, &field.key, report)));
        }
    }

    /// `agents`: role to settings, of which `enabled`, `mcp_servers` and `workers` are ours.
    pub(super) fn agents(&mut self, node: &Node, report: &mut Report) {
        let Some(fields) = Fields::of(node, "`agents`", report) else { return };
        for field in fields.rest() {
            let enabled = self.agent(field, true, report);
            let workers = field.value.get("workers").map(Node::items).unwrap_or_default();
            for worker in workers.iter().flat_map(Node::fields) {
                self.agent(worker, enabled, report);
            }
        }
    }

    /// Reads one agent or worker; a worker is off when the agent above it is.
    fn agent(&mut self, field: &Field, above: bool, report: &mut Report) -> bool {
        let settings = match field.value.is_map() {
            true => Fields::of(&field.value, What::Named("agent", &field.key), report),
            // A role without settings is none of our business, but it is a role.
            false => None,
        };
        let (mut enabled, mut servers) = (above, Vec::new());
        if let Some(mut fields) = settings {
            enabled &= fields.flag("enabled", report).is_none_or(|flag| flag.value);
            servers = fields.texts("mcp_servers", report).unwrap_or_default();
        }
        let role = self.role(&field.key, field);
        role.enabled &= enabled;
        role.servers.extend(servers);
        enabled
    }

    fn role(&mut self, name: &str, field: &Field) -> &mut Role {
        let id = Spanned::new(name.to_owned(), &field.key_span);
        let new = || Role { id, enabled: true, servers: Vec::new() };
        self.roles.entry(name.to_owned()).or_insert_with(new)
    }

    /// Writes the agents down, and switches off what no enabled one uses.
    pub(super) fn apply(self, declared: &mut Declared, report: &mut Report) {
        let defaults = references(&self.defaults, FromCatalog::TakeOrSkip, declared, report);
        let mut used = defaults.clone();
        let mut idle: BTreeSet<ServerName> = BTreeSet::new();
        if let Ok(composio) = ServerName::parse(catalog::COMPOSIO) {
            used.insert(composio);
        }
        for role in self.roles.into_values() {
            let Some(id) = agent_id(&role.id, report) else { continue };
            let from_catalog =
                if role.enabled { FromCatalog::TakeOrSkip } else { FromCatalog::Leave };
            let named = references(&role.servers, from_catalog, declared, report);
            let servers = if named.is_empty() { defaults.clone() } else { named };
            match role.enabled {
                true => used.extend(servers.iter().cloned()),
                false => idle.extend(servers.iter().cloned()),
            }
            let spec =
                AgentSpec { enabled: role.enabled, servers: Some(servers), description: None };
            let place = report.place(&role.id.span);
            declared.agents.insert(id, (spec, place));
        }
        declared.defaults = Defaults::These(defaults);
        let unused: Vec<(ServerName, Place)> = declared
            .servers
            .iter_mut()
            .filter(|server| !used.contains(&server.key.name))
            .map(|server| {
                Arc::make_mut(&mut server.spec).enabled = false;
                (server.key.name.clone(), server.place.clone())
            })
            .collect();
        for (name, place) in unused {
            let why = if idle.contains(&name) {
                "only disabled agents use it"
            } else {
                "no agent uses it"
            };
            let message = format!("server `{name}` is not started: {why}");
            let remedy =
                "Name it under `per_agent`, an agent's `mcp_servers` or `default_servers`.";
            report.warning(Code::UnusedServer, &place.span, message, remedy);
        }
    }
}
