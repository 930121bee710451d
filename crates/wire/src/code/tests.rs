//! Codes, their statuses, and what the probe makes of them.

use super::*;

#[test]
fn statuses() {
    let check = |code, at_the_gate, in_the_call| {
        assert_eq!(http_status(code, Raised::AtTheGate), at_the_gate, "{code}");
        assert_eq!(http_status(code, Raised::InTheCall), in_the_call, "{code}");
    };
    check(PARSE_ERROR, 400, 200);
    check(INVALID_REQUEST, 400, 200);
    check(METHOD_NOT_FOUND, 404, 200);
    check(INVALID_PARAMS, 400, 200);
    check(INTERNAL_ERROR, 500, 200);
    check(HEADER_MISMATCH, 400, 200);
    check(MISSING_CLIENT_CAPABILITY, 400, 400);
    check(UNSUPPORTED_VERSION, 400, 200);
    check(-32000, 400, 200);
}

#[test]
fn evidence() {
    let stateless: Vec<_> = (-33000..0).filter(|code| is_stateless_era(*code)).collect();
    assert_eq!(stateless, [UNSUPPORTED_VERSION, MISSING_CLIENT_CAPABILITY, HEADER_MISMATCH]);
    assert!(stateless.iter().all(|code| name(*code).is_some()));
    assert_eq!((name(METHOD_NOT_FOUND), name(-1)), (Some("Method not found"), None));
}
