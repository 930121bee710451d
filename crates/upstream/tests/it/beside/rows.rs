//! What is tried: every fault that a scripted server knows, on each transport where it can happen.
//! A table.

use self::Eras::{Both, Session, Stateless};
use self::Harm::{Call, None, Perhaps, SignIn};
use self::Way::{Http, Sse, Stdio};

/// A fault, and what it may do.
pub(super) struct Row {
    pub(super) fault: &'static str,
    pub(super) ways: &'static [Way],
    pub(super) eras: Eras,
    pub(super) harm: Harm,
}

impl Row {
    /// What the fault is called.
    pub(super) fn name(&self) -> &'static str {
        self.fault.split_once(':').map_or(self.fault, |(name, _)| name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Stdio,
    Http,
    Sse,
}

/// What the faulty server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eras {
    /// In turns.
    Both,
    Session,
    Stateless,
}

/// What becomes of calls that are made while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// They are answered all the same.
    None,
    /// Some of them fail.
    Call,
    /// That depends on the moment.
    Perhaps,
    /// They fail, and somebody has to act.
    SignIn,
}

const fn row(fault: &'static str, ways: &'static [Way], eras: Eras, harm: Harm) -> Row {
    Row { fault, ways, eras, harm }
}

const ALL: &[Way] = &[Stdio, Http, Sse];
const REMOTE: &[Way] = &[Http, Sse];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("slow_start:ms=300",                            &[Stdio], Both, None),
    row("crash_start",                                  &[Stdio], Both, Call),
    row("flood_stdout:lines=20000",                     &[Stdio], Both, None),
    row("flood_stderr:bytes=2097152",                   &[Stdio], Both, None),
    row("fork_children:count=2",                        &[Stdio], Both, None),
    row("fork_daemons:count=2",                         &[Stdio], Both, None),
    row("ignore_sigterm",                               &[Stdio], Both, None),
    row("ignore_stdin_close",                           &[Stdio], Both, None),
    row("close_stdin",                                  &[Stdio], Both, Call),
    row("close_stdin:method=tools/call",                &[Stdio], Both, Perhaps),
    row("close_stdout",                                 &[Stdio], Both, Call),
    row("list_storm:per_second=500,ms=400",             ALL,      Both, None),
    row("silent",                                       ALL,      Both, Call),
    row("silent:method=tools/call",                     ALL,      Both, Call),
    row("silent_initialize",                            ALL,      Session, Call),
    row("silent_probe",                                 ALL,      Session, None),
    row("ignore_ping",                                  ALL,      Session, Perhaps),
    row("hang",                                         &[Stdio], Both, Call),
    row("hang:ms=500",                                  ALL,      Both, Perhaps),
    row("delay",                                        ALL,      Both, None),
    row("crash",                                        ALL,      Both, Call),
    row("crash_mid_line",                               ALL,      Both, Call),
    row("garbage:count=20",                             ALL,      Both, None),
    row("half_line",                                    ALL,      Both, Call),
    row("huge:bytes=70000000,times=1",                  ALL,      Both, Call),
    row("duplicate",                                    ALL,      Both, None),
    row("reorder",                                      ALL,      Both, None),
    row("unknown_id",                                   ALL,      Both, None),
    row("unknown_id:instead=true,method=tools/call",    ALL,      Both, Call),
    row("batch",                                        ALL,      Both, None),
    row("error",                                        ALL,      Both, Call),
    row("error:method=tools/call",                      ALL,      Both, Call),
    row("probe_error",                                  ALL,      Session, None),
    row("die_on_probe",                                 &[Stdio], Session, None),
    row("die_on_probe:exit=true",                       &[Stdio], Session, None),
    row("changing_definitions",                         ALL,      Both, None),
    row("endless_pages",                                ALL,      Both, None),
    row("invalid_entries",                              ALL,      Both, None),
    row("expire_sessions:requests=9",                   &[Http],  Session, Perhaps),
    row("strange_sessions",                             &[Http],  Session, None),
    row("status",                                       REMOTE,   Both, Call),
    row("status:method=tools/call",                     REMOTE,   Both, Call),
    row("unauthorized",                                 REMOTE,   Both, SignIn),
    row("forbidden",                                    REMOTE,   Both, Call),
    row("too_many",                                     REMOTE,   Both, Call),
    row("too_many:method=tools/call,times=2",           &[Http],  Both, None),
    row("bad_gateway",                                  REMOTE,   Both, Call),
    row("unavailable",                                  REMOTE,   Both, Call),
    row("no_get",                                       &[Http],  Both, None),
    row("reset",                                        REMOTE,   Both, Call),
    row("reset:at=request,method=tools/call",           REMOTE,   Both, Call),
    row("truncate",                                     REMOTE,   Both, Call),
    row("drop_stream",                                  &[Http],  Session, None),
    row("drop_stream:resumable=false",                  REMOTE,   Stateless, Call),
    row("redirect",                                     &[Http],  Both, None),
    row("redirect:to=other",                            REMOTE,   Both, Call),
    row("content_type",                                 &[Http],  Both, Call),
    row("slow_body:ms=1",                               REMOTE,   Both, None),
];
