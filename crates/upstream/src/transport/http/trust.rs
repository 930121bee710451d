//! Whom to believe behind `https`: the system's roots, and those of the file that the environment
//! names. The system's are read when the first certificate comes: most servers are processes or plain
//! `http`, and a hundred and fifty roots cost memory and part of the start.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::context::Lookup;

/// Certificates to trust beside the system's, as other programs read it.
const ROOTS: &str = "SSL_CERT_FILE";

/// Checks certificates.
#[derive(Debug)]
pub(super) struct Trust {
    provider: Arc<CryptoProvider>,
    /// What the file has that the environment names.
    extra: Vec<CertificateDer<'static>>,
    made: OnceLock<Result<Verifier, Error>>,
}

impl Trust {
    /// Fails if the environment names a file that is none: nobody should have to wait for the first
    /// certificate to hear of it.
    pub(super) fn new(env: &Lookup, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let extra = match env(ROOTS).filter(|path| !path.is_empty()) {
            Some(path) => roots(path.expose())?,
            None => Vec::new(),
        };
        Ok(Self { provider, extra, made: OnceLock::new() })
    }

    fn verifier(&self) -> Result<&Verifier, Error> {
        let made = self.made.get_or_init(|| {
            let made = match &self.extra[..] {
                [] => Verifier::new(self.provider.clone()),
                extra => {
                    Verifier::new_with_extra_roots(extra.iter().cloned(), self.provider.clone())
                }
            };
            // A small container has no certificates, and may well have servers without TLS.
            made.inspect_err(
                |error| tracing::warn!(%error, "no certificates: servers behind https fail"),
            )
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.verifier()?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn roots(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error| format!("{ROOTS} names {path}, which cannot be read: {error}");
    let roots = CertificateDer::pem_file_iter(path).map_err(wrong)?;
    let roots = roots.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    if roots.is_empty() {
        return Err(format!("{ROOTS} names {path}, in which there is no certificate"));
    }
    Ok(roots)
}
