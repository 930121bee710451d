//! The problems that operations can answer with, in groups, for the OpenAPI document. Only describes;
//! the problems themselves are made where they happen.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

macro_rules! answers {
    ($($(#[doc = $doc:literal])* $name:ident = [$(($status:literal, $text:literal)),*];)*) => {
        $(
            $(#[doc = $doc])*
            pub(crate) struct $name;

            impl IntoResponses for $name {
                fn responses() -> BTreeMap<String, RefOr<Response>> {
                    BTreeMap::from([$(($status.to_owned(), problem($text))),*])
                }
            }
        )*
    };
}

answers! {
    /// What every route can answer that needs a credential.
    Guarded = [
        ("401", "No credential, or none that is good."),
        ("403", "The credential is good, and this is not for whoever has it."),
        ("500", "The hub could not do it; its log says why."),
        ("503", "The store does not answer at the moment.")
    ];
    /// What every route can answer that needs none.
    Open = [
        ("500", "The hub could not do it; its log says why."),
        ("503", "The store does not answer at the moment.")
    ];
    /// Of routes with something behind the question mark.
    BadQuery = [("400", "What stands behind the question mark cannot be read.")];
    /// Of routes that name something in their path.
    Missing = [
        ("400", "The path cannot be read."),
        ("404", "There is no such thing, or it is not for whoever asks.")
    ];
    /// Of routes that take a body.
    BadBody = [
        ("400", "The body is not JSON, or broke off."),
        ("413", "The body is too large."),
        ("415", "The body is not declared as JSON."),
        ("422", "The body is JSON, and not what is wanted here: `errors` says what.")
    ];
    /// Of changes that the state of things can forbid.
    Conflict = [("409", "It cannot be done in this state.")];
    /// Of routes where passwords are checked.
    TooMany = [("429", "Too many passwords were wrong, or are being checked at once.")];
    /// Of changes with a precondition.
    Stale = [("412", "It was changed since it was read.")];
}

fn problem(text: &str) -> RefOr<Response> {
    let schema = RefOr::Ref(Ref::from_schema_name("Problem"));
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new().description(text);
    RefOr::T(response.content("application/problem+json", content).build())
}
