//! Bodies for an endpoint that are much too much of something, and bytes that nobody chose.

use fastrand::Rng;

use super::Input;

/// Messages that are deep, wide or many.
pub fn bulky() -> Vec<Input> {
    let batch = vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 10_000].join(",");
    vec![
        Input::new("deep", "[".repeat(100_000)),
        Input::new("objects", r#"{"a":"#.repeat(100_000)),
        Input::new("wide", format!("[{}]", vec!["1"; 100_000].join(","))),
        Input::new("batch", format!("[{batch}]")),
        // As deep and as wide as fits into what is read without ceremony.
        Input::new("short", "[".repeat(60_000)),
    ]
}

/// Fewer bytes than `1 << most`, short ones as often as long ones.
pub fn bytes(random: &mut Rng, most: u32) -> Vec<u8> {
    let most = 1 << random.u32(0..most);
    (0..random.usize(..most)).map(|_| random.u8(..)).collect()
}
