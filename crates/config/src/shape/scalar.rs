//! Values that are written as a text or as a number. Only their written form; what they mean is the reader's.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

macro_rules! text_or_number {
    ($(#[doc = $doc:literal])* $type:ident, $numbers:expr) => {
        $(#[doc = $doc])*
        #[derive(Debug, Serialize)]
        #[serde(transparent)]
        pub struct $type(pub String);

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": concat!($($doc),*).trim_ascii(),
                    "type": $numbers,
                })
            }
        }
    };
}

text_or_number! {
    /// Seconds, or a text such as "500ms", "30s" or "5m".
    DurationText, ["string", "number"]
}
text_or_number! {
    /// Bytes, or a text such as "100KB" or "1MiB".
    SizeText, ["string", "integer"]
}
text_or_number! {
    /// A text; numbers and true or false are taken for one.
    Scalar, ["string", "number", "boolean", "null"]
}
