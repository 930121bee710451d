//! Lists that cannot be read.

use switchboard_model::{Counts, HttpKind};
use switchboard_testkit::Scratch;
use switchboard_testkit::script::{Script, Scripted};

use crate::kit::{Hub, command, key, until, url};

/// A list that cannot be read for a while is no empty one, and is read again when it can be.
#[tokio::test]
async fn a_list_that_fails_is_kept_and_read_again() {
    type Of = fn(&Counts) -> usize;
    let rows: [(&str, &str, Of); 3] = [
        ("resources/list", "resources", |counts| counts.resources),
        ("resources/templates/list", "resources", |counts| counts.templates),
        ("prompts/list", "prompts", |counts| counts.prompts),
    ];
    let check = async |(method, list, of): (&str, &str, Of), fault: &str| {
        let scratch = Scratch::new();
        let trouble = scratch.path().join("trouble");
        let has_none = fault.contains("-32601");
        let fault = format!("{fault},method={method}");
        let script = Script::new().only("2025-06-18").while_file(&trouble).fault(fault.as_str());
        let server = Scripted::http(&script);
        let spec = || match fault.starts_with("status") {
            true => url("s", server.url(), HttpKind::Streamable),
            false => command("s", &script),
        };
        let hub = Hub::start([spec()]).await;
        let has = || of(&hub.upstreams.status_of(&key("s")).unwrap().counts);
        let other = || hub.upstreams.status_of(&key("s")).unwrap().counts.tools;
        let change = async |list: &str| {
            hub.tool("s", "change_tools", &format!(r#"{{"list":"{list}"}}"#)).await.unwrap();
        };
        let (before, tools) = (has(), other());
        assert!(before > 0, "{method}");
        std::fs::write(&trouble, "").unwrap();
        change(list).await;
        change("tools").await;
        until("the others are read", || other() > tools).await;
        if has_none {
            assert_eq!(has(), 0, "it says that it has none: {method}");
            return hub.stop().await;
        }
        assert_eq!(has(), before, "{method}");
        // It is still as it was on a new connection, and on the first one nothing is known.
        hub.upstreams.reconnect(&key("s")).await;
        hub.until("s", |state| state.is_connected()).await;
        assert_eq!(has(), before, "{method}");
        let first = Hub::start([spec()]).await;
        let found = || of(&first.upstreams.status_of(&key("s")).unwrap().counts);
        assert_eq!(found(), 0, "{method}");
        let told = first.upstreams.status_of(&key("s")).unwrap().log;
        let told = told.iter().filter(|line| line.text.contains(method)).count();
        std::fs::remove_file(&trouble).unwrap();
        until("it is read again", || found() >= before).await;
        assert_eq!(told, 1, "it is said once");
        first.stop().await;
        hub.stop().await;
    };
    for row in rows {
        tokio::join!(
            check(row, "error:code=-32603"),
            check(row, "error:code=-32601"),
            check(row, "status:status=500"),
        );
    }
}
