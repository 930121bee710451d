//! Replays the kept corpora of the fuzz targets of `wire`, and what fuzzing has found.

use std::fs;
use std::path::Path;

use switchboard_testkit::fuzz::wire;

#[test]
fn corpora_of_the_wire() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (target, body) in wire::TARGETS {
        assert!(home.join(format!("fuzz_targets/{target}.rs")).is_file(), "{target}");
        let corpus = fs::read_dir(home.join("corpus").join(target)).expect("a corpus");
        let files: Vec<_> = corpus.map(|file| file.expect("an entry").path()).collect();
        assert!(!files.is_empty(), "{target} has a corpus");
        for file in files {
            body(&fs::read(&file).expect("a file of the corpus"));
        }
    }
}
