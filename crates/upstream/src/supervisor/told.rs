//! The resources of which a server of the stateless era agreed to tell, and who is told when it does not any
//! more. Never asks it.

use std::collections::BTreeSet;

use crate::server::Server;

/// Resources of which it agreed to tell, by what it acknowledged last.
pub(super) struct Told {
    pub(super) uris: BTreeSet<String>,
    /// Whether it was not heard since.
    pub(super) missed: bool,
}

impl Told {
    /// These were asked for, and of some of them it does not tell.
    pub(super) fn reckon(&mut self, server: &Server, asked: &[String], untold: &[&String]) {
        let before = std::mem::take(&mut self.uris);
        let missed = std::mem::take(&mut self.missed);
        for uri in asked {
            if untold.contains(&uri) {
                server.journal.remark(&format!("it does not tell of changes of {uri}"));
                if before.contains(uri) {
                    server.lose(uri);
                }
                continue;
            }
            if missed && before.contains(uri) {
                server.tell_to_look(uri);
            }
            self.uris.insert(uri.clone());
        }
    }

    /// It tells of none of them any more: each is asked for anew by whoever wants it.
    pub(super) fn lose(&mut self, server: &Server) {
        std::mem::take(&mut self.uris).iter().for_each(|uri| server.lose(uri));
    }
}
