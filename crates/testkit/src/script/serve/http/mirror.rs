//! Whether the headers of a request of the stateless era say what its body says, as servers have to
//! check it.

use switchboard_wire::{Json, Limits, header, method};

use super::Request;
use crate::script::serve::catalog;
use crate::script::serve::dispatch::Arrival;
use crate::script::serve::era::Refusal;

/// The method, the name, the revision, and arguments that a tool wants mirrored.
pub(super) fn check(request: &Request, arrival: &Arrival, version: &str) -> Result<(), Refusal> {
    let mirror = header::Mirror {
        version: request.header(header::PROTOCOL_VERSION).map(str::as_bytes),
        method: request.header(header::METHOD).map(str::as_bytes),
        name: request.header(header::NAME).map(str::as_bytes),
    };
    let params = arrival.message["params"].to_string();
    let params = Json::parse(params.as_bytes(), &Limits::DEFAULT).ok();
    let name = arrival.method().unwrap_or_default();
    let checked = header::check(&mirror, name, version, &params.unwrap_or(Json::EMPTY).into())
        .and_then(|subject| {
            let schema = subject.filter(|_| name == method::TOOLS_CALL);
            let schema =
                schema.and_then(|tool| catalog::schema(&tool)).unwrap_or_default().to_string();
            let schema = Json::parse(schema.as_bytes(), &Limits::DEFAULT).unwrap_or(Json::NULL);
            let wanted = header::param_headers(schema).unwrap_or_default();
            let arguments = params.and_then(|params| params.get("arguments"));
            header::check_params(&wanted, arguments, |name| request.header(name))
        });
    checked.map_err(|mismatch| Refusal::gate(mismatch.code(), mismatch.to_string()))
}
