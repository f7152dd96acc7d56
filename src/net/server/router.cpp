#include "net/server/router.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace errand::net {
namespace {

using Segments = std::vector<std::string>;

// The decoded segments of a path; nothing if an escape is malformed. "/a/" has the two segments "a"
// and "", so that a path with an extra slash matches nothing.
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

// Compares from the end, because patterns of one program differ most at their ends.
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

void Router::add(Method method, std::string_view pattern, Handler handler, Admission admit) {
  auto segments = split_path(pattern);
  ERRAND_ASSERT(segments && !segments->empty());
  for (std::string& segment : *segments) {
    // Only the root has an empty segment; anywhere else, it would be taken for a parameter.
    ERRAND_ASSERT(!segment.empty() || pattern == "/");
    if (segment == "{}") segment.clear();
  }
  if (pattern == "/") segments->clear();
  routes_.push_back({.method = method,
                     .segments = std::move(*segments),
                     .handler = std::move(handler),
                     .admit = std::move(admit)});
}

Result<Router::Found> Router::find(Method method, std::string_view path) const {
  auto segments = split_path(path);
  if (!segments) {
    return Error(ErrorCode::invalid_argument, "the path has a malformed percent escape")
        .reason("bad_request");
  }
  if (path == "/") segments->clear();
  bool absent = segments->empty() && path != "/";

  Found found;
  const Route* by_get = nullptr;
  for (const Route& route : routes_) {
    if (absent || !matches(route.segments, *segments)) continue;
    if (route.method == method) {
      found.route = &route;
      break;
    }
    if (route.method == Method::get) by_get = &route;
    append(found.allow, found.allow.empty() ? "" : ", ", to_string(route.method),
           route.method == Method::get ? ", HEAD" : "");
  }
  if (!found.route && method == Method::head) found.route = by_get;
  if (found.route) {
    found.params = params_of(found.route->segments, std::move(*segments));
  } else if (found.allow.empty()) {
    return Error(ErrorCode::not_found, cat("there is no ", path));
  }
  return found;
}

Task<Response> Router::handle(Request request) const {
  auto found = find(request.method, request.path);
  if (!found) return ready(render_error_(found.error()));
  if (found->route) {
    request.params = std::move(found->params);
    return found->route->handler(std::move(request));
  }
  Response response =
      render_error_(Error(ErrorCode::unsupported,
                          cat(request.path, " does not take this method; it takes ", found->allow))
                        .reason("method_not_allowed"));
  response.headers.push_back({.name = "Allow", .value = std::move(found->allow)});
  return ready(std::move(response));
}

Result<BodyTerms> Router::admit(const Request& head, const BodyTerms& wrong_method) const {
  ERRAND_TRY(Found found, find(head.method, head.path));
  if (!found.route) return wrong_method;
  if (!found.route->admit) return BodyTerms();
  Request asked = head;
  asked.params = std::move(found.params);
  return found.route->admit(asked);
}

}  // namespace errand::net
