//! What servers list of their tools reaches agents byte for byte, but for the names: from a server that is there, and
//! from what the hub remembers of one that is not.

use super::door::Door;
use super::words::tool;
use super::{ABOUT, doors, hub, mirrors};
use crate::context::Context;
use crate::hub::{Hub, status, wait};
use crate::mirror::{Era, Mirror, TOOLS};

/// The list of tools at a door.
fn listed(era: Era, door: &Door) -> String {
    let (about, headers) = match era {
        Era::Session => ("", ""),
        Era::Stateless => (ABOUT, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"),
    };
    let params = format!(r#""params":{{"_meta":{{{about}"own":1.0}}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list",{params}}}"#);
    door.messages(&body, headers).last().unwrap()
}

fn check(when: &str, mirrors: &[(&str, Mirror)], (context, hub, token): (&Context, &Hub, &str)) {
    for (way, era, door) in &doors(context, hub, token) {
        let list = listed(*era, door);
        for (name, _) in mirrors {
            for own in TOOLS {
                let entry = tool(&format!("{name}__{own}"));
                assert!(list.contains(&entry), "{when}, {way}, {era:?}: {entry}\n{list}");
            }
        }
    }
}

#[test]
fn what_is_listed_of_tools_passes_byte_for_byte() {
    let mirrors = mirrors();
    let (context, before, token) = hub(&mirrors);
    check("by those that are there", &mirrors, (&context, &before, &token));
    before.stop();
    mirrors.iter().for_each(|(_, mirror)| mirror.leave());
    let after = Hub::start(&context);
    wait("it is known that they are not there", || {
        status(&context).iter().all(|server| server["ok"] == false)
    });
    check("as they are remembered", &mirrors, (&context, &after, &token));
}
