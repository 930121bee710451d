//! Replays the kept corpus of the fuzz target `endpoint`, and what fuzzing has found.

mod body;

use std::fs;
use std::path::Path;

#[test]
fn corpus_of_the_endpoint() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    assert!(home.join("fuzz_targets/endpoint.rs").is_file());
    let corpus = fs::read_dir(home.join("corpus/endpoint")).unwrap();
    let files: Vec<_> = corpus.map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 5, "there is a corpus");
    for file in files {
        body::run(&fs::read(&file).unwrap());
    }
}
