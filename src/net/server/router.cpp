#include "net/server/router.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace errand::net {
namespace {

using Segments = std::vector<std::string>;

// The segments of a path, decoded; nothing if an escape is malformed. "/a/" has the two segments
// "a" and "", so that a slash too many matches nothing.
std::optional<Segments> split_path(std::string_view path) {
  Segments segments;
  if (path.empty() || path.front() != '/') return segments;
  for (std::size_t begin = 1;;) {
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string_view segment = path.substr(begin, end - begin);
    if (segment.find('%') == std::string_view::npos) {
      segments.emplace_back(segment);
    } else {
      auto decoded = percent_decode(segment);
      if (!decoded) return {};
      segments.push_back(std::move(*decoded));
    }
    if (end == path.size()) return segments;
    begin = end + 1;
  }
}

// Compares from the end, where the patterns of one program differ most.
bool matches(const Segments& pattern, const Segments& segments) {
  return std::equal(pattern.rbegin(), pattern.rend(), segments.rbegin(), segments.rend(),
                    [](const std::string& expected, const std::string& segment) {
                      return expected.empty() ? !segment.empty() : expected == segment;
                    });
}

Segments params_of(const Segments& pattern, Segments segments) {
  Segments params;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].empty()) params.push_back(std::move(segments[i]));
  }
  return params;
}

Task<Response> ready(Response response) {
  co_return response;
}

}  // namespace

Router::Router(ErrorRenderer render_error) : render_error_(std::move(render_error)) {}

void Router::add(Method method, std::string_view pattern, Handler handler) {
  auto segments = split_path(pattern);
  ERRAND_ASSERT(segments && !segments->empty());
  for (std::string& segment : *segments) {
    // The root's only segment is empty; anywhere else that would be a parameter by mistake.
    ERRAND_ASSERT(!segment.empty() || pattern == "/");
    if (segment == "{}") segment.clear();
  }
  if (pattern == "/") segments->clear();
  routes_.push_back(
      {.method = method, .segments = std::move(*segments), .handler = std::move(handler)});
}

Task<Response> Router::handle(Request request) const {
  auto segments = split_path(request.path);
  if (!segments) {
    return ready(
        render_error_(Error(ErrorCode::invalid_argument, "the path has a malformed percent escape")
                          .reason("bad_request")));
  }
  if (request.path == "/") segments->clear();
  bool absent = segments->empty() && request.path != "/";

  const Route* by_get = nullptr;
  std::string allow;
  for (const Route& route : routes_) {
    if (absent || !matches(route.segments, *segments)) continue;
    if (route.method == request.method) {
      request.params = params_of(route.segments, std::move(*segments));
      return route.handler(std::move(request));
    }
    if (route.method == Method::get) by_get = &route;
    append(allow, allow.empty() ? "" : ", ", to_string(route.method),
           route.method == Method::get ? ", HEAD" : "");
  }
  if (by_get != nullptr && request.method == Method::head) {
    request.params = params_of(by_get->segments, std::move(*segments));
    return by_get->handler(std::move(request));
  }
  if (allow.empty()) {
    return ready(render_error_(Error(ErrorCode::not_found, cat("there is no ", request.path))));
  }
  Response response =
      render_error_(Error(ErrorCode::unsupported,
                          cat(request.path, " does not take this method; it takes ", allow))
                        .reason("method_not_allowed"));
  response.headers.push_back({.name = "Allow", .value = std::move(allow)});
  return ready(std::move(response));
}

}  // namespace errand::net
