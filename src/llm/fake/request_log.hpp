#pragma once

#include <deque>
#include <optional>
#include <string>

#include "net/http.hpp"

namespace errand::llm {

// The requests that a fake was sent, in order, so that tests can look at them. Keys are taken out
// of headers and query; bodies are kept as they came. Lives on one home.
class RequestLog final {
 public:
  // Beyond either of these the oldest are dropped, and counted.
  static constexpr std::size_t kRequestsMax = 1000;
  static constexpr std::size_t kBytesMax = 64U * 1024 * 1024;

  struct Outcome {
    int status = 0;
    std::optional<std::size_t> turn;  // that was asked for; nothing if it cannot be known
    bool is_json = false;             // the body
  };
  void add(const net::Request& request, const Outcome& outcome);
  void clear();

  // {"requests":[{"number","method","path","query","headers","body","turn","status"}],"dropped"}.
  // A body that is no JSON is a string.
  std::string to_json() const;

 private:
  std::deque<std::string> entries_;  // as JSON
  std::size_t bytes_ = 0;
  std::size_t last_number_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace errand::llm
