#pragma once

#include <algorithm>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace errand::net {

// How long a request may take. A time that is up closes the connection, and the error (timeout)
// says which it was; its reason is "connect_timeout" and so on.
struct ClientTimeouts {
  static constexpr milliseconds kNone = milliseconds::max();

  milliseconds connect = seconds(15);      // look-up, TCP, the proxy and TLS
  milliseconds first_byte = seconds(120);  // from then until an answer begins; sending included
  milliseconds idle = seconds(120);        // between bytes of the answer
  milliseconds total = seconds(900);       // from the call to the end of the answer

  friend bool operator==(const ClientTimeouts&, const ClientTimeouts&) = default;
};

// One such time on the clock.
struct TimeLimit {
  std::string_view name;  // a literal, such as "connect"
  milliseconds length{};
  SteadyTime when = SteadyTime::max();

  static TimeLimit from_now(std::string_view name, milliseconds length) {
    SteadyTime now = std::chrono::steady_clock::now();
    bool is_far = length >= std::chrono::duration_cast<milliseconds>(SteadyTime::max() - now);
    return {.name = name, .length = length, .when = is_far ? SteadyTime::max() : now + length};
  }
  // "the idle timeout of 120000 ms for host:port passed".
  Error passed(std::string_view peer) const;
};

inline const TimeLimit& earlier(const TimeLimit& a, const TimeLimit& b) {
  return a.when <= b.when ? a : b;
}

}  // namespace errand::net
