#pragma once

#include <string>
#include <string_view>

#include "load/connection.hpp"
#include "load/options.hpp"

namespace errand::load {

// The requests of the agent-runs API, written out.
class Requests final {
 public:
  explicit Requests(const Options& options);

  // The same for every run.
  const WireRequest& create() const { return create_; }
  WireRequest stream(std::string_view run) const;
  WireRequest answer(std::string_view run, std::string_view tool_use) const;

 private:
  WireRequest post(std::string_view path, std::string_view body) const;

  std::string path_;     // of the workspace's runs
  std::string headers_;  // of every request
  WireRequest create_;
};

}  // namespace errand::load
