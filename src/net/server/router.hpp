#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/error.hpp"
#include "base/result.hpp"
#include "net/http.hpp"

namespace errand::net {

using Handler = std::function<Task<Response>(Request)>;

// Judges a request by its head, before its body is waited for: who is to answer for the memory that
// the body takes (empty: nobody is known), or why the request is refused. Not asked about a request
// that arrives as a whole; its handler judges that.
using Admission = std::function<Result<std::string>(const Request&)>;

// Turns an Error into an answer. There is one for the whole program, so that every error has the
// same body, also those that `net` finds itself.
using ErrorRenderer = std::function<Response(const Error&)>;

// Finds the handler for a request by method and path. HEAD goes to GET's handler. A path that
// exists with other methods is `unsupported` with reason "method_not_allowed" and an Allow header;
// one that does not exist at all is not_found; malformed escapes are invalid_argument.
class Router final {
 public:
  explicit Router(ErrorRenderer render_error);

  // `pattern` is a path whose segments are literals or "{}", e.g. "/api/v1/workspaces/{}/models".
  // A parameter matches one non-empty segment and arrives decoded in Request::params.
  void add(Method method, std::string_view pattern, Handler handler);

  Task<Response> handle(Request request) const;

 private:
  struct Route {
    Method method;
    std::vector<std::string> segments;  // "" stands for a parameter
    Handler handler;
  };

  ErrorRenderer render_error_;
  std::vector<Route> routes_;
};

}  // namespace errand::net
