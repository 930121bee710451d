//! What the tests share: offers made of names, and servers that answer with what they were asked.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use switchboard_model::{AgentId, CallOrigin, ServerKey, ServerName, SystemClock, UserId};
use switchboard_wire::types::{
    Capabilities, Entry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry,
};
use switchboard_wire::{Json, JsonBuf, Limits, Params};

use crate::port::{BoxFuture, Call, CallError, Caller, House, Servers, Who};
use crate::registry::{Offer, View};
use crate::results::{Bounds, Results};
use crate::router::{Ports, Request, Router};

pub(crate) fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap()
}

pub(crate) fn buf(text: &str) -> JsonBuf {
    json(text).into()
}

pub(crate) fn key(name: &str) -> ServerKey {
    ServerKey::global(ServerName::parse(name).unwrap())
}

pub(crate) fn agent(id: &str) -> AgentId {
    AgentId::parse(id).unwrap()
}

pub(crate) fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

pub(crate) fn entry<E: Entry>(text: &str) -> E {
    E::read(buf(text)).unwrap()
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// An offer of these tools; each says in its description whose it is.
pub(crate) fn tools(of: &str, names: &[&str]) -> Offer {
    let tool = |name: &&str| {
        let (name, of) = (quoted(name), quoted(of));
        entry::<ToolEntry>(&format!(
            r#"{{ "x-first":1.0,"name":{name}, "description":{of},"inputSchema":{{"$defs":{{}}}},"last":[9223372036854775809]}}"#
        ))
    };
    Offer {
        tools: names.iter().map(tool).collect(),
        capabilities: Capabilities::read(Some(json(r#"{"tools":{}}"#))),
        ..Offer::default()
    }
}

/// The same names as tools, prompts, resources and templates. Each tool refers to two apps of its own name, of
/// which one is listed.
pub(crate) fn everything(of: &str, names: &[&str]) -> Offer {
    let tool = |name: &&str| {
        let (app, hidden) = (quoted(&app(name)), quoted(&hidden(name)));
        let (name, of) = (quoted(name), quoted(of));
        entry::<ToolEntry>(&format!(
            r#"{{ "x-first":1.0,"name":{name}, "description":{of},"inputSchema":{{}},"_meta" : {{"ui":{{"resourceUri":{app}}}, "ui/resourceUri" :{hidden}}}}}"#
        ))
    };
    let named = |name: &&str| {
        let name = quoted(name);
        entry::<PromptEntry>(&format!(r#"{{"name":{name}}}"#))
    };
    let resource = |uri: String| entry::<ResourceEntry>(&format!(r#"{{"uri":{}}}"#, quoted(&uri)));
    let template = |uri: String| {
        let template = quoted(&format!("{uri}/{{+path}}"));
        entry::<TemplateEntry>(&format!(r#"{{"uriTemplate":{template}}}"#))
    };
    let resources = names.iter().flat_map(|name| [uri(name), app(name)]);
    let families = names.iter().flat_map(|name| [uri(name), format!("ui://{name}/of")]);
    Offer {
        tools: names.iter().map(tool).collect(),
        prompts: names.iter().map(named).collect(),
        resources: resources.map(resource).collect(),
        templates: families.map(template).collect(),
        capabilities: Capabilities::read(Some(json(r#"{"tools":{},"completions":{}}"#))),
        ..tools(of, names)
    }
}

pub(crate) fn uri(name: &str) -> String {
    format!("test://{name}")
}

/// The page of an app that is listed.
pub(crate) fn app(name: &str) -> String {
    format!("ui://{name}/app")
}

/// One that is not.
pub(crate) fn hidden(name: &str) -> String {
    format!("ui://{name}/hidden")
}

/// Remembers what was asked of whom, and gives the same answer to all.
pub(crate) struct Echo {
    pub(crate) answer: JsonBuf,
    pub(crate) asked: Mutex<Vec<(ServerKey, String, String)>>,
}

impl Echo {
    pub(crate) fn new(answer: &str) -> Arc<Self> {
        Arc::new(Self { answer: buf(answer), asked: Mutex::default() })
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<(ServerKey, String, String)> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Servers for Echo {
    fn call<'a>(
        &'a self,
        server: &'a ServerKey,
        method: &'a str,
        params: Option<Params<'a>>,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        let params = params.map_or_else(String::new, |params| params.json().as_str().to_owned());
        self.asked.lock().unwrap().push((server.clone(), method.to_owned(), params));
        Box::pin(std::future::ready(Ok(self.answer.clone())))
    }
}

impl House for Echo {
    fn call<'a>(
        &'a self,
        call: &'a Call<'a>,
        _: &'a View,
        params: Json<'a>,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        let asked = (call.server.clone(), call.method.to_owned(), params.as_str().to_owned());
        self.asked.lock().unwrap().push(asked);
        Box::pin(std::future::ready(Ok(self.answer.clone())))
    }
}

pub(crate) fn ports(echo: &Arc<Echo>) -> Ports {
    Ports::new(echo.clone())
}

pub(crate) fn router(ports: Ports) -> Router {
    let results = Results::new(Arc::new(SystemClock), Bounds { page: 16, ..Bounds::default() });
    Router::new(ports, results, [7; 32])
}

thread_local! {
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_current_thread().build().unwrap();
}

/// Makes a call that waits for nothing.
pub(crate) fn call(
    router: &Router,
    view: &View,
    who: &Who,
    method: &str,
    params: &str,
) -> Result<String, CallError> {
    let params = json(params);
    let origin = CallOrigin::Mcp;
    let params = params.into();
    let request = Request { view, who, origin, method, params, trace: None };
    let result =
        RUNTIME.with(|runtime| runtime.block_on(router.call(&request, &Caller::default())));
    result.map(|result| result.as_json().as_str().to_owned())
}

/// Any JSON text: any layout, any escapes, any numbers, repeated keys.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    let space = "[ \n\r\t]{0,2}";
    let string = r#""([ -!#-\[\]-~é日😀]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){0,12}""#;
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?";
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), number, string];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let item = (space, inner.clone(), space).prop_map(|(a, b, c)| format!("{a}{b}{c}"));
        let member = (space, string, space, inner, space)
            .prop_map(|(a, key, b, value, c)| format!("{a}{key}{b}:{value}{c}"));
        prop_oneof![
            prop::collection::vec(item, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5)
                .prop_map(|items| format!("{{{}}}", items.join(","))),
        ]
    })
}
