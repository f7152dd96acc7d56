#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::sdk {

// What a client of MCP's modern era keeps between two rounds of questions: the answers that it gave
// before. Sealed, so that only what this server gave out is taken back, for the same request and
// within kAgeMax.
class RequestStates final {
 public:
  static constexpr milliseconds kAgeMax = std::chrono::hours(1);

  explicit RequestStates(std::string key) : key_(std::move(key)) {}

  // `request` says which request it is.
  std::string seal(const json::Object& answers, std::string_view request, WallTime now) const;
  // invalid_argument: the state is none of this server, of another request, or too old.
  Result<json::Object> open(std::string_view state, std::string_view request, WallTime now) const;

 private:
  std::string signature(std::string_view state, std::string_view request) const;

  const std::string key_;
};

}  // namespace errand::sdk
