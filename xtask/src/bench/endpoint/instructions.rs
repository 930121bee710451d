//! Instructions in user space for each call, by callgrind: the one figure that other load on the
//! machine does not change. What is written behind the calls is counted too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::goals::{Goals, Limit, number};
use super::load::{Era, Target};
use super::stage::{Home, Hop};
use super::{Bench, say};
use crate::{debian, environment, process};

/// Calls before anything is counted.
const WARM: usize = 300;
/// For records that are written behind the calls.
const BEHIND: Duration = Duration::from_millis(1500);

pub(super) fn run(bench: &Bench, goals: &mut Goals) -> Result<()> {
    if !has_valgrind() && debian::may_install() {
        debian::install(&["valgrind"])?;
    }
    if !has_valgrind() {
        say::note("valgrind is not installed: instructions are not counted");
        for era in ["session", "stateless"] {
            let what = format!("instructions per call, {era}");
            goals.miss(what, Limit::AtMost(1.5), "× floor");
        }
        goals.miss("instructions per call, stateless", Limit::AtMost(1.0), "× session");
        return Ok(());
    }
    let programs = &bench.programs;
    let counted = Counted { calls: bench.pick(2_000, 500), place: programs.scratch.clone() };
    let server = Hop::server(programs, &[])?;
    let floor = Hop::counted(&programs.mcp_floor, &server, counted.command("floor")?)?;
    let floor = floor.target("mcp-floor", "up__echo");
    let floors = [
        (Era::Session, counted.per_call(bench, "floor", &floor, Era::Session)?),
        (Era::Stateless, counted.per_call(bench, "floor", &floor, Era::Stateless)?),
    ];
    let servers = format!(
        "[servers.up]\nurl = {:?}\n\n[servers.pipe]\ncommand = {:?}\nargs = [\"--stdio\"]\n",
        server.url(),
        programs.upstream
    );
    let home = Home::new(programs, "counted", &servers)?;
    let hub = home.start_as(programs, Some(counted.command("hub")?))?;
    hub.ready(programs, 20, "up__echo")?;
    hub.ready(programs, 20, "pipe__echo")?;
    for (era, floor) in floors {
        print(&format!("mcp-floor, {era:?}"), floor, floor.all);
    }
    let mut of_session = f64::NAN;
    for (name, tool, eras) in [
        ("hub, HTTP", "up__echo", &[Era::Session, Era::Stateless][..]),
        ("hub, stdio", "pipe__echo", &[Era::Session]),
    ] {
        for era in eras {
            let target = hub.target(name, tool);
            let figure = counted.per_call(bench, "hub", &target, *era)?;
            // Each era has requests of its own size, so each is beside the floor's own.
            let floor = if *era == Era::Session { floors[0].1 } else { floors[1].1 };
            print(&format!("{name}, {era:?}"), figure, floor.all);
            if tool == "up__echo" {
                let what = format!("instructions per call, {era:?}").to_lowercase();
                goals.add(&what, figure.all / floor.all, Limit::AtMost(1.5), "× floor");
                match era {
                    Era::Session => of_session = figure.all,
                    // The one figure of this comparison that no noise reaches.
                    Era::Stateless => {
                        let figure = figure.all / of_session;
                        goals.add(what, figure, Limit::AtMost(1.0), "× session");
                    }
                }
            }
        }
    }
    Ok(())
}

fn has_valgrind() -> bool {
    environment::search_path().iter().any(|place| place.join("valgrind").is_file())
}

/// Instructions of one call.
#[derive(Clone, Copy)]
struct Figure {
    all: f64,
    /// Those of threads that write to the store.
    behind: f64,
}

fn print(name: &str, figure: Figure, floor: f64) {
    let behind = match figure.behind {
        0.0 => String::new(),
        behind => format!(", of which {} behind the call, into the store", number(behind)),
    };
    say::note(format_args!(
        "  {name:<22}{:>9} {:>6.2} × floor{behind}",
        number(figure.all),
        figure.all / floor
    ));
}

struct Counted {
    calls: usize,
    place: PathBuf,
}

impl Counted {
    /// The counter, to which the program is added.
    fn command(&self, name: &str) -> Result<Command> {
        fs::create_dir_all(&self.place)
            .with_context(|| format!("cannot create {}", self.place.display()))?;
        for old in self.files(name) {
            let _ = fs::remove_file(old);
        }
        let mut command = counter("valgrind");
        command.args(["--tool=callgrind", "--separate-threads=yes", "--fair-sched=yes"]);
        command.arg(format!("--callgrind-out-file={}", self.file(name).display()));
        Ok(command)
    }

    fn per_call(&self, bench: &Bench, name: &str, target: &Target, era: Era) -> Result<Figure> {
        target.count(&bench.programs, (WARM, 1), era)?;
        std::thread::sleep(BEHIND);
        self.control("--zero", target.pid)?;
        for old in self.files(name) {
            let _ = fs::remove_file(old);
        }
        target.count(&bench.programs, (self.calls, 1), era)?;
        std::thread::sleep(BEHIND);
        self.control("--dump", target.pid)?;
        let mut figure = Figure { all: 0.0, behind: 0.0 };
        for file in self.files(name) {
            let (total, stores) = read(&file)?;
            figure.all += total / self.calls as f64;
            figure.behind += if stores { total / self.calls as f64 } else { 0.0 };
        }
        // None at all would be the best of figures, and whoever counts nothing does not say so.
        ensure!(figure.all > 0.0, "nothing was counted of {name}");
        Ok(figure)
    }

    fn control(&self, what: &str, pid: u32) -> Result<()> {
        let mut command = counter("callgrind_control");
        command.args([what, &pid.to_string()]).current_dir(&self.place);
        process::output(command).map(drop)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.join(format!("callgrind.{name}"))
    }

    /// What was dumped: one file for each thread.
    fn files(&self, name: &str) -> Vec<PathBuf> {
        let stem = format!("callgrind.{name}");
        let all = fs::read_dir(&self.place).into_iter().flatten().flatten();
        all.map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.starts_with(&stem)
            })
            .collect()
    }
}

/// Both meet in the temporary directory, and a hub is told of none.
fn counter(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_remove("TMPDIR");
    command
}

/// The total of one dump, and whether it is of a thread that runs SQLite.
fn read(file: &Path) -> Result<(f64, bool)> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    let total = total.with_context(|| format!("{} has no total", file.display()))?;
    Ok((total, text.contains("sqlite3VdbeExec")))
}
