#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>

#include "engine/session_spec.hpp"

namespace errand::engine {

// The parameters that sessions were created with, which never change, so that a message to a
// session that was used a moment ago reads nothing. The least recently used session is forgotten
// first. Lives on one home.
class SessionCache final {
 public:
  static constexpr std::size_t kSessionsMax = 1024;
  // Of the text that the store has of it. A longer one is not kept.
  static constexpr std::size_t kSpecBytesMax = 8U * 1024;

  explicit SessionCache(std::size_t sessions_max = kSessionsMax) : sessions_max_(sessions_max) {}

  struct Known {
    std::shared_ptr<const SessionParams> params;  // null: nothing is known
    HistorySize history = {};                     // when it was last looked at
  };
  Known find(const SessionKey& session);
  void keep(const SessionKey& session, Known known);
  // The history has at least this length.
  void note(const SessionKey& session, HistorySize history);

 private:
  struct Kept {
    SessionKey session;
    Known known;
  };
  using List = std::list<Kept>;

  const std::size_t sessions_max_;
  List kept_;  // the one used last is first
  std::map<SessionKey, List::iterator> places_;
};

}  // namespace errand::engine
