//! Differences, and who has which servers.

use super::*;
use crate::server::{StdioSpec, Transport};
use crate::template::Template;

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn server(text: &str, command: &str) -> Arc<ServerSpec> {
    let stdio = StdioSpec {
        command: Template::literal(command),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
    };
    Arc::new(ServerSpec::new(name(text), Transport::Stdio(stdio)))
}

fn servers(list: &[(&str, &str)]) -> BTreeMap<ServerKey, Arc<ServerSpec>> {
    list.iter().map(|(n, command)| (ServerKey::global(name(n)), server(n, command))).collect()
}

#[test]
fn changes() {
    let old = servers(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")]);
    let mut new = servers(&[("a", "1"), ("b", "2"), ("d", "1"), ("e", "1")]);
    let described = ServerKey::global(name("d"));
    let spec = new.get_mut(&described).unwrap();
    Arc::make_mut(spec).description = Some("new words".into());

    let changes = Changes::between(&old, &new);
    let names = |list: &[ServerKey]| list.iter().map(|k| k.to_string()).collect::<String>();
    assert_eq!(
        [&changes.added, &changes.removed, &changes.changed, &changes.adjusted, &changes.untouched]
            .map(|l| names(l)),
        ["e", "c", "b", "d", "a"]
    );
    assert!(!changes.is_empty());
    assert!(Changes::between(&new, &new.clone()).is_empty());
}

#[test]
fn an_agent_sees_its_own_over_its_users_over_global() {
    let (agent, user) = (AgentId::parse("cto").unwrap(), UserId::parse("ann").unwrap());
    let mut desired =
        Desired { servers: servers(&[("a", "1"), ("b", "1"), ("c", "1")]), ..Desired::default() };
    for (scope, n) in [
        (Scope::User(user.clone()), "b"),
        (Scope::User(UserId::parse("bob").unwrap()), "a"),
        (Scope::Agent(agent.clone()), "c"),
        (Scope::Agent(agent.clone()), "own"),
        (Scope::Agent(AgentId::parse("ceo").unwrap()), "a"),
    ] {
        desired.servers.insert(ServerKey { scope, name: name(n) }, server(n, "2"));
    }
    desired.defaults = BTreeSet::from([name("a"), name("b"), name("c")]).into();
    let view = |desired: &Desired| -> Vec<String> {
        desired.servers_of(&agent, Some(&user)).iter().map(ToString::to_string).collect()
    };
    assert_eq!(view(&desired), ["a", "b (user ann)", "c (agent cto)", "own (agent cto)"]);

    let named = AgentSpec { servers: Some(BTreeSet::from([name("a")])), ..AgentSpec::default() };
    desired.agents.insert(agent.clone(), named);
    assert_eq!(view(&desired), ["a", "c (agent cto)", "own (agent cto)"]);

    desired.agents.get_mut(&agent).unwrap().enabled = false;
    assert!(view(&desired).is_empty());
}

#[test]
fn where_nobody_said_who_has_what_everybody_has_everything() {
    let (agent, user) = (AgentId::parse("cto").unwrap(), UserId::parse("ann").unwrap());
    let mut desired = Desired { servers: servers(&[("a", "1"), ("b", "1")]), ..Desired::default() };
    for (scope, n) in [
        (Scope::User(user.clone()), "mine"),
        (Scope::User(UserId::parse("bob").unwrap()), "his"),
        (Scope::Agent(agent.clone()), "own"),
        (Scope::Agent(AgentId::parse("ceo").unwrap()), "theirs"),
    ] {
        desired.servers.insert(ServerKey { scope, name: name(n) }, server(n, "2"));
    }
    Arc::make_mut(desired.servers.get_mut(&ServerKey::global(name("b"))).unwrap()).enabled = false;
    let declared = |servers: Option<&[&str]>, enabled| AgentSpec {
        servers: servers.map(|names| names.iter().map(|n| name(n)).collect()),
        enabled,
        ..AgentSpec::default()
    };
    let everything: &[&str] = &["a", "mine (user ann)", "own (agent cto)"];
    for (defaults, spec, expected) in [
        (DefaultServers::Everything, None, everything),
        (DefaultServers::Everything, Some(declared(None, true)), everything),
        (DefaultServers::Everything, Some(declared(Some(&["b"]), true)), &["b", "own (agent cto)"]),
        (DefaultServers::Everything, Some(declared(None, false)), &[]),
        // Nothing is something that was said.
        (DefaultServers::These(BTreeSet::new()), None, &["own (agent cto)"]),
        (BTreeSet::from([name("a")]).into(), Some(declared(None, true)), &["a", "own (agent cto)"]),
    ] {
        desired.defaults = defaults;
        desired.agents = spec.into_iter().map(|spec| (agent.clone(), spec)).collect();
        let seen: Vec<String> =
            desired.servers_of(&agent, Some(&user)).iter().map(ToString::to_string).collect();
        assert_eq!(seen, expected, "{:?} {:?}", desired.defaults, desired.agents);
    }
}

#[test]
fn what_is_written_down_of_arguments() {
    use crate::hub::AuditArguments::{Shape, Values};
    for (hub, sensitive, own, expected) in [
        (Shape, false, None, Shape),
        (Shape, true, None, Shape),
        (Shape, false, Some(Values), Values),
        (Values, false, None, Values),
        (Values, false, Some(Shape), Shape),
        // Of a sensitive server only where its own entry says so.
        (Values, true, None, Shape),
        (Values, true, Some(Values), Values),
        (Shape, true, Some(Values), Values),
    ] {
        let mut spec = (*server("a", "1")).clone();
        (spec.sensitive, spec.audit_arguments) = (sensitive, own);
        assert_eq!(spec.audits(hub), expected, "{hub:?} {sensitive} {own:?}");
    }
}
