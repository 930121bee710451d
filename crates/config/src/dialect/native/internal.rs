//! What our own file says of internal servers: whether, where and by which manifests they are found.
//! What cannot be read finds nothing.

use std::path::Path;

use switchboard_model::Code;

use crate::declared::Declared;
use crate::decode::{Fields, Report, Text, Unknown};
use crate::internal::{Internal, MANIFESTS, ROOT, Siblings};
use crate::syntax::Field;

/// Reads the table. A relative root counts from the file that names it, not from wherever the hub
/// happens to be started: the same file always means the same directory.
pub(super) fn read(field: &Field, file: &Path, declared: &mut Declared, report: &mut Report) {
    let before = report.errors();
    declared.broken_internal = true;
    let Some(mut fields) = Fields::of(&field.value, "`internal`", report) else { return };
    let enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
    let root = fields.some_text("root", report).map_or(ROOT.to_owned(), |text| text.value);
    let keys = fields.texts("manifests", report);
    if let Some(list) = field.value.get("manifests")
        && keys.as_ref().is_some_and(|keys| keys.is_empty() || keys.iter().any(is_empty))
    {
        let remedy = "Name a key of package.json such as \"annabelle\", or set `enabled = false`.";
        report.error(Code::BadValue, &list.span, "`manifests` does not name a key", remedy);
    }
    fields.finish(Unknown::Error, report);
    if report.errors() != before {
        return;
    }
    let manifests = match keys {
        Some(keys) => keys.into_iter().map(|key| key.value).collect(),
        None => MANIFESTS.map(str::to_owned).to_vec(),
    };
    let root = file.parent().unwrap_or(Path::new("")).join(root);
    let internal = match enabled {
        true => Internal::Beside(Siblings { root, manifests }),
        false => Internal::Off,
    };
    declared.broken_internal = false;
    declared.internal = Some((internal, report.place(&field.key_span)));
}

fn is_empty(key: &Text) -> bool {
    key.value.is_empty()
}
