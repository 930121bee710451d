//! Secrets among arguments, by the names they stand under: whoever repeats arguments in a text of its own leaves
//! the names out. Only gathers their fingerprints.

use switchboard_wire::{Json, Kind};

use super::names::{self, Says};
use super::{DEPTH, Known, MEMBERS, known};

/// So many are looked for in a text, each length costing one pass over it.
const MOST: usize = 32;

impl Known {
    /// What stands in these arguments under names that say it is secret.
    pub fn named_in(arguments: Json<'_>) -> Self {
        let mut found = Found { known: Self::default(), left: MOST };
        found.value(arguments, Says::Nothing, DEPTH);
        found.known
    }
}

struct Found {
    known: Known,
    left: usize,
}

impl Found {
    fn value(&mut self, json: Json<'_>, says: Says, depth: usize) {
        match json.kind() {
            Kind::Object if depth > 0 => self.object(json, says, depth),
            Kind::Array if depth > 0 => {
                let elements = json.elements().take(MEMBERS);
                elements.for_each(|element| self.value(element, says, depth - 1));
            }
            Kind::String | Kind::Number if says == Says::Secret && self.left > 0 => {
                self.left -= 1;
                self.add(json);
            }
            _ => {}
        }
    }

    fn object(&mut self, json: Json<'_>, above: Says, depth: usize) {
        let beside = names::said_beside(json.members().take(MEMBERS));
        for member in json.members().take(MEMBERS) {
            let says = match names::said(names::of(member).as_deref(), beside) {
                Says::Secret => Says::Secret,
                Says::Nothing => above,
            };
            self.value(member.value, says, depth - 1);
        }
    }

    /// As it is, and as it is written in JSON.
    fn add(&mut self, json: Json<'_>) {
        let whole = json.as_str();
        let inner = whole.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let written = inner.unwrap_or(whole);
        self.known.add(written);
        // Written with escapes, a text takes up to six times its length.
        if let Some((text, _)) = json.string_start(6 * known::LONGEST)
            && text != written
        {
            self.known.add(&text);
        }
    }
}
