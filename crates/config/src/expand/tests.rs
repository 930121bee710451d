//! Each notation, as the native one would write the same.

use super::*;

fn check(notation: &Notation, text: &str, native: &str) {
    assert_eq!(template(text, notation).unwrap().source(), native, "{text}");
}

#[test]
fn annabelle() {
    let upper = Notation::Upper;
    check(&upper, "prefix-${API_KEY}-suffix", "prefix-${API_KEY:-}-suffix");
    check(&upper, "${lower} ${A:-b} ${} $X {", "$${lower} $${A:-b} $${} $X {");
}

#[test]
fn plain() {
    let plain = Notation::Plain(IfMissing::NeedsSetup);
    check(&plain, "${A} ${b:-c} ${not this} $D", "${A} ${b:-c} $${not this} $D");
    let skip = template("${A}${B:-}", &Notation::Plain(IfMissing::Skip)).unwrap();
    let rules: Vec<_> = skip.variables().map(|(_, rule)| rule.clone()).collect();
    assert_eq!(rules, [IfMissing::Skip, IfMissing::Use(String::new())]);
}

#[test]
fn clients() {
    let all = Notation::Client(
        ClientNotation { editor: true, bare: true, braces: true, mustache: true, workspace: None }
            .in_workspace_of(Path::new("/p/demo/.vscode/mcp.json")),
    );
    check(&all, "${A}${A:-x}", "${A}${A:-x}");
    check(&all, "${env:TOKEN} ${input:api-key}", "${TOKEN} ${API_KEY}");
    check(
        &all,
        "${userHome}/x ${workspaceFolder} ${workspaceFolderBasename}",
        "${HOME}/x /p/demo demo",
    );
    check(&all, "$TOKEN, $5", "${TOKEN}, $5");
    check(&all, "{env:TOKEN}{x}", "${TOKEN}{x}");
    check(&all, "${{ secrets.MY_KEY }}", "${MY_KEY}");
    check(&all, "${unclosed {env: ü$", "$${unclosed {env: ü$");
    let none = Notation::Client(ClientNotation::default());
    check(&none, "$A ${env:X} {env:X}", "$A ${X} {env:X}");
}
