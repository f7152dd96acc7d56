#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace errand::net {

// Where the certificates are that a server's must be signed by. Without either, the system's.
struct TrustPaths {
  std::string file;       // PEM, any number of certificates
  std::string directory;  // as `openssl rehash` makes it
};

// What TLS sessions of a client have in common: TLS 1.2 at least, and whom to trust.
class TlsContext final {
 public:
  // Reads the certificates, which blocks for some milliseconds. unavailable: there are none.
  static Result<std::shared_ptr<TlsContext>> load(const TrustPaths& paths);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A session in which the server must prove that it is `host`, a name or an address. The caller
  // owns it.
  ssl_st* make_session(const std::string& host) const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* context_;
};

// What a handshake that failed means; `cause` is for failures that are not the certificate's.
Error explain_handshake(const ssl_st* session, std::string_view host, std::string_view cause);

}  // namespace errand::net
