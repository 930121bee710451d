//! Which URIs a template can have made.

use crate::registry::uri_template::{can_begin, fit};

#[test]
fn fits() {
    let check = |template: &str, uri: &str, expected: Option<usize>| {
        let bytes = fit(template, uri).map(|close| close.bytes);
        assert_eq!(bytes, expected, "{template} {uri}");
    };
    check("test://x", "test://x", Some(8));
    check("test://x", "test://xy", None);
    check("test://{id}", "test://42", Some(7));
    check("test://{id}", "test://", Some(7));
    check("test://{id}", "test://4/2", None);
    check("test://{id}/data", "test://42/data", Some(12));
    check("test://{id}/data", "test://42/dat", None);
    check("test://{a}-{b}", "test://x-y-z", Some(8));
    check("file:///{+path}", "file:///a/b?c#d", Some(8));
    check("file:///{path}{.ext}", "file:///a.txt", Some(8));
    check("x://{a,b}", "x://1,2", Some(4));
    check("x://a{/b}", "x://a/1", Some(5));
    check("x://a{/b}", "x://a/1/2", None);
    check("x://a{/b*}", "x://a/1/2", Some(5));
    check("x://a{?q,r}", "x://a?q=1&r=2", Some(5));
    check("x://a{?q}", "x://a", Some(5));
    check("x://a{?q}", "x://ab", None);
    check("x://a{?q}{&r}", "x://a?q=1&r=2", Some(5));
    check("x://a{;q}", "x://a;q=1", Some(5));
    check("x://a{#f}", "x://a#f", Some(5));
    check("x://{日}/é", "x://本/é", Some(7));
    check("x://{broken", "x://a", None);
    check("", "", Some(0));
    check("{x}", "", Some(0));
    // Nothing that anybody sends takes long.
    let hard = "{a}".repeat(1000);
    check(&hard, &"a".repeat(4000), Some(0));
    check(&"{a}".repeat(2000), "a", None);
}

#[test]
fn what_is_said_first_counts_most() {
    let closer = |one: &str, other: &str, uri: &str| {
        assert!(fit(one, uri).unwrap() > fit(other, uri).unwrap(), "{one} {other}");
    };
    closer("test://b/{+id}", "test://{+all}", "test://b/1");
    closer("test://b/{+id}", "{+all}/a/long/end", "test://b/a/long/end");
    closer("test://{id}/data", "test://{+all}", "test://1/data");
}

#[test]
fn begins() {
    let check = |template: &str, expected: bool| {
        assert_eq!(can_begin(template, "ui://"), expected, "{template}");
    };
    for template in [
        "{+x}",
        "u{+x}",
        "ui:{+x}",
        "ui:/{+x}",
        "ui://{x}",
        "ui://a",
        "{x}://a/b",
        "{a}i:{+b}",
        "{a}{b}{+c}",
        "u{a}//x",
        "ui:{/x*}",
        "{+x}/end",
    ] {
        check(template, true);
    }
    for template in [
        "{x}",
        "u",
        "ui:",
        "test://{+x}",
        "ui:a{+x}",
        "{x}:a",
        "{?q}",
        "{/x}",
        "ui:{x}",
        "{+broken",
        "",
    ] {
        check(template, false);
    }
}
