//! In front of every operation: who asks, whether this route is for them, and whether a browser was
//! made to ask by a page elsewhere. What is not in the table is refused.

mod once;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use switchboard_model::{CallOrigin, Secret};
use switchboard_store::Role;

use self::once::Keeps;
use crate::api::Api;
use crate::error::{Problem, Result};
use crate::table::{self, Access, Repeat, Route};
use crate::who::{self, Caller, Known, Local};

/// What every change on the page carries beside its cookie.
pub(crate) const CSRF: &str = "x-csrf-token";

/// Lets a request pass, or says why not. No answer is kept by anybody in between unless it says so.
pub(crate) async fn pass(
    State(api): State<Api>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let mut response = through(api, path, request, next).await;
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

async fn through(api: Api, path: MatchedPath, mut request: Request, next: Next) -> Response {
    // No id and no word has it, and not every database can be asked for it.
    if request.uri().to_string().contains("%00") {
        let text = "the address holds the character U+0000";
        return Problem::new(StatusCode::BAD_REQUEST, "bad_path", text).into_response();
    }
    let Some(route) = table::find(request.method().as_str(), path.as_str()) else {
        return unknown(path.as_str()).into_response();
    };
    if route.access == Access::Public {
        return next.run(request).await;
    }
    let local = request.extensions().get::<Local>().cloned();
    // A request as a whole cannot be lent across a wait.
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let caller = match caller(&api, route, local, &method, &headers).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    request.extensions_mut().insert(caller.clone());
    match (route.repeat, request.headers().get(once::KEY).cloned()) {
        (Repeat::Keyed, Some(key)) => {
            once::run(&api, &caller, (&key, Keeps::Answer), request, next).await
        }
        (Repeat::KeyedSecret, Some(key)) => {
            once::run(&api, &caller, (&key, Keeps::Nothing), request, next).await
        }
        _ if route.is_change() => whole(&api, request, next).await,
        _ => next.run(request).await,
    }
}

/// A change that has begun is ended even if whoever asked is gone: what is in the store also runs.
async fn whole(api: &Api, request: Request, next: Next) -> Response {
    let done = api.tasks().spawn(async move { next.run(request).await }).await;
    done.unwrap_or_else(|_| {
        let text = "the hub could not do it; its log says why";
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "internal", text).into_response()
    })
}

/// Not in the table: another method of the same path, or a route that somebody forgot to say whose
/// it is.
fn unknown(path: &str) -> Problem {
    if table::ROUTES.iter().any(|route| route.path == path) {
        let text = "this path does not take that method";
        return Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text);
    }
    Problem::forbidden("this route is nobody's")
}

async fn caller(
    api: &Api,
    route: &Route,
    local: Option<Local>,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Caller> {
    if let Some(Local(user)) = local {
        let role = Role::Administrator;
        return Ok(Caller { user, role, agent: None, origin: CallOrigin::Cli });
    }
    let known = who::identify(headers, api.store()).await?;
    let caller = match known.ok_or_else(Problem::unauthorized)? {
        Known::Sure(caller) => caller,
        Known::Cookie(caller, session) => {
            let changes = !matches!(*method, Method::GET | Method::HEAD);
            let token = headers.get(CSRF).and_then(|value| value.to_str().ok());
            let meant = token.is_some_and(|token| session.allows(&Secret::new(token)));
            if changes && !(meant && same_origin(headers)) {
                let text = "the request does not come from this hub's own page";
                return Err(Problem::forbidden(text).remedy("Reload the page and try again."));
            }
            caller
        }
    };
    match route.access {
        Access::Administrator if !caller.is_administrator() => {
            Err(Problem::forbidden("this is for administrators"))
        }
        Access::Member if caller.agent.is_some() => {
            Err(Problem::forbidden("this is for people, and the token is an agent's"))
        }
        Access::Public | Access::Agent | Access::Member | Access::Administrator => Ok(caller),
    }
}

/// Browsers say where a request comes from; what is not a browser has no cookie.
fn same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    match (text(header::ORIGIN), text(header::HOST)) {
        (Some(origin), Some(host)) => {
            origin.split_once("://").is_some_and(|(_, origin)| origin.eq_ignore_ascii_case(host))
        }
        (None, _) => true,
        (Some(_), None) => false,
    }
}
