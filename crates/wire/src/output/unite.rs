//! What several servers can do between them, as one declaration.

use crate::json::{Json, JsonBuf, Kind};
use crate::rewrite::{Edit, edited};
use crate::types::Capabilities;
use crate::write::object;

/// What at least one of the servers can do. Lists change, for servers come and go; tasks are not
/// listed, for a server that many share cannot tell whose they are.
pub fn united<'c>(all: impl IntoIterator<Item = &'c Capabilities>) -> Capabilities {
    let all: Vec<Json<'_>> = all.into_iter().map(Capabilities::raw).collect();
    let one = unite(&all);
    let yes = [Edit::set("listChanged", Json::trusted(b"true"))];
    let mut edits = vec![Edit::inside("tasks", const { &[Edit::remove("list")] })];
    let listed = ["tools", "resources", "prompts"].into_iter();
    edits.extend(
        listed.filter(|key| one.as_json().get(key).is_some()).map(|key| Edit::inside(key, &yes)),
    );
    // What was united has nothing twice.
    let one = edited(one.as_json(), &edits).unwrap_or(one);
    Capabilities::read(Some(one.as_json()))
}

/// Objects have the members of all; of what is no object, `true` counts before anything, and then
/// the first.
fn unite(all: &[Json<'_>]) -> JsonBuf {
    let first = all.first().copied().unwrap_or(Json::EMPTY);
    if first.kind() != Kind::Object {
        return all.iter().copied().find(|one| one.boolean() == Some(true)).unwrap_or(first).into();
    }
    let mut members: Vec<(String, Vec<Json<'_>>)> = Vec::new();
    for member in all.iter().flat_map(|one| one.members()) {
        let Some(key) = member.key.text().filter(|_| !member.value.is_null()) else { continue };
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(member.value),
            None => members.push((key.into_owned(), vec![member.value])),
        }
    }
    let members: Vec<(String, JsonBuf)> =
        members.into_iter().map(|(key, values)| (key, unite(&values))).collect();
    object(|one| members.iter().for_each(|(key, value)| one.raw(key, value.as_json())))
}
