#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "json/value.hpp"
#include "room/calls.hpp"

namespace errand::room {

// What participants log for developers, for listeners at that moment. Nothing is stored.
class DeveloperLogs final {
 public:
  // A call that gets every line until its caller closes its input. This outlives the call.
  std::shared_ptr<LocalCall> listen(Calls::Reply reply);
  void tell(std::string_view type, const json::Object& data) const;
  std::size_t listeners() const { return listeners_.size(); }

 private:
  class Listener;

  std::set<Listener*> listeners_;
};

}  // namespace errand::room
