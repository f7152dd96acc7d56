#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/error.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace errand::net {

using Handler = std::function<Task<Response>(Request)>;

// On which terms a request may send its body.
struct BodyTerms {
  std::string holder = {};  // the body's memory counts for this holder; empty: unknown
  std::optional<std::size_t> bytes_max = {};  // besides the server's limit: 413 body_too_large
  // The answer without reading the body. Null: the body is read.
  std::shared_ptr<Response> refusal = nullptr;
};

// Judges a request by its head, before its body is waited for: the terms, or why the request is
// refused. Not asked about a request that arrives as a whole; its handler judges that.
using Admission = std::function<Result<BodyTerms>(const Request&)>;

// Turns an Error into an answer. There is one for the whole program, so that every error has the
// same body, errors that `net` finds itself included.
using ErrorRenderer = std::function<Response(const Error&)>;

// Finds the handler for a request by method and path. HEAD goes to GET's handler. A path that
// exists with other methods is `unsupported` with reason "method_not_allowed" and an Allow header;
// an unknown path is not_found; malformed escapes are invalid_argument.
class Router final {
 public:
  explicit Router(ErrorRenderer render_error);

  // `pattern` is a path whose segments are literals or "{}", e.g. "/api/v1/workspaces/{}/models". A
  // parameter matches one non-empty segment and arrives decoded in Request::params. `admit` gets
  // the head with the parameters of its path; without it, all requests are admitted.
  void add(Method method, std::string_view pattern, Handler handler, Admission admit = {});

  Task<Response> handle(Request request) const;

  // An Admission by the route that handle() would take. A path without a route is refused at once;
  // a request with a wrong method gets `wrong_method`, because its answer names the right ones.
  Result<BodyTerms> admit(const Request& head, const BodyTerms& wrong_method) const;

 private:
  struct Route {
    Method method;
    std::vector<std::string> segments;  // "" stands for a parameter
    Handler handler;
    Admission admit;
  };
  struct Found {
    const Route* route = nullptr;
    std::vector<std::string> params = {};  // of the route's pattern
    std::string allow = {};                // without a route: the methods that the path takes
  };

  // invalid_argument: malformed escapes. not_found: the path has no route with any method.
  Result<Found> find(Method method, std::string_view path) const;

  ErrorRenderer render_error_;
  std::vector<Route> routes_;
};

}  // namespace errand::net
