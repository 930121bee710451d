//! What is a way to name tools.

use super::*;

#[test]
fn names() {
    let by = |text: &str| Ok(Names::By(text.to_owned()));
    let check = |text: &str, expected: Result<Names, NamesError>| {
        assert_eq!(Names::parse(text), expected, "{text}");
    };
    check("bare", Ok(Names::Bare));
    check("{server}_{tool}", by("{server}_{tool}"));
    check("mcp__{server}__{tool}-x", by("mcp__{server}__{tool}-x"));
    check("", Err(NamesError::Parts));
    check("{tool}_{server}", Err(NamesError::Parts));
    check("{server}_{tool}_{tool}", Err(NamesError::Parts));
    check("{server}{tool}", Err(NamesError::Nothing));
    check("{server}.{tool}", Err(NamesError::Character('.')));
    check("{server}_{tool}_sixteen_is_most", Err(NamesError::Long));
}
