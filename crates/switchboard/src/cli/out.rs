//! Printing: tables and colours for people, JSON for scripts. The one place that writes to the
//! terminal.

use std::io::{IsTerminal, Write};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use switchboard_model::mask;

use super::Colour;

/// How a command speaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) json: bool,
}

/// What draws the eye.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// What is said beside.
pub(super) const DIM: Style = Style::new().dimmed();
/// What stands above.
pub(super) const BOLD: Style = Style::new().bold();
/// What went away.
pub(super) const BAD: Style = AnsiColor::Red.on_default();

impl Out {
    pub(super) fn new(json: bool, colour: Colour) -> Self {
        match colour {
            Colour::Auto => {}
            Colour::Always => ColorChoice::Always.write_global(),
            Colour::Never => ColorChoice::Never.write_global(),
        }
        Self { json }
    }

    /// A line for people; nothing where a script reads.
    pub(super) fn line(&self, text: impl AsRef<str>) {
        if !self.json {
            print(text.as_ref());
        }
    }

    /// A line beside the result, on standard error.
    pub(super) fn note(&self, text: impl AsRef<str>) {
        if !self.json {
            let _ = writeln!(anstream::stderr(), "{}", text.as_ref());
        }
    }

    /// The result, for a script.
    pub(super) fn json(&self, value: &impl Serialize) {
        if self.json {
            print(&serde_json::to_string_pretty(value).unwrap_or_default());
        }
    }

    /// One of many results, for a script: a line of its own.
    pub(super) fn json_line(&self, value: &impl Serialize) {
        if self.json {
            print(&serde_json::to_string(value).unwrap_or_default());
        }
    }

    /// JSON that is passed on as it came.
    pub(super) fn raw(&self, json: &str) {
        print(json);
    }

    /// Why it could not be done, with its causes.
    pub(super) fn failure(&self, error: &anyhow::Error) {
        if self.json {
            print(&serde_json::json!({ "error": format!("{error:#}") }).to_string());
        } else {
            let red = AnsiColor::Red.on_default().bold();
            let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {error:#}");
        }
    }
}

/// A table without lines, its header set apart by style alone; cut to the terminal where there is
/// one, and never where a script reads.
pub(super) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| plain(cell)).collect::<Vec<_>>());
    table.load_style(presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    if std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut lines = table.lines().map(|line| line.trim_end().to_owned());
    let header = lines.next().unwrap_or_default();
    std::iter::once(format!("{BOLD}{header}{BOLD:#}")).chain(lines).collect::<Vec<_>>().join("\n")
}

/// What others wrote cannot write over what stands beside it.
fn plain(cell: &str) -> String {
    cell.split('\n').map(mask::visible).collect::<Vec<_>>().join("\n")
}

/// `1 server`, `2 servers`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn print(text: &str) {
    // A reader that has gone away (`| head`) is no failure of ours.
    let _ = writeln!(anstream::stdout(), "{text}");
}
