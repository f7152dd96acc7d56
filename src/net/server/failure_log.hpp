#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace errand::net {

// A request that was answered with an error.
struct FailedRequest {
  std::string id;
  std::string_view method;
  std::string path;  // without the query, which may hold a credential
  int status = 0;
  std::string what;  // what went wrong; says nothing that the request holds
};

// One log line for each failed request. A client that does nothing but fail must not fill the disk:
// past kLinesAtOnce there is a line each kLineEvery, and a later line tells how many were left out.
// Errors of the server (5xx) are counted by themselves, so that no client can hide them. Lives on
// the server's home.
class FailureLog final {
 public:
  static constexpr int kLinesAtOnce = 100;
  static constexpr milliseconds kLineEvery{100};
  static constexpr std::size_t kPathBytesMax = 200;

  // `log` outlives this.
  explicit FailureLog(Log& log) : log_(log) {}

  void tell(const FailedRequest& request, SteadyTime now);

 private:
  struct Pace {
    SteadyTime next{};  // when the lines that were written have been paid for
    std::uint64_t left_out = 0;
  };
  // Whether a line may be written now. Counts the line as written, or as left out.
  static bool admit(Pace& pace, SteadyTime now);

  Log& log_;
  Pace refused_;
  Pace broken_;
};

}  // namespace errand::net
