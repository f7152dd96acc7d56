#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace errand::net {

// Short ids for requests: a prefix that differs between processes, and a counter. They tell
// requests apart in logs and protect nothing.
class RequestIds final {
 public:
  RequestIds();

  std::string next();

 private:
  std::string prefix_;
  std::uint64_t count_ = 0;
};

// Whether a caller's own id may be used: 1 to 64 of [A-Za-z0-9._-].
bool is_sane_request_id(std::string_view id);

}  // namespace errand::net
