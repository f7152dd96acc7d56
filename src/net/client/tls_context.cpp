#include "net/client/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <filesystem>
#include <new>
#include <utility>

#include "base/text.hpp"

namespace errand::net {
namespace {

// The CA files of Debian, Fedora, openSUSE, Alpine and the BSDs.
constexpr const char* kSystemFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

constexpr unsigned char kProtocols[] = "\x08http/1.1";

Error no_certificates(std::string_view where) {
  return Error(ErrorCode::unavailable, cat("cannot load CA certificates from ", where))
      .reason("no_certificates")
      .hint("install the package ca-certificates, or name a PEM file in SSL_CERT_FILE");
}

Result<void> load_paths(SSL_CTX* context, const TrustPaths& paths) {
  if (!paths.file.empty() && SSL_CTX_load_verify_file(context, paths.file.c_str()) != 1) {
    return no_certificates(cat("SSL_CERT_FILE, ", paths.file));
  }
  std::error_code error;
  if (!paths.directory.empty() &&
      (!std::filesystem::is_directory(paths.directory, error) ||
       SSL_CTX_load_verify_dir(context, paths.directory.c_str()) != 1)) {
    return no_certificates(cat("SSL_CERT_DIR, ", paths.directory));
  }
  return {};
}

Result<void> load_system(SSL_CTX* context) {
  for (const char* file : kSystemFiles) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    if (SSL_CTX_load_verify_file(context, file) == 1) return {};
    return no_certificates(file);
  }
  return no_certificates("the places where systems keep them");
}

struct Explained {
  std::string_view reason;
  std::string_view what;
  std::string_view hint;
};

Explained explain_certificate(long result) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return {"certificate_expired", "has expired",
              "its owner must renew it; is the clock of this machine right?"};
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {"certificate_not_yet_valid", "is not valid yet",
              "is the clock of this machine right?"};
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return {"certificate_wrong_host", "is for another host",
              "use the host name that the certificate is made for"};
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return {"certificate_self_signed", "is self-signed, or signed by an authority of its own",
              "if you trust it, put its PEM file into SSL_CERT_FILE"};
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return {"certificate_unknown_issuer", "is signed by an authority that is not known here",
              "update ca-certificates, or put the authority's PEM file into SSL_CERT_FILE"};
    default: return {"certificate_invalid", "is not valid", "see the reason above"};
  }
}

// A fully qualified name may end with a dot, which the names in certificates never do.
std::string without_dot(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  return host;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::load(const TrustPaths& paths) {
  SSL_CTX* made = SSL_CTX_new(TLS_client_method());
  if (!made) throw std::bad_alloc();
  std::shared_ptr<TlsContext> context(new TlsContext(made));
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_protos(made, kProtocols, sizeof kProtocols - 1);
  bool is_system = paths.file.empty() && paths.directory.empty();
  ERRAND_CHECK(is_system ? load_system(made) : load_paths(made, paths));
  return context;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

ssl_st* TlsContext::make_session(const std::string& host) const {
  SSL* session = SSL_new(context_);
  if (!session) throw std::bad_alloc();
  boost::system::error_code not_address;
  boost::asio::ip::make_address(host, not_address);
  if (!not_address) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str());
  } else {
    std::string name = without_dot(host);
    SSL_set_tlsext_host_name(session, name.c_str());
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(session, name.c_str());
  }
  return session;
}

Error explain_handshake(const ssl_st* session, std::string_view host, std::string_view cause) {
  ERR_clear_error();
  long result = SSL_get_verify_result(session);
  if (result == X509_V_OK) {
    return Error(ErrorCode::unavailable, cat("no TLS connection to ", host, ": ", cause))
        .reason("tls_failed")
        .hint("does the server speak https on this port?");
  }
  Explained explained = explain_certificate(result);
  return Error(ErrorCode::unavailable, cat("the certificate of ", host, " ", explained.what, " (",
                                           X509_verify_cert_error_string(result), ")"))
      .reason(explained.reason)
      .hint(explained.hint);
}

}  // namespace errand::net
