#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "net/address_rules.hpp"
#include "net/client/client_limits.hpp"
#include "net/client/connection_pool.hpp"
#include "net/client/proxy.hpp"
#include "net/client/tls_context.hpp"
#include "net/http.hpp"

namespace errand::net {

// What becomes of an answer that leads elsewhere: an error, or an answer like any other.
enum class Redirects : std::uint8_t { refused, shown };

// Whether a request may be sent a second time, after a kept connection has closed before the first
// byte of the answer: the peer may have received the first one all the same.
enum class Resend : std::uint8_t {
  by_method,  // GET and HEAD: once; any other method: never
  once,       // the request is safe to repeat with any method
  never,      // the request may have effects
};

struct ClientRequest {
  Method method = Method::get;
  std::string url;              // http://host:port/path?query, or https
  std::vector<Header> headers;  // without the headers of connection and body, which are ours
  std::string body;
  ClientTimeouts timeouts = {};
  Redirects redirects = Redirects::refused;
  Resend resend = Resend::by_method;
  // Closes the connection once raised, while it is opened or while the answer is awaited. Outlives
  // the stream.
  Interrupt* interrupt = nullptr;
};

struct ClientResponse {
  int status = 0;
  std::vector<Header> headers;
  std::string body;
};

// An answer whose body is read as it comes, and decoded if it is compressed. Destroying it closes
// the connection at once, unless the body has been read to its end; no read may be under way then.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  virtual int status() const = 0;
  virtual const std::vector<Header>& headers() const = 0;
  // The next bytes of the body; empty at its clean end. unavailable: the connection broke, or the
  // body was cut. After a failure the connection is closed and every read fails.
  virtual Task<Result<std::string>> read() = 0;
};

struct ClientOptions {
  ProxyRules proxies;
  TrustPaths trust;
  PoolLimits pool;
  std::optional<AddressRules> addresses = {};  // nothing: every address may be reached; see dial()

  // The options in the environment: the variables of ProxyRules, SSL_CERT_FILE and SSL_CERT_DIR.
  static ClientOptions from(const Environment& environment);
};

// Requests to other servers, over connections that are kept for the next one. Lives on one home;
// streams may outlive it.
// unavailable: cannot connect, or the connection broke; `reason` is finer. timeout: see
// ClientTimeouts. unsupported with the reason kRedirect: the answer leads elsewhere. It is never
// followed, because the request may hold a key. forbidden: the address is not one of `addresses`.
// cancelled: the task was, or the request was interrupted.
class HttpClient final {
 public:
  static constexpr std::size_t kBodyBytesMax = 64U * 1024 * 1024;  // larger answers: too_large
  static constexpr std::string_view kRedirect = "redirect";

  explicit HttpClient(ClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Task<Result<ClientResponse>> send(ClientRequest request);
  // Returns once the head of the answer is there.
  Task<Result<std::unique_ptr<ClientStream>>> open(ClientRequest request);

 private:
  struct Shared;  // with the streams

  std::shared_ptr<Shared> shared_;
};

}  // namespace errand::net
