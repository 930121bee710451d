//! The three pipes of a child: lines out, lines in, and what it says beside. Each task ends when
//! its pipe does or when the conversation is over.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use switchboard_core::port::CallError;
use switchboard_model::LogSource;
use switchboard_wire::stdio::{Decoder, Line};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Life;
use crate::channel::{Channel, LIMITS, Related};

/// Messages that go out in one write, if they are there.
const BATCH: usize = 64;
/// How much is read at once, at least.
const CHUNK: usize = 16 * 1024;
/// Lines of standard error are cut here.
const ERROR_LINE: usize = 8 * 1024;

/// Writes what is queued. When it ends, the child's input closes; `unheard` tells that the child
/// has closed it.
pub(super) async fn write(
    mut stdin: ChildStdin,
    mut messages: mpsc::Receiver<Bytes>,
    channel: Arc<Channel>,
    unheard: CancellationToken,
) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut together = BytesMut::new();
    loop {
        let count = tokio::select! {
            count = messages.recv_many(&mut batch, BATCH) => count,
            () = channel.token().cancelled() => return,
        };
        let sent = match batch.as_slice() {
            [] => return,
            [one] => one.clone(),
            several => {
                several.iter().for_each(|line| together.extend_from_slice(line));
                together.split().freeze()
            }
        };
        debug_assert_eq!(count, batch.len());
        batch.clear();
        let written = tokio::select! {
            written = stdin.write_all(&sent) => written,
            () = channel.token().cancelled() => return,
        };
        if let Err(error) = written {
            // Its end, if it ended, is told with the reason by whoever waits for it.
            tracing::debug!(%error, "a server's input is closed");
            unheard.cancel();
            return drain(messages, &channel).await;
        }
    }
}

/// Keeps taking messages, so that nobody waits for a queue that nothing empties.
async fn drain(mut messages: mpsc::Receiver<Bytes>, channel: &Channel) {
    loop {
        tokio::select! {
            message = messages.recv() => if message.is_none() { return },
            () = channel.token().cancelled() => return,
        }
    }
}

/// Reads messages until the pipe ends; `heard` tells that it has.
pub(super) async fn read(
    mut stdout: ChildStdout,
    channel: Arc<Channel>,
    life: Arc<Life>,
    heard: CancellationToken,
) {
    let _told = heard.drop_guard();
    let mut decoder = Decoder::new(LIMITS.max_bytes);
    loop {
        decoder.buffer().reserve(CHUNK);
        let read = tokio::select! {
            read = stdout.read_buf(decoder.buffer()) => read,
            () = channel.token().cancelled() => return,
        };
        let more = matches!(read, Ok(count) if count > 0);
        life.note();
        while let Some(line) = decoder.next_line() {
            take(&channel, line);
        }
        if !more {
            if let Some(line) = decoder.finish() {
                take(&channel, line);
            }
            return;
        }
        // A flood must not keep the others on this thread waiting.
        tokio::task::consume_budget().await;
    }
}

fn take(channel: &Arc<Channel>, line: Line) {
    match line {
        Line::Whole(bytes) => channel.dispatch(&bytes, Related::Unknown),
        Line::TooLong { head } => {
            channel.journal.remark("a line of its output was too long and is left out; it began:");
            channel.journal.push(LogSource::Stdout, &head);
            if let Some(id) = answered(&head) {
                channel.fail(id, CallError::Malformed("the answer is too long".to_owned()));
            }
        }
    }
}

/// The id of an answer of which only the beginning is there: most writers put it first.
fn answered(head: &[u8]) -> Option<u64> {
    const ID: &[u8] = b"\"id\":";
    let at = head.windows(ID.len()).position(|window| window == ID)?;
    let digits: Vec<u8> = head[at + ID.len()..]
        .iter()
        .copied()
        .skip_while(|byte| *byte == b' ')
        .take_while(u8::is_ascii_digit)
        .collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Reads standard error into the journal.
pub(super) async fn errors(mut stderr: ChildStderr, channel: Arc<Channel>, life: Arc<Life>) {
    let mut decoder = Decoder::new(ERROR_LINE);
    loop {
        decoder.buffer().reserve(1024);
        let read = tokio::select! {
            read = stderr.read_buf(decoder.buffer()) => read,
            () = channel.token().cancelled() => return,
        };
        let more = matches!(read, Ok(count) if count > 0);
        life.note();
        let lines = std::iter::from_fn(|| decoder.next_line()).collect::<Vec<_>>();
        for line in lines.into_iter().chain(if more { None } else { decoder.finish() }) {
            let (Line::Whole(text) | Line::TooLong { head: text }) = line;
            channel.journal.push(LogSource::Stderr, &text);
        }
        if !more {
            return;
        }
        tokio::task::consume_budget().await;
    }
}

#[cfg(test)]
mod tests {
    use super::answered;

    #[test]
    fn ids_of_answers_that_are_cut_off() {
        for (head, id) in [
            (&br#"{"jsonrpc":"2.0","id":17,"result":{"#[..], Some(17)),
            (br#"{"id": 3 ,"jsonrpc"#, Some(3)),
            (br#"{"id":"a","jsonrpc"#, None),
            (b"xxxx", None),
        ] {
            assert_eq!(answered(head), id);
        }
    }
}
