#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "store/named_records.hpp"

namespace errand::server {

// What the routes of all records have in common: agents, tools and secrets.

// The version that a change builds on: If-Match: "3" wants that version, If-None-Match: * wants
// that there is none. invalid_argument: the header is neither.
// If-Match: * (any version, but there must be one) is `must_exist`.
struct Precondition {
  ExpectedVersion version = {};
  bool must_exist = false;
};
Result<Precondition> precondition_of(const net::Request& request);
// conflict with the reason kVersionMismatch: the record has to be there and is not.
Error must_exist_error();

// One record, with its version as ETag.
net::Response record_response(int status, const json::Object& record, std::int64_t version);

struct PageParams {
  std::string after;
  std::size_t limit = 50;
};
// ?cursor= and ?limit=.
Result<PageParams> page_params(const net::Request& request);
// {"<noun>":[...],"nextCursor":...}
net::Response page_response(std::string_view noun, json::Array items, const std::string& next);

// The id or name that a path has for a record. not_found: it cannot be one.
Result<std::string> record_of_path(const net::Request& request, std::string_view kind);

}  // namespace errand::server
