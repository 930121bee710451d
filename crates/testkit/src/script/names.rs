//! The faults by name, each with the values it has unless a script says otherwise. A table.

/// Every name, with its document.
#[rustfmt::skip]
pub(super) const TABLE: &[(&str, &str)] = &[
    ("slow_start",           r#"{"do":"slow_start","ms":1000}"#),
    ("crash_start",          r#"{"do":"crash_start","code":1,"stderr":"cannot start: the script says so"}"#),
    ("flood_stdout",         r#"{"do":"flood_stdout","lines":100000,"per_second":0}"#),
    ("flood_stderr",         r#"{"do":"flood_stderr","bytes":16777216,"per_second":0}"#),
    ("fork_children",        r#"{"do":"fork_children","count":1,"depth":1,"setsid":false,"ms":60000,"pids":""}"#),
    ("fork_daemons",         r#"{"do":"fork_children","count":1,"depth":1,"setsid":true,"ms":60000,"pids":""}"#),
    ("ignore_sigterm",       r#"{"do":"ignore_sigterm"}"#),
    ("ignore_stdin_close",   r#"{"do":"ignore_stdin_close"}"#),
    ("close_stdin",          r#"{"do":"close_stdin"}"#),
    ("close_stdout",         r#"{"do":"close_stdout"}"#),
    ("list_storm",           r#"{"do":"list_storm","per_second":1000,"ms":1000,"list":"tools"}"#),
    ("silent",               r#"{"do":"silent"}"#),
    ("silent_initialize",    r#"{"do":"silent","method":"initialize"}"#),
    ("silent_probe",         r#"{"do":"silent","method":"server/discover"}"#),
    ("ignore_ping",          r#"{"do":"silent","method":"ping"}"#),
    ("hang",                 r#"{"do":"hang","ms":0}"#),
    ("delay",                r#"{"do":"delay","ms":200}"#),
    ("crash",                r#"{"do":"crash","code":1,"mid_line":false,"stderr":"crashed in a call"}"#),
    ("crash_mid_line",       r#"{"do":"crash","code":1,"mid_line":true,"stderr":"crashed in a line"}"#),
    ("garbage",              r#"{"do":"garbage","kind":"mixed","count":1}"#),
    ("half_line",            r#"{"do":"half_line"}"#),
    ("huge",                 r#"{"do":"huge","bytes":1073741824}"#),
    ("duplicate",            r#"{"do":"duplicate","count":2}"#),
    ("reorder",              r#"{"do":"reorder","count":4,"ms":1000}"#),
    ("unknown_id",           r#"{"do":"unknown_id","instead":false}"#),
    ("batch",                r#"{"do":"batch"}"#),
    ("error",                r#"{"do":"error","code":-32603,"message":"the script says so","status":200}"#),
    ("probe_error",          r#"{"do":"error","code":-32601,"message":"Method not found","status":200,"method":"server/discover"}"#),
    ("die_on_probe",         r#"{"do":"die_on_probe","exit":false}"#),
    ("changing_definitions", r#"{"do":"changing_definitions"}"#),
    ("endless_pages",        r#"{"do":"endless_pages","cursor":"same"}"#),
    ("invalid_entries",      r#"{"do":"invalid_entries"}"#),
    ("expire_sessions",      r#"{"do":"expire_sessions","requests":3}"#),
    ("strange_sessions",     r#"{"do":"strange_sessions","status":400,"code":-32000,"message":"Bad Request: No valid session ID provided"}"#),
    ("status",               r#"{"do":"status","status":500,"headers":{},"body":"the script says so"}"#),
    ("unauthorized",         r#"{"do":"status","status":401,"headers":{"www-authenticate":"Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource\""},"body":""}"#),
    ("forbidden",            r#"{"do":"status","status":403,"headers":{},"body":""}"#),
    ("too_many",             r#"{"do":"status","status":429,"headers":{"retry-after":"1"},"body":""}"#),
    ("bad_gateway",          r#"{"do":"status","status":502,"headers":{},"body":"<html>bad gateway</html>"}"#),
    ("unavailable",          r#"{"do":"status","status":503,"headers":{},"body":"unavailable"}"#),
    ("no_get",               r#"{"do":"status","status":405,"headers":{"allow":"POST"},"body":"","method":"GET"}"#),
    ("reset",                r#"{"do":"reset","at":"response"}"#),
    ("truncate",             r#"{"do":"truncate"}"#),
    ("drop_stream",          r#"{"do":"drop_stream","events":1,"resumable":true}"#),
    ("redirect",             r#"{"do":"redirect","status":307,"to":"slash"}"#),
    ("content_type",         r#"{"do":"content_type","value":"text/html"}"#),
    ("slow_body",            r#"{"do":"slow_body","ms":2}"#),
];

/// Every name that a fault can be called by.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}
