//! No text, however broken, makes the readers panic or hang.

mod bent;
mod files;
mod own;
mod shared;

use std::any::Any;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use switchboard_config::Dialect;
use switchboard_config::parse::Parsed;
use switchboard_testkit::fuzz::{self, FORMATS};

/// No input may take longer in an unoptimised build on a busy machine. A hang takes for ever, and
/// quadratic work on these sizes takes minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// Does something with each item on another thread and stops the test if one of them hangs.
fn each<T: Send + 'static>(
    items: impl IntoIterator<Item = (String, T)> + Send + 'static,
    work: impl Fn(T) + Send + 'static,
) {
    enum Note {
        Begins(String),
        Failed(Box<dyn Any + Send>),
        Ends,
    }
    let (tell, told) = mpsc::channel();
    let worker = thread::spawn(move || {
        for (name, item) in items {
            let _ = tell.send(Note::Begins(name));
            let work = std::panic::AssertUnwindSafe(|| work(item));
            if let Err(panic) = std::panic::catch_unwind(work) {
                let _ = tell.send(Note::Failed(panic));
                return;
            }
        }
        let _ = tell.send(Note::Ends);
    });
    let mut now = String::from("the first");
    loop {
        match told.recv_timeout(LIMIT) {
            Ok(Note::Begins(name)) => now = name,
            Ok(Note::Failed(panic)) => {
                eprintln!("with {now}:");
                std::panic::resume_unwind(panic);
            }
            Ok(Note::Ends) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{now} takes more than {LIMIT:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("{now} ended the thread"),
        }
    }
    worker.join().expect("the worker has ended");
}

/// Reads bytes as every dialect in every format, and as whatever they look like.
fn everywhere(bytes: &[u8]) {
    for format in FORMATS {
        fuzz::survey(None, format, bytes);
        for dialect in Dialect::ALL {
            fuzz::survey(Some(dialect), format, bytes);
        }
    }
}

/// Reads bytes as one dialect.
fn read(dialect: Dialect, format: switchboard_config::syntax::Format, bytes: &[u8]) -> Parsed {
    fuzz::survey(Some(dialect), format, bytes)
}
