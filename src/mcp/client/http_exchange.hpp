#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/client/http_client.hpp"
#include "net/client/sse_reader.hpp"
#include "rpc/message.hpp"

namespace errand::mcp {

// A server at a URL. The headers go with every request.
struct HttpServer {
  std::string url;
  std::vector<net::Header> headers = {};
};

// The events of a stream, one after the other.
class SseSource final {
 public:
  explicit SseSource(std::unique_ptr<net::ClientStream> stream) : stream_(std::move(stream)) {}

  // Nothing at the clean end of the stream.
  Task<Result<std::optional<net::SseEvent>>> next();

  const std::string& last_id() const { return reader_.last_id(); }
  std::optional<int> retry_millis() const { return reader_.retry_millis(); }

 private:
  std::unique_ptr<net::ClientStream> stream_;
  net::SseReader reader_;
  std::vector<net::SseEvent> ready_;
  std::size_t at_ = 0;
};

bool is_success(int status);

// The error for a status other than success. The reason is "http_404" and so on.
Error status_error(const std::string& url, int status);

// A request that broke after it was sent may have been carried out.
Error after_sending(Error error);

// Whether the text is the answer to the request.
bool is_answer_to(std::string_view text, const rpc::Id& id);

}  // namespace errand::mcp
