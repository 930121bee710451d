//! That only good answers count, each once, and that what is told of them is exact.

use super::*;

fn answer(id: u64, text: &str) -> String {
    let content = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{content}}}\n")
}

#[test]
fn an_answer_is_good_with_the_text_of_its_own_call() {
    assert_eq!(answered(&answer(7, &text(7))).unwrap(), 7);
    let good = answer(7, &text(7));
    for bad in [
        answer(7, &text(8)),
        answer(7, "pipe-7-"),
        good.replace("false", "true"),
        good.replace("\"id\":7,", ""),
        good.replace("\"id\":7", "\"id\":\"7\""),
        good.trim_end().trim_end_matches('}').to_owned(),
        String::new(),
    ] {
        assert!(answered(&bad).is_err(), "{bad}");
    }
}

#[test]
fn requests_are_whole_lines_of_json_that_differ() {
    for era in [Era::Session, Era::Stateless] {
        let line = request(era, 12);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["id"], 12);
        assert_eq!(read["params"]["arguments"]["text"].as_str().map(str::len), Some(32));
        assert_eq!(read["params"].get("_meta").is_some(), era == Era::Stateless);
        assert_eq!(line.find('\n'), Some(line.len() - 1));
        assert_ne!(line, request(era, 13));
    }
}

#[test]
fn a_call_lands_once_and_only_after_it_took_off() {
    let at = Duration::from_millis;
    let mut flight = Flight::new(2);
    flight.take_off(&[0, 1], at(5));
    // In any order, each with its own time.
    assert_eq!(flight.land(1).unwrap(), at(5));
    assert!(flight.land(1).is_err(), "twice");
    assert!(flight.land(3).is_err(), "not yet");
    flight.take_off(&[3], at(9));
    assert_eq!((flight.land(3).unwrap(), flight.land(0).unwrap()), (at(9), at(5)));
}

#[test]
fn answers_to_all_that_may_be_under_way_fit_into_a_pipe() {
    assert!(MOST * answer(u64::MAX, &text(u64::MAX)).len() <= 1 << 16);
}

#[test]
fn time_is_read_behind_a_name_with_anything_in_it() {
    let stat = "4711 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 1 0";
    assert!((ticks(stat).unwrap() - 175.0).abs() < f64::EPSILON);
    assert!(ticks("4711 (short) S 1").is_err());
}

#[test]
fn figures_are_exact() {
    let times = (0..=100).rev().map(Duration::from_micros).collect();
    let Figures { rate, p50, p99, cpu, calls } =
        figures(times, Duration::from_secs(2), 202.0).unwrap();
    let all = [rate, p50, p99, cpu, calls].map(|one| (one * 1000.0).round() / 1000.0);
    assert_eq!(all, [50.5, 50.0, 99.0, 2.0, 101.0]);
    assert!(figures(Vec::new(), Duration::from_secs(1), 0.0).is_err());
}
