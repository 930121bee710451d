//! Agents that files declare: the file's word counts, whatever the store has of the same name.

use serde_json::{Value, json};
use switchboard_model::{AgentId, AgentSpec};
use switchboard_store::{Actor, Subject};

use crate::kit::{Engine, World, user};

suite! {
    the_files_word_counts_for_its_agents,
    nobody_takes_over_an_agent_that_a_file_declares,
    what_ones_own_was_called_may_still_be_a_files,
}

pub(crate) const FILE: &str = "[servers.filed]\nurl = \"http://127.0.0.1:9/mcp\"\nenabled = false\n\
    [agents.clerk]\nservers = [\"filed\"]\n[agents.idle]\nenabled = false\n\
    [agents.ops]\n[agents.ops.own.payroll]\nurl = \"http://127.0.0.1:9/mcp\"\nenabled = false\n";

/// A row of the store, and a token for it.
async fn row(world: &World, id: &str, owner: &str) -> String {
    let (agent, by) = (AgentId::parse(id).unwrap(), Actor::system());
    let spec = AgentSpec::default();
    world.store.agents().create(&agent, &user(owner), &spec, &by).await.unwrap();
    let made = world.store.tokens().create(&Subject::Agent(agent), "test", None, &by).await;
    let token = made.unwrap().secret.expose().to_owned();
    world.hub.make_so().await.unwrap();
    token
}

async fn the_files_word_counts_for_its_agents(engine: Engine<'_>) {
    let world = World::with(engine, |_| vec![FILE.to_owned()]).await;
    let ada = world.ada();
    let clerk = world.client(&row(&world, "clerk", "ada").await);
    let shown = ada.get("/api/v1/agents/clerk").await.expect(200);
    assert_eq!((&shown["source"], &shown["servers"]), (&json!("file"), &json!(["filed"])));
    assert_eq!(clerk.get("/api/v1/agents/clerk/tools").await.status, 200);
    assert_eq!(clerk.get("/api/v1/agents/idle/tools").await.status, 404);
    let listed = ada.get("/api/v1/agents").await.expect(200);
    let all = listed["items"].as_array().unwrap();
    let same: Vec<&Value> = all.iter().filter(|agent| agent["id"] == "clerk").collect();
    assert_eq!((same.len(), &same[0]["source"]), (1, &json!("file")), "{listed}");
    for (method, body) in
        [("PUT", Some(json!({"servers": ["other"]}).to_string())), ("DELETE", None)]
    {
        let problem = ada.send(method, "/api/v1/agents/clerk", body).await.expect(409);
        assert_eq!(problem["code"], "declared_in_file");
        assert!(problem["detail"].as_str().unwrap().contains("/etc/switchboard.toml"), "{problem}");
    }
    assert_eq!(clerk.get("/api/v1/me").await.expect(200)["agent"], "clerk");
    let idle = world.client(&row(&world, "idle", "ada").await);
    assert_eq!(idle.get("/api/v1/me").await.status, 401);

    // A token is no part of the declaration: administrators make them here, too.
    let path = "/api/v1/agents/clerk/tokens";
    let made = ada.post(path, json!({"name": "x"})).await.expect(201);
    let other = world.client(made["secret"].as_str().unwrap());
    assert_eq!(other.get("/api/v1/me").await.expect(200)["agent"], "clerk");
    assert_eq!(ada.get(path).await.expect(200)["items"].as_array().unwrap().len(), 2);
    assert_eq!(world.bob().get("/api/v1/agents/clerk/tools").await.status, 403);
    for client in [&world.bob(), &clerk] {
        assert_eq!(client.post(path, json!({"name": "x"})).await.status, 403);
    }
    assert_eq!(world.bob().get(path).await.status, 403);
    world.stop().await;
}

async fn nobody_takes_over_an_agent_that_a_file_declares(engine: Engine<'_>) {
    let world = World::with(engine, |_| vec![FILE.to_owned()]).await;
    let (ada, bob) = (world.ada(), world.bob());
    let ops = world.client(&row(&world, "ops", "bob").await);
    assert_eq!(ops.get("/api/v1/me").await.status, 401);
    for path in ["", "/logs"] {
        let path = format!("/api/v1/servers/agent:ops:payroll{path}");
        assert_eq!(bob.get(&path).await.status, 404, "{path}");
        assert_eq!(ada.get(&path).await.status, 200, "{path}");
    }
    let credential = json!({"kind": "bearer", "value": "x"});
    let path = "/api/v1/servers/agent:ops:payroll/credential";
    assert_eq!(bob.put(path, credential).await.status, 404);
    assert_eq!(bob.post("/api/v1/agents/ops/tokens", json!({"name": "x"})).await.status, 403);
    let shown = bob.get("/api/v1/agents/ops").await.expect(200);
    assert_eq!((&shown["source"], &shown["owner"]), (&json!("file"), &Value::Null));
    // Nor is the row lent to whoever wants a token for the file's agent.
    let refused = ada.post("/api/v1/agents/ops/tokens", json!({"name": "x"})).await.expect(409);
    assert!(refused["detail"].as_str().unwrap().contains("bob"), "{refused}");
    let shown = ada.get("/api/v1/agents/ops").await.expect(200);
    let text = shown["problem"].as_str().unwrap();
    assert!(
        text.contains("ops") && text.contains("bob") && text.contains("switchboard.toml"),
        "{text}"
    );
    assert_eq!(ada.get("/api/v1/agents/clerk").await.expect(200)["problem"], Value::Null);
    world.stop().await;
}

async fn what_ones_own_was_called_may_still_be_a_files(engine: Engine<'_>) {
    let world = World::with(engine, |_| vec![FILE.to_owned()]).await;
    let bob = world.bob();
    let new = json!({"id": "his", "servers": ["filed", "mine"]});
    bob.post("/api/v1/agents", new).await.expect(201);
    for name in ["filed", "mine"] {
        let entry = json!({"url": "http://127.0.0.1:9/mcp", "enabled": false});
        let new = json!({"name": name, "entry": entry});
        bob.post("/api/v1/servers", new).await.expect(201);
    }
    for name in ["filed", "mine"] {
        let gone = bob.delete(&format!("/api/v1/servers/user:bob:{name}")).await;
        assert_eq!(gone.status, 204, "{name}");
    }
    let his = bob.get("/api/v1/agents/his").await.expect(200);
    assert_eq!(his["servers"], json!(["filed"]), "{his}");
    world.stop().await;
}
