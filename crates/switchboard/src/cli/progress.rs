//! Progress where one waits: a line that moves on a terminal, nothing where a script reads.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::out::Out;

/// A line below everything that is said meanwhile.
pub(super) struct Progress {
    bar: ProgressBar,
    out: Out,
}

impl Progress {
    pub(super) fn start(out: &Out, text: &str) -> Self {
        let is_shown = !out.json && std::io::stderr().is_terminal();
        let target =
            if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(text.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, out: *out }
    }

    /// A line that stays.
    pub(super) fn above(&self, text: &str) {
        let out = self.out;
        self.bar.suspend(|| out.line(text));
    }

    /// What is being done now.
    pub(super) fn now(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    pub(super) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
