//! Replays the kept corpora of the fuzz targets, and what fuzzing has found.

use std::fs;
use std::path::Path;

use switchboard_testkit::fuzz;

#[test]
fn corpora() {
    let fuzz_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (target, dialect) in fuzz::TARGETS {
        assert!(fuzz_dir.join(format!("fuzz_targets/{target}.rs")).is_file(), "{target}");
        let corpus = fs::read_dir(fuzz_dir.join("corpus").join(target)).expect("a corpus");
        let mut files = 0;
        for file in corpus {
            let path = file.expect("an entry of the corpus").path();
            fuzz::run(dialect, &fs::read(path).expect("a file of the corpus"));
            files += 1;
        }
        assert!(files > 0, "{target} has a corpus");
    }
}
