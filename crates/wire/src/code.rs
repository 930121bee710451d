//! The error codes of JSON-RPC and MCP, and the HTTP status that goes with each in the stateless
//! era. Never decides which one applies.

#[cfg(test)]
mod tests;

/// The bytes are not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a message.
pub const INVALID_REQUEST: i64 = -32600;
/// Nobody knows the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params are wrong; also: no such tool, no such resource, missing `_meta` fields.
pub const INVALID_PARAMS: i64 = -32602;
/// It broke inside.
pub const INTERNAL_ERROR: i64 = -32603;

/// No such resource; session era.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// The user has to open a URL first; revision 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// HTTP headers and body disagree, or a header is missing or malformed; stateless era.
pub const HEADER_MISMATCH: i64 = -32020;
/// The caller did not declare a capability that is needed (`data.requiredCapabilities`);
/// stateless era.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The revision is not spoken here (`data.supported`, `data.requested`); stateless era.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Who noticed the error: the status of an HTTP answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// We refused the request before anybody worked on it.
    AtTheGate,
    /// It is the outcome of a request that was in order.
    InTheCall,
}

/// The code's name, if MCP or JSON-RPC gave it one.
pub const fn name(code: i64) -> Option<&'static str> {
    Some(match code {
        PARSE_ERROR => "Parse error",
        INVALID_REQUEST => "Invalid request",
        METHOD_NOT_FOUND => "Method not found",
        INVALID_PARAMS => "Invalid params",
        INTERNAL_ERROR => "Internal error",
        RESOURCE_NOT_FOUND => "Resource not found",
        URL_ELICITATION_REQUIRED => "URL elicitation required",
        HEADER_MISMATCH => "Header mismatch",
        MISSING_CLIENT_CAPABILITY => "Missing required client capability",
        UNSUPPORTED_VERSION => "Unsupported protocol version",
        _ => return None,
    })
}

/// The HTTP status of a stateless-era answer with that code. The outcome of a call is 200 whatever
/// its code, but for a missing capability, of which only the call can know.
pub const fn http_status(code: i64, raised: Raised) -> u16 {
    match (raised, code) {
        (_, MISSING_CLIENT_CAPABILITY) => 400,
        (Raised::InTheCall, _) => 200,
        (Raised::AtTheGate, METHOD_NOT_FOUND) => 404,
        (Raised::AtTheGate, INTERNAL_ERROR) => 500,
        (Raised::AtTheGate, _) => 400,
    }
}

/// Whether only a server of the stateless era would answer with that code: the probe's evidence.
/// Codes that both eras use (-32601, -32602, …) say nothing.
pub const fn is_stateless_era(code: i64) -> bool {
    matches!(code, HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION)
}
