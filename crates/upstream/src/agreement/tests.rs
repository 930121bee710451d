//! What is asked, what is agreed to, and what is left to be looked at.

use super::*;
use switchboard_wire::Limits;

fn filter(lists: [bool; 3], uris: &[&str]) -> Filter {
    let [tools, resources, prompts] = lists;
    let uris = uris.iter().map(|uri| (*uri).to_owned()).collect();
    Filter { tools, resources, prompts, uris, ..Filter::default() }
}

fn acknowledge(ear: &dyn ClientPort, text: &str) {
    let params = JsonBuf::parse(text.to_owned().into(), &Limits::DEFAULT).unwrap();
    ear.notify(method::ACKNOWLEDGED, params);
}

#[tokio::test]
async fn what_is_acknowledged_is_agreed_upon() {
    let agreement = Arc::new(Agreement::default());
    assert_eq!(agreement.unheard(), Kinds::NONE);
    let (_, ear) = agreement.begin(filter([true, true, false], &["a", "b"]));
    assert_eq!(agreement.unheard(), Kinds::TOOLS.with(Kinds::RESOURCES));
    acknowledge(
        &*ear,
        r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}}"#,
    );
    assert_eq!(agreement.unheard(), Kinds::RESOURCES);
    assert!(agreement.covers("a", 0).await.is_ok());
    assert!(agreement.covers("b", 0).await.is_err());
    let uris = ["a", "b", "c"].map(str::to_owned);
    assert_eq!(agreement.untold(&uris), ["b"], "nobody asked for the third yet");
}

#[tokio::test]
async fn an_earlier_round_says_nothing_of_a_later_wish() {
    let agreement = Arc::new(Agreement::default());
    let (_, old) = agreement.begin(filter([true, false, false], &["a"]));
    agreement.over(&Ok(JsonBuf::from(Json::EMPTY)));
    assert!(agreement.covers("a", 0).await.is_err());
    let asked = agreement.round();
    let again = agreement.covers("a", asked);
    let (_, new) = agreement.begin(filter([true, false, false], &["a"]));
    acknowledge(&*old, r#"{"notifications":{}}"#);
    assert_eq!(agreement.unheard(), Kinds::TOOLS, "what comes late is for nobody");
    acknowledge(&*new, r#"{"notifications":{"resourceSubscriptions":["a"]}}"#);
    assert!(again.await.is_ok());
}

#[tokio::test]
async fn who_cannot_be_listened_to_agrees_to_nothing() {
    let agreement = Arc::new(Agreement::default());
    let waiting = agreement.covers("a", 0);
    agreement.begin(filter([true, false, false], &[]));
    let error = RpcError::new(code::METHOD_NOT_FOUND, "what?");
    agreement.over(&Err(error.into()));
    agreement.give_up();
    assert_eq!(agreement.unheard(), Kinds::ALL);
    assert_eq!(waiting.await.unwrap_err().to_string(), "what? (-32601)");
}

#[tokio::test]
async fn what_it_agreed_to_stands_until_it_is_answered_anew_or_its_stream_ends() {
    let agreement = Arc::new(Agreement::default());
    let (first, ear) = agreement.begin(filter([true, false, false], &["a"]));
    let told = r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}}"#;
    acknowledge(&*ear, told);
    let (second, _) = agreement.begin(filter([true, false, false], &["a", "b"]));
    assert_eq!(agreement.unheard(), Kinds::NONE);
    assert!(agreement.covers("a", 0).await.is_ok(), "it is heard");
    let error = RpcError::new(code::INVALID_PARAMS, "no");
    agreement.over(&Err(error.into()));
    assert!(agreement.covers("b", first).await.is_err());
    assert!(agreement.covers("a", 0).await.is_ok(), "it still is");
    agreement.fell(second);
    assert_eq!(agreement.unheard(), Kinds::NONE, "that one never stood");
    agreement.fell(first);
    assert_eq!(agreement.unheard(), Kinds::TOOLS);
    assert!(agreement.covers("a", 0).await.is_err());
}

#[tokio::test]
async fn what_stands_answers_whoever_wants_nothing_else() {
    let agreement = Arc::new(Agreement::default());
    let wanted = filter([true, false, false], &["a"]);
    let (first, ear) = agreement.begin(wanted.clone());
    let told = r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}}"#;
    acknowledge(&*ear, told);
    agreement.begin(filter([true, false, false], &["a", "b"]));
    agreement.over(&Ok(JsonBuf::from(Json::EMPTY)));
    let last = agreement.round();
    assert!(!agreement.confirm(last, &wanted), "that one never stood");
    let more = filter([true, false, false], &["a", "b"]);
    assert!(!agreement.confirm(first, &more), "nobody agreed to that");
    assert!(agreement.confirm(first, &wanted));
    assert!(agreement.covers("a", last).await.is_ok());
    agreement.fell(first);
    assert!(!agreement.confirm(first, &wanted));
    assert_eq!(agreement.unheard(), Kinds::TOOLS);
}

/// Whoever waits sees only the last of several rounds.
#[tokio::test]
async fn what_was_agreed_to_is_not_overlooked_for_the_next_round() {
    let agreement = Arc::new(Agreement::default());
    let lists = [true, false, false];
    let refuse = || agreement.over(&Err(RpcError::new(code::INTERNAL_ERROR, "no").into()));
    let (wished, _) = agreement.begin(filter(lists, &[]));
    let (first, ear) = agreement.begin(filter(lists, &["a"]));
    acknowledge(&*ear, r#"{"notifications":{"resourceSubscriptions":["a"]}}"#);
    agreement.begin(filter(lists, &["a", "b"]));
    refuse();
    assert!(agreement.covers("a", wished).await.is_ok(), "it was agreed to since");
    assert!(agreement.covers("a", first).await.is_err(), "it was not agreed to anew");
    // What is found to stand is an answer, too.
    let wished = agreement.round();
    assert!(agreement.confirm(first, &filter(lists, &["a"])));
    agreement.begin(filter(lists, &["a", "b"]));
    refuse();
    assert!(agreement.covers("a", wished).await.is_ok());
}

/// A refusal is not overlooked either, and is no answer to whoever comes later.
#[tokio::test]
async fn what_was_refused_is_not_overlooked_for_the_next_round() {
    let agreement = Arc::new(Agreement::default());
    let lists = [true, false, false];
    agreement.begin(filter(lists, &["a", "b"]));
    agreement.answers(["c".to_owned()].into_iter());
    agreement.over(&Err(RpcError::new(code::INTERNAL_ERROR, "no").into()));
    let (next, ear) = agreement.begin(filter(lists, &["a"]));
    for uri in ["a", "b", "c"] {
        let error = agreement.covers(uri, 0).await.unwrap_err();
        assert_eq!(error.to_string(), "no (-32603)", "{uri}");
    }
    acknowledge(&*ear, r#"{"notifications":{"resourceSubscriptions":["a"]}}"#);
    assert!(agreement.covers("a", 0).await.is_ok());
    agreement.fell(next);
    // It was told since, and nobody waits for the others any more.
    agreement.forget(|uri, _| uri != "c");
    agreement.give_up();
    let said = ["a", "b", "c"].map(|uri| (uri, agreement.covers(uri, 0)));
    for (uri, said) in said {
        let error = said.await.unwrap_err().to_string();
        assert_eq!(error == "no (-32603)", uri == "c", "{error}");
    }
}
