#include "llm/fake/request_log.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"

namespace errand::llm {
namespace {

// Header names are written in lower case, because HTTP ignores their case.
json::Object headers_of(const net::Request& request) {
  json::Value headers = json::Object();
  for (const net::Header& header : request.headers) {
    headers.as_object()[to_lower(header.name)] = header.value;
  }
  json::redact_secrets(headers);
  return std::move(headers.as_object());
}

// Removes the key, which may be in the query of a request to Google's API.
std::string query_of(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    append(out, out.empty() ? "" : "&");
    if (pair.starts_with("key=")) {
      append(out, "key=", json::kRedacted);
    } else {
      out += pair;
    }
  }
  return out;
}

}  // namespace

void RequestLog::add(const net::Request& request, const Outcome& outcome) {
  std::string entry;
  json::ObjectWriter out(entry);
  out.field("number", ++last_number_)
      .field("method", net::to_string(request.method))
      .field("path", request.path)
      .field("query", query_of(request.query))
      .field("headers", headers_of(request));
  if (outcome.is_json) {
    out.raw("body", request.body);
  } else {
    out.field("body", request.body);
  }
  out.field("turn", outcome.turn ? json::Value(*outcome.turn) : json::Value(nullptr))
      .field("status", outcome.status)
      .end();
  bytes_ += entry.size();
  entries_.push_back(std::move(entry));
  while (entries_.size() > kRequestsMax || bytes_ > kBytesMax) {
    bytes_ -= entries_.front().size();
    entries_.pop_front();
    ++dropped_;
  }
}

void RequestLog::clear() {
  entries_.clear();
  bytes_ = 0;
  last_number_ = 0;
  dropped_ = 0;
}

std::string RequestLog::to_json() const {
  std::string out = "{\"requests\":[";
  out.reserve(bytes_ + entries_.size() + 64);
  for (const std::string& entry : entries_) append(out, out.back() == '[' ? "" : ",", entry);
  append(out, "],\"dropped\":", dropped_, "}");
  return out;
}

}  // namespace errand::llm
