//! The JSON schema of our own file, generated from its shape.

/// The schema, as it is committed and as editors read it.
pub fn native() -> String {
    let schema = schemars::schema_for!(crate::shape::NativeFile);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
