//! The public test data, which is not part of the repository. Never fetches it.

use std::path::Path;

use crate::environment;

/// Each set by its name, and where it lies.
const SETS: [(&str, &str); 2] = [
    ("the public set of JSON that parsers get wrong", "hostile/json"),
    ("the public list of strings that programs get wrong", "hostile/naughty-strings.json"),
];

/// Which sets are not there: the tests that take them pass then without having tested anything.
pub(crate) fn untested() -> Vec<String> {
    told(&environment::test_data())
}

fn told(folder: &Path) -> Vec<String> {
    let told = missing(folder).map(|(set, place)| {
        format!(
            "UNTESTED: {set}, as there is no `{place}` in {} (SWITCHBOARD_TEST_DATA); our own set was tested",
            folder.display()
        )
    });
    told.collect()
}

fn missing(folder: &Path) -> impl Iterator<Item = (&'static str, &'static str)> {
    SETS.into_iter().filter(|(_, place)| !folder.join(place).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_is_missed_by_itself() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let missed = || missing(scratch.path()).map(|(_, place)| place).collect::<Vec<_>>();
        assert_eq!(missed(), ["hostile/json", "hostile/naughty-strings.json"]);
        let said = told(scratch.path());
        assert!(
            said.len() == 2 && said.iter().all(|line| line.starts_with("UNTESTED: ")),
            "{said:?}"
        );
        std::fs::create_dir_all(scratch.path().join("hostile/json")).expect("writable");
        assert_eq!(missed(), ["hostile/naughty-strings.json"]);
        std::fs::write(scratch.path().join("hostile/naughty-strings.json"), "[]")
            .expect("writable");
        assert!(missed().is_empty());
    }
}
