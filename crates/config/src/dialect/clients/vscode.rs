//! VS Code's `mcp.json`: `servers` with `type`, and `inputs` that VS Code asks for. An input becomes
//! a variable, since the hub has nobody to ask.

use super::super::Reading;
use super::super::mcp_servers::{self, Quirks};
use crate::declared::Declared;
use crate::decode::{Report, Unit};
use crate::draft::Kind;
use crate::expand::{ClientNotation, Notation};

pub(crate) fn read(reading: &Reading<'_>, report: &mut Report) -> Declared {
    let mut declared = Declared::default();
    // Older settings have the same under `mcp`.
    let root = reading.root.get("mcp").filter(|mcp| mcp.get("servers").is_some());
    let Some(map) = root.unwrap_or(reading.root).get("servers") else { return declared };
    let notation = ClientNotation { editor: true, ..ClientNotation::default() };
    let quirks = Quirks {
        notation: Notation::Client(notation.in_workspace_of(reading.path)),
        timeout: Unit::Millis,
        bare_url: Kind::Http,
    };
    mcp_servers::servers(map, &quirks, reading, &mut declared, report);
    declared
}
