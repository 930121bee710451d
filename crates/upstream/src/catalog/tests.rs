//! Pages, bounds, filters.

use bytes::Bytes;
use switchboard_model::Pattern;
use switchboard_wire::Limits;

use super::*;

fn page(text: &str) -> Page<PromptEntry> {
    let json = JsonBuf::parse(Bytes::copy_from_slice(text.as_bytes()), &Limits::DEFAULT).unwrap();
    Page::read(&json).unwrap()
}

#[test]
fn pages_are_followed_within_bounds() {
    let check = |bounds: Bounds, pages: &[&str], names: &[&str], remarks: &[&str]| {
        let mut gathered = Gathered { bounds, ..Gathered::default() };
        for (nth, text) in pages.iter().enumerate() {
            let next = gathered.take(page(text), 100);
            assert_eq!(next.is_some(), nth + 1 < pages.len(), "{text}");
        }
        let got: Vec<_> = gathered.entries.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(got, names);
        assert_eq!(gathered.remarks, remarks);
    };
    let a = r#"{"prompts":[{"name":"a"}],"nextCursor":"2"}"#;
    let b = r#"{"prompts":[{"name":"b"},{"name":"a"},7],"nextCursor":"3"}"#;
    let c = r#"{"prompts":[{"name":"c"}]}"#;
    check(
        BOUNDS,
        &[a, b, c],
        &["a", "b", "c"],
        &["entry 2 is left out: it is not an object", "`a` is there twice; the first counts"],
    );
    check(
        BOUNDS,
        &[a, a],
        &["a"],
        &["`a` is there twice; the first counts", "its pages go in a circle"],
    );
    check(Bounds { pages: 1, ..BOUNDS }, &[a], &["a"], &["it has no end; 1 pages are taken"]);
    check(Bounds { bytes: 100, ..BOUNDS }, &[a], &["a"], &["it has no end; 1 pages are taken"]);
    check(Bounds { entries: 1, ..BOUNDS }, &[a, c], &["a"], &["only the first 1 are taken"]);
}

#[test]
fn filters_and_mirrored_arguments() {
    let text = r#"{"tools":[{"name":"read","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"Region"}}}},{"name":"delete_all","inputSchema":{}}]}"#;
    let json = JsonBuf::parse(Bytes::from_static(text.as_bytes()), &Limits::DEFAULT).unwrap();
    let listing = Listing { tools: Page::read(&json).unwrap().entries, ..Listing::default() };
    let all = Catalog::of(&listing, &ToolFilter::default(), Duration::MAX);
    assert_eq!(all.counts(), Counts { tools: 2, ..Counts::default() });
    assert_eq!(all.mirrored("read")[0].header.as_ref(), "mcp-param-region");
    let deny = vec![Pattern::parse("delete_*").unwrap()];
    let some = Catalog::of(&listing, &ToolFilter { deny, ..ToolFilter::default() }, Duration::MAX);
    assert_eq!(
        some.tools[0].raw().as_str(),
        json.as_json().get("tools").unwrap().elements().next().unwrap().as_str()
    );
    assert_eq!(some.tools.len(), 1);
}
