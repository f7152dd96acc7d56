#include "net/client/whole_answer.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::net {

Task<Result<std::string>> read_whole(ClientStream* stream, std::size_t bytes_max) {
  std::string body;
  for (;;) {
    auto piece = co_await stream->read();
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return body;
    body += *piece;
    if (body.size() > bytes_max) {
      co_return Error(ErrorCode::too_large,
                      cat("the answer is too large: more than ", bytes_max, " bytes"))
          .reason("answer_too_large");
    }
  }
}

bool has_type(const ClientStream& stream, std::string_view type) {
  std::string_view given = find_header(stream.headers(), "Content-Type");
  return equals_ignoring_case(trim(given.substr(0, given.find(';'))), type);
}

ErrorCode code_of_status(int status) {
  if (status == 401) return ErrorCode::unauthorized;
  if (status == 403) return ErrorCode::forbidden;
  if (status == 429) return ErrorCode::rate_limited;
  return status >= 500 ? ErrorCode::unavailable : ErrorCode::unsupported;
}

}  // namespace errand::net
