#pragma once

#include <memory>
#include <utility>

#include "rpc/connection.hpp"

namespace errand::rpc {

struct MemoryLimits {
  std::size_t messages_max = 1024;  // unread; beyond, send() refuses
};

// Two connections on one home, each other's peer.
std::pair<std::unique_ptr<Connection>, std::unique_ptr<Connection>> make_connection_pair(
    const Executor& home, MemoryLimits limits = {});

}  // namespace errand::rpc
