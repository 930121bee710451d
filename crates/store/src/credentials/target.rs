//! To where a credential was given: the hash of an address, or of a command line and its directory. Variables count
//! as they are written, not by what they stand for.

use sha2::{Digest, Sha256};
use switchboard_model::{IfMissing, Part, ServerSpec, Template, Transport};

/// Where what is secret goes by this declaration. What else it says is no part of it.
pub fn target_hash(spec: &ServerSpec) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"switchboard target 1\0");
    match &spec.transport {
        Transport::Http(http) => {
            word(&mut hash, "url");
            template(&mut hash, &http.url);
        }
        Transport::Stdio(stdio) => {
            word(&mut hash, "command");
            template(&mut hash, &stdio.command);
            number(&mut hash, stdio.args.len());
            stdio.args.iter().for_each(|arg| template(&mut hash, arg));
            number(&mut hash, usize::from(stdio.cwd.is_some()));
            stdio.cwd.iter().for_each(|cwd| template(&mut hash, cwd));
        }
    }
    hash.finalize().into()
}

fn template(hash: &mut Sha256, template: &Template) {
    number(hash, template.parts().len());
    for part in template.parts() {
        let (kind, text, default) = match part {
            Part::Literal(text) => ("text", text, ""),
            Part::Variable { name, if_missing: IfMissing::NeedsSetup } => ("needs", name, ""),
            Part::Variable { name, if_missing: IfMissing::Skip } => ("skip", name, ""),
            Part::Variable { name, if_missing: IfMissing::Use(text) } => ("use", name, &text[..]),
        };
        [kind, text, default].into_iter().for_each(|text| word(hash, text));
    }
}

fn word(hash: &mut Sha256, text: &str) {
    number(hash, text.len());
    hash.update(text);
}

fn number(hash: &mut Sha256, number: usize) {
    hash.update((number as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use switchboard_model::{HttpKind, HttpSpec, ServerName, StdioSpec};

    use super::*;

    fn http(url: &str) -> ServerSpec {
        let url = Template::parse(url).unwrap();
        let http = HttpSpec { kind: HttpKind::Streamable, url, headers: BTreeMap::new() };
        ServerSpec::new(ServerName::parse("wiki").unwrap(), Transport::Http(http))
    }

    fn stdio(command: &str, args: &[&str], cwd: Option<&str>) -> ServerSpec {
        let text = |text: &str| Template::parse(text).unwrap();
        let args = args.iter().map(|arg| text(arg)).collect();
        let (command, cwd) = (text(command), cwd.map(text));
        let stdio = StdioSpec { command, args, env: BTreeMap::new(), cwd };
        ServerSpec::new(ServerName::parse("wiki").unwrap(), Transport::Stdio(stdio))
    }

    #[test]
    fn every_place_has_its_own() {
        let places = [
            http("https://a.example/mcp"),
            http("https://b.example/mcp"),
            http("https://${A}.example/mcp"),
            http("https://${A:-b}.example/mcp"),
            stdio("a", &[], None),
            stdio("a", &["b"], None),
            stdio("a", &["b", "c"], None),
            stdio("a", &["bc"], None),
            stdio("a", &["b"], Some("c")),
            stdio("ab", &[], None),
        ];
        let hashes: BTreeSet<_> = places.iter().map(target_hash).collect();
        assert_eq!(hashes.len(), places.len());
    }

    #[test]
    fn what_does_not_move_it_is_no_part_of_it() {
        let mut other = http("https://a.example/mcp");
        other.enabled = false;
        other.description = Some("new".to_owned());
        let Transport::Http(spec) = &mut other.transport else { unreachable!() };
        spec.kind = HttpKind::Sse;
        assert_eq!(target_hash(&other), target_hash(&http("https://a.example/mcp")));
    }
}
