//! Which paths lead where.

use super::*;

#[test]
fn places() {
    let at = |door, transport| Some(Place { door, transport });
    let agent = Some(Door::Agent(AgentId::parse("a").unwrap()));
    let server = Some(Door::Server(ServerName::parse("s").unwrap()));
    let own = Some(Door::Own);
    let (new, old) = (Transport::Streamable, Transport::Legacy);
    for (path, expected) in [
        ("/mcp", at(own.clone(), new)),
        ("/mcp/sse", at(own.clone(), old)),
        ("/sse", at(own, old)),
        ("/mcp/agents/a", at(agent.clone(), new)),
        ("/mcp/agents/a/sse", at(agent, old)),
        ("/mcp/servers/s", at(server.clone(), new)),
        ("/mcp/servers/s/sse", at(server, old)),
        ("/mcp/servers/ ", at(None, new)),
        ("", None),
        ("/", None),
        ("/mcp/", None),
        ("/mcp/agents", None),
        ("/mcp/agents/", None),
        ("/mcp/agents//sse", None),
        ("/mcp/agents/%61", None),
        ("/mcp/agents/a/b", None),
        ("/mcp/agents/a/sse/sse", None),
        ("/mcp/others/a", None),
        ("/mcpx", None),
        ("/api/v1/mcp", None),
        ("/x/sse", None),
    ] {
        assert_eq!(place(path), expected, "{path}");
    }
}
