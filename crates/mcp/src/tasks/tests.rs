//! What servers tell before all have said what they will tell.

use switchboard_model::ServerName;
use switchboard_wire::Limits;

use super::*;

fn told(nth: usize) -> JsonBuf {
    let text = format!(r#"{{"taskId":"own","nth":{nth}}}"#);
    Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap().into()
}

#[tokio::test]
async fn what_comes_early_is_bounded() {
    let wish = |name: &str| {
        let server = ServerKey::global(ServerName::parse(name).unwrap());
        Wish { server, tasks: vec![("own".to_owned(), format!("sealed-{name}"))] }
    };
    // One tells and tells, the other takes its time to say what it will tell.
    let wishes = [wish("a"), wish("b")];
    let (sender, mut news) = mpsc::channel(1);
    let last = 4 * WAITING;
    let tell = async move {
        for nth in 0..=last {
            sender.send((0, News::Task(told(nth)))).await.unwrap();
        }
        for server in [0, 1] {
            sender.send((server, News::Honoured(vec!["own".to_owned()]))).await.unwrap();
        }
    };
    let ((honoured, early), ()) = tokio::join!(gather(&wishes, &mut news), tell);
    assert_eq!(honoured, [(0, "sealed-a".to_owned()), (1, "sealed-b".to_owned())]);
    assert_eq!((early.len(), early.back()), (WAITING, Some(&(0, told(last)))), "the newest");
}
