#pragma once

#include <memory>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace errand::net {

struct ClientRequest {
  Method method = Method::get;
  std::string url;  // http://host:port/path?query
  std::vector<Header> headers;
  std::string body;
};

struct ClientResponse {
  int status = 0;
  std::vector<Header> headers;
  std::string body;
};

// An answer whose body is read as it comes. Destroying it closes the connection.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  virtual int status() const = 0;
  virtual const std::vector<Header>& headers() const = 0;
  // The next bytes of the body; empty at its clean end. unavailable: the connection broke.
  // timeout: nothing came until the deadline (reading again is fine).
  virtual Task<Result<std::string>> read(SteadyTime deadline) = 0;
};

// Requests to other servers, one connection each. Lives on one home.
// unavailable: cannot connect, or the connection broke. timeout: the deadline passed.
class HttpClient final {
 public:
  static constexpr std::size_t kBodyBytesMax = 64U * 1024 * 1024;  // larger answers: too_large

  explicit HttpClient(Executor home);

  Task<Result<ClientResponse>> send(ClientRequest request, SteadyTime deadline);
  // Returns once the head of the answer is there.
  Task<Result<std::unique_ptr<ClientStream>>> open(ClientRequest request, SteadyTime deadline);

 private:
  Executor home_;
};

}  // namespace errand::net
