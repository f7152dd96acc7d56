#include "net/server/failure_log.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::net {

bool FailureLog::admit(Pace& pace, SteadyTime now) {
  pace.next = std::max(pace.next, now);
  if (pace.next - now > kLineEvery * (kLinesAtOnce - 1)) {
    ++pace.left_out;
    return false;
  }
  pace.next += kLineEvery;
  return true;
}

void FailureLog::tell(const FailedRequest& request, SteadyTime now) {
  constexpr int kFirstServerError = 500;
  const bool is_broken = request.status >= kFirstServerError;
  Pace& pace = is_broken ? broken_ : refused_;
  if (!admit(pace, now)) return;
  if (auto count = std::exchange(pace.left_out, 0); count > 0) {
    log_.warning("more requests failed than are logged", {{"leftOut", std::to_string(count)}});
  }
  const std::initializer_list<LogField> fields = {
      {.key = "requestId", .value = request.id},
      {.key = "method", .value = std::string(request.method)},
      {.key = "path", .value = std::string(utf8_prefix(request.path, kPathBytesMax))},
      {.key = "status", .value = std::to_string(request.status)},
      {.key = "error", .value = request.what}};
  if (is_broken) {
    log_.warning("a request failed", fields);
  } else {
    log_.info("a request failed", fields);
  }
}

}  // namespace errand::net
