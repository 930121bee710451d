//! Which URIs a template can have made.

use crate::registry::uri_template::fit;

#[test]
fn fits() {
    let check = |template: &str, uri: &str, expected: Option<usize>| {
        assert_eq!(fit(template, uri), expected, "{template} {uri}");
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
