#include "net/http.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace errand::net {
namespace {

// One decoded half of "name=value".
std::optional<std::string> decode_form(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

// Calls use(name, value) with both still encoded, until it returns false.
template <class Use>
void for_each_pair(std::string_view query, Use use) {
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    std::size_t equals = pair.find('=');
    std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    if (!pair.empty() && !use(pair.substr(0, equals), value)) return;
  }
}

}  // namespace

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::head: return "HEAD";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::delete_: return "DELETE";
    case Method::options: return "OPTIONS";
    case Method::other: return "other";
  }
  return "other";
}

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

std::optional<std::string> Request::query_param(std::string_view name) const {
  std::optional<std::string> found;
  for_each_pair(query, [&](std::string_view key, std::string_view value) {
    if (decode_form(key) != name) return true;
    found = decode_form(value);
    return false;
  });
  return found;
}

std::vector<std::string> Request::query_params(std::string_view name) const {
  std::vector<std::string> found;
  for_each_pair(query, [&](std::string_view key, std::string_view value) {
    if (decode_form(key) != name) return true;
    if (auto decoded = decode_form(value)) found.push_back(std::move(*decoded));
    return true;
  });
  return found;
}

}  // namespace errand::net
