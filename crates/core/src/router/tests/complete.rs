//! That one server without completions does not end them for all.

use super::*;
use crate::port::{BoxFuture, Caller, RpcError};
use crate::registry::{Home, Offer};
use switchboard_model::ServerKey;
use switchboard_wire::types::Capabilities;
use switchboard_wire::{JsonBuf, Params};

/// Knows no method.
struct Knows(&'static str);

impl Servers for Knows {
    fn call<'a>(
        &'a self,
        _: &'a ServerKey,
        _: &'a str,
        _: Option<Params<'a>>,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<JsonBuf, CallError>> {
        let error = match self.0 {
            "no method" => RpcError::new(-32601, "Method not found"),
            _ => RpcError::new(-32602, "Unknown argument"),
        };
        Box::pin(std::future::ready(Err(error.into())))
    }
}

const NOTHING: &str = r#"{"completion":{"values":[]}}"#;

fn view(capabilities: &str) -> Arc<View> {
    let capabilities = Capabilities::read(Some(json(capabilities)));
    let registry = Registry::default();
    registry.publish(&key("a"), Arc::new(Offer { capabilities, ..everything("a", &["x"]) }));
    let templates = crate::results::template().into_iter().collect();
    let own = Offer { templates, home: Home::Hub, ..Offer::default() };
    registry.publish(&key("switchboard"), Arc::new(own));
    registry.load().everything(&Surface::mcp())
}

const PROMPT: &str = r#"{"ref":{"type":"ref/prompt","name":"a__x"},"argument":{"name":"n"}}"#;
const FAMILY: &str = r#"{"ref":{"type":"ref/resource","uri":"mcp://a/test://x/{+path}"}}"#;
const OWN: &str = r#"{"ref":{"type":"ref/resource","uri":"switchboard://results/{id}"}}"#;

fn complete(router: &Router, view: &View, params: &str) -> Result<String, CallError> {
    kit::call(router, view, &Who::default(), "completion/complete", params)
}

#[test]
fn by_a_server_that_cannot() {
    let echo = Echo::new(r#"{"completion":{"values":["a"]}}"#);
    let router = kit::router(Ports { hub: Some(echo.clone()), ..kit::ports(&echo) });
    let view = view(r#"{"prompts":{}}"#);
    for params in [PROMPT, FAMILY, OWN] {
        assert_eq!(complete(&router, &view, params).as_deref(), Ok(NOTHING), "{params}");
        assert_eq!(echo.asked(), [], "{params}");
    }
    // What nobody has is not completed.
    let unknown = complete(&router, &view, &PROMPT.replace("a__x", "a__z"));
    assert!(matches!(unknown, Err(CallError::NotFound { thing: Thing::Prompt, .. })));
}

#[test]
fn by_a_server_that_says_it_can() {
    let view = view(r#"{"prompts":{},"completions":{}}"#);
    let echo = Echo::new(r#"{"completion":{"values":["a"]}}"#);
    let asked = complete(&kit::router(kit::ports(&echo)), &view, PROMPT);
    assert_eq!(asked.as_deref(), Ok(r#"{"completion":{"values":["a"]}}"#));
    let answers = |knows| {
        let router = kit::router(Ports::new(Arc::new(Knows(knows))));
        complete(&router, &view, PROMPT)
    };
    assert_eq!(answers("no method").as_deref(), Ok(NOTHING));
    let other = RpcError::new(-32602, "Unknown argument");
    assert_eq!(answers("no argument"), Err(other.into()));
    // Of another call it is what it is.
    let router = kit::router(Ports::new(Arc::new(Knows("no method"))));
    let got = kit::call(&router, &view, &Who::default(), "prompts/get", r#"{"name":"a__x"}"#);
    assert!(matches!(got, Err(CallError::Rpc(RpcError { code: -32601, .. }))), "{got:?}");
}
