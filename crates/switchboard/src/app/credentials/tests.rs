//! What becomes of credentials, as data.

use std::time::UNIX_EPOCH;

use switchboard_model::{HttpKind, HttpSpec, SecretTemplate, ServerName, Template, Transport};

use super::*;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn server(url: &str, auth: Auth) -> ServerSpec {
    let url = Template::literal(url);
    let http = HttpSpec { kind: HttpKind::Streamable, url, headers: BTreeMap::new() };
    let name = ServerName::parse("wiki").unwrap();
    ServerSpec { auth, ..ServerSpec::new(name, Transport::Http(http)) }
}

fn credential(kind: CredentialKind, expires_at: Option<SystemTime>) -> Credential {
    Credential {
        server: ServerKey::global(ServerName::parse("wiki").unwrap()),
        owner: None,
        kind,
        issuer: None,
        scopes: None,
        expires_at,
        target: Some(target_hash(&server("https://a.example", Auth::None))),
        created_at: at(0),
        updated_at: at(0),
        revision: 1,
    }
}

#[test]
fn a_connection_gets_what_fits_and_is_good() {
    use CredentialKind::{ApiKey, Bearer};
    let bearer = || Auth::Bearer { token: None };
    let key = |place: KeyPlace| Auth::ApiKey { place, key: None };
    let variable = || key(KeyPlace::Variable("KEY".to_owned()));
    let own = SecretTemplate::new(Template::literal("own"));
    let own = || Auth::Bearer { token: Some(own.clone()) };
    let cases: [(Auth, Option<Credential>, &str); 9] = [
        (bearer(), Some(credential(Bearer, None)), "authorization: Bearer v"),
        (bearer(), Some(credential(Bearer, Some(at(11)))), "authorization: Bearer v"),
        (bearer(), Some(credential(Bearer, Some(at(10)))), "expired at 1970-01-01T00:00:10Z"),
        (bearer(), Some(credential(ApiKey, None)), "of the kind api_key, not bearer"),
        (bearer(), None, "none is stored for it yet"),
        (variable(), Some(credential(ApiKey, None)), "KEY: v"),
        (key(KeyPlace::Header("x-key".to_owned())), Some(credential(ApiKey, None)), "x-key: v"),
        (own(), Some(credential(Bearer, None)), "nothing"),
        (Auth::None, Some(credential(Bearer, None)), "nothing"),
    ];
    for (auth, found, wanted) in cases {
        let found = found.map(|credential| (credential, Secret::new("v")));
        let got = said(held(&server("https://a.example", auth.clone()), found, at(10)));
        assert!(got.ends_with(wanted), "{auth:?}: {got}");
    }
}

#[test]
fn what_was_given_for_one_address_is_not_sent_to_another() {
    let auth = || Auth::Bearer { token: None };
    let given = || credential(CredentialKind::Bearer, None);
    let unsaid = || Credential { target: None, ..given() };
    let cases = [
        ("https://a.example", given(), "Bearer v"),
        ("https://b.example", given(), "has to be given again"),
        ("https://a.example", unsaid(), "has to be given again"),
    ];
    for (url, credential, wanted) in cases {
        let found = Some((credential, Secret::new("v")));
        let got = said(held(&server(url, auth()), found, at(10)));
        assert!(got.ends_with(wanted), "{url}: {got}");
    }
}

fn said(held: Held) -> String {
    match held {
        Held::Nothing => "nothing".to_owned(),
        Held::Lacking(why) | Held::Away(why) => why,
        Held::Credential(KeyPlace::Header(name) | KeyPlace::Variable(name), value) => {
            format!("{name}: {}", value.expose())
        }
    }
}

#[test]
fn what_runs_out_counts_as_a_change() {
    let one = |expires_at| vec![credential(CredentialKind::Bearer, expires_at)];
    let before = Standing::of(one(Some(at(10))), at(5));
    assert_eq!(before.next(at(5)), Some(Duration::from_secs(5)));
    assert!(Standing::of(one(Some(at(10))), at(9)).changed(&before).is_empty());
    let after = Standing::of(one(Some(at(10))), at(10));
    assert_eq!((after.changed(&before).len(), after.next(at(10))), (1, None));
    assert_eq!(Standing::default().changed(&before).len(), 1);
    assert_eq!(Standing::of(one(Some(at(1_000_000))), at(0)).next(at(0)), Some(LONGEST));
}
