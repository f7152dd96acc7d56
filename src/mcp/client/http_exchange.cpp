#include "mcp/client/http_exchange.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/member_text.hpp"
#include "json/write.hpp"
#include "net/client/whole_answer.hpp"
#include "net/url.hpp"

namespace errand::mcp {

Task<Result<std::optional<net::SseEvent>>> SseSource::next() {
  for (;;) {
    if (at_ < ready_.size()) {
      co_return std::optional<net::SseEvent>(std::move(ready_[at_++]));
    }
    auto bytes = co_await stream_->read();
    if (!bytes) co_return std::move(bytes).error();
    if (bytes->empty()) co_return std::optional<net::SseEvent>();
    ERRAND_CO_TRY(ready_, reader_.feed(*bytes));
    at_ = 0;
  }
}

bool is_success(int status) {
  return status >= 200 && status < 300;
}

Error status_error(const std::string& url, int status) {
  auto parsed = net::parse_url(url);
  std::string host = parsed ? parsed->endpoint() : url;
  Error error = Error(net::code_of_status(status),
                      cat("the MCP server at ", host, " answers with HTTP status ", status))
                    .reason(cat("http_", status));
  if (status != 401) return error;
  return std::move(error).hint("give the server's credential as a header, such as Authorization");
}

Error after_sending(Error error) {
  bool is_cut = error.code() == ErrorCode::unavailable &&
                (error.reason() == "connection_broke" || error.reason() == "bad_answer" ||
                 error.reason().starts_with("http_"));
  if (!is_cut) return error;
  return Error(ErrorCode::outcome_unknown, cat("no answer came: ", error.message()))
      .reason(error.reason());
}

bool is_answer_to(std::string_view text, const rpc::Id& id) {
  if (json::member_text(text, "id") != json::write(rpc::to_json(id))) return false;
  return json::member_text(text, "method").empty();
}

}  // namespace errand::mcp
