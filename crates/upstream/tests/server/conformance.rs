//! The client that the official conformance suite drives: `upstream-test-server conformance URL`.
//! It uses whatever the server offers, through the same hub that agents will.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    Desired, HttpKind, HttpSpec, Secret, ServerKey, ServerName, ServerSpec, Template, Transport,
};
use switchboard_upstream::{BoxFuture, Caller, ClientPort, Context, Instance, RpcError, Upstreams};
use switchboard_wire::{Json, JsonBuf, method, write};

use crate::{println, raw};

pub(crate) fn run(url: &str) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("there are threads").block_on(drive(url));
}

async fn drive(url: &str) {
    let context = Context::new(
        Arc::new(|_: &str| None::<Secret>),
        Instance::current(Path::new("/conformance")),
    );
    let upstreams = Upstreams::new(context);
    let name = ServerName::parse("fixture").expect("it is a name");
    let key = ServerKey::global(name.clone());
    let http =
        HttpSpec { kind: HttpKind::Streamable, url: Template::literal(url), headers: [].into() };
    let mut desired = Desired::default();
    desired.servers.insert(key.clone(), Arc::new(ServerSpec::new(name, Transport::Http(http))));
    upstreams.connect_all(&desired).await;
    upstreams.settle(Duration::from_secs(20)).await;
    let state = upstreams.status_of(&key).map(|status| status.state);
    println(&format!("{state:?}"));
    let requests = requests(&upstreams, &key);
    let tasks = tokio_util::task::TaskTracker::new();
    for (name, params) in requests {
        let (upstreams, key) = (upstreams.clone(), key.clone());
        tasks.spawn(async move {
            let caller = Caller::with_port(Arc::new(Willing));
            let answer = upstreams.call(&key, name, Some(params.as_json()), &caller).await;
            let text = answer.map(|answer| answer.as_json().as_str().to_owned());
            println(&format!("{name} {} {text:?}", params.as_json().as_str()));
        });
    }
    tasks.close();
    tasks.wait().await;
    upstreams.disconnect_all().await;
}

/// Everything that is offered, used once.
fn requests(upstreams: &Upstreams, key: &ServerKey) -> Vec<(&'static str, JsonBuf)> {
    let Some(catalog) = upstreams.catalog(key) else { return Vec::new() };
    let named = |name: &str, arguments: Json<'_>| {
        write::object(|params| {
            params.text("name", name);
            params.raw("arguments", arguments);
        })
    };
    let context = variable("MCP_CONFORMANCE_CONTEXT").map(|text| raw(&text));
    let calls = context.as_ref().and_then(|context| context.as_json().get("toolCalls"));
    let mut all: Vec<(&'static str, JsonBuf)> = match calls {
        Some(calls) => calls.elements().map(|call| (method::TOOLS_CALL, call.into())).collect(),
        None => {
            let some = raw(r#"{"a":5,"b":3}"#);
            let echo = catalog.tools.first().map(|tool| tool.input_schema());
            let echo = write::object(|given| given.raw("schema", echo.unwrap_or(Json::EMPTY)));
            let arguments = |name: &str| match name {
                "json_schema_echo" => echo.as_json(),
                _ => some.as_json(),
            };
            let calls = catalog.tools.iter().map(|tool| named(&tool.name, arguments(&tool.name)));
            calls.map(|call| (method::TOOLS_CALL, call)).collect()
        }
    };
    let prompts = catalog.prompts.iter();
    all.extend(prompts.map(|prompt| (method::PROMPTS_GET, named(&prompt.name, Json::EMPTY))));
    all.extend(catalog.resources.iter().map(|resource| {
        (method::RESOURCES_READ, write::object(|params| params.text("uri", &resource.uri)))
    }));
    all
}

#[expect(clippy::disallowed_methods, reason = "the suite says it there")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Accepts everything, with the defaults that the form has.
struct Willing;

impl ClientPort for Willing {
    fn capabilities(&self) -> Json<'_> {
        const ALL: &[u8] = br#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;
        Json::parse(ALL, &switchboard_wire::Limits::DEFAULT).unwrap_or(Json::EMPTY)
    }

    fn request<'a>(
        &'a self,
        name: &'a str,
        params: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let params = params.unwrap_or_else(|| raw("{}"));
        let schema =
            params.as_json().get("requestedSchema").and_then(|schema| schema.get("properties"));
        let answer = match name {
            method::ELICIT => write::object(|answer| {
                answer.text("action", "accept");
                answer.object("content", |content| {
                    for property in schema.into_iter().flat_map(Json::members) {
                        if let (Some(key), Some(value)) =
                            (property.key.text(), property.value.get("default"))
                        {
                            content.raw(&key, value);
                        }
                    }
                });
            }),
            method::ROOTS_LIST => raw(r#"{"roots":[]}"#),
            _ => {
                raw(r#"{"role":"assistant","model":"none","content":{"type":"text","text":"ok"}}"#)
            }
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}
