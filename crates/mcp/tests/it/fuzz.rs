//! Replays the kept corpora of the fuzz targets `endpoint` and `plain`, and what fuzzing has found.

mod body;
mod plain;

use std::cell::Cell;
use std::fs;
use std::path::Path;

#[test]
fn corpus_of_the_endpoint() {
    replay("endpoint", body::run);
}

#[test]
fn corpus_of_plain_requests() {
    let taken = Cell::new(0);
    replay("plain", |bytes| {
        taken.set(taken.get() + plain::run(bytes));
        // Cut anywhere, or nearly.
        for cut in 0..u16::try_from(bytes.len()).unwrap().min(1_000) {
            plain::run(&[&cut.to_be_bytes()[..], &bytes[2..]].concat());
        }
    });
    assert!(taken.get() > 10, "only {} are taken at all", taken.get());
}

fn replay(target: &str, run: impl Fn(&[u8])) {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    assert!(home.join("fuzz_targets").join(target).with_extension("rs").is_file());
    let corpus = fs::read_dir(home.join("corpus").join(target)).unwrap();
    let files: Vec<_> = corpus.map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 5, "there is a corpus");
    for file in files {
        run(&fs::read(&file).unwrap());
    }
}
