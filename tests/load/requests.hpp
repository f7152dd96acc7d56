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
  // The same for every session.
  WireRequest create_session() const;
  // Creates a run, too.
  WireRequest message(std::string_view session) const;
  WireRequest stream(std::string_view run) const;
  WireRequest answer(std::string_view run, std::string_view tool_use) const;

 private:
  WireRequest post(std::string_view path, std::string_view body) const;

  std::string workspace_;  // its path
  std::string headers_;    // of every request
  std::string model_;
  WireRequest create_;
};

}  // namespace errand::load
