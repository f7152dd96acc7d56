#include "server/routes/record_answer.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kCursorCharsMax = 128;

std::string etag_of(std::int64_t version) {
  return cat("\"", version, "\"");
}

}  // namespace

Result<Precondition> precondition_of(const net::Request& request) {
  Precondition wanted;
  std::string_view match = trim(request.header("if-match"));
  std::string_view none = trim(request.header("if-none-match"));
  if (none == "*") wanted.version = 0;
  if (match == "*") wanted.must_exist = true;
  if (match.empty() || match == "*") return wanted;
  bool is_quoted = match.size() > 2 && match.front() == '"' && match.back() == '"';
  auto version = is_quoted ? parse_integer<std::int64_t>(match.substr(1, match.size() - 2))
                           : std::optional<std::int64_t>();
  if (!version || *version < 1) {
    return Error(ErrorCode::invalid_argument,
                 "the header If-Match is the ETag of a version, such as \"3\", or *");
  }
  wanted.version = *version;
  return wanted;
}

Error must_exist_error() {
  return Error(ErrorCode::conflict, "If-Match: * wants a record that exists, and there is none")
      .reason(NamedRecords::kVersionMismatch);
}

net::Response record_response(int status, const json::Object& record, std::int64_t version) {
  net::Response response = json_response(status, json::write(record));
  response.headers.push_back({"ETag", etag_of(version)});
  return response;
}

Result<PageParams> page_params(const net::Request& request) {
  PageParams page{.after = text_param(request, query::kCursor).value_or("")};
  if (page.after.size() > kCursorCharsMax) {
    return Error(ErrorCode::invalid_argument, "\"cursor\" is not one this server gave out");
  }
  ERRAND_TRY(auto limit, integer_param(request, query::kLimit));
  page.limit = static_cast<std::size_t>(limit);
  return page;
}

net::Response page_response(std::string_view noun, json::Array items, const std::string& next) {
  json::Object body;
  body[noun] = std::move(items);
  body["nextCursor"] = next.empty() ? json::Value() : json::Value(next);
  return json_response(200, json::write(body));
}

Result<std::string> record_of_path(const net::Request& request, std::string_view kind) {
  const std::string& text = request.params.at(1);
  if (is_valid_record_name(text)) return text;
  return Error(ErrorCode::not_found, cat("there is no ", kind, " \"", utf8_prefix(text, 80), "\""));
}

}  // namespace errand::server
