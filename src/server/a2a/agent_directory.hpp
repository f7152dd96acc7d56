#pragma once

#include <string>

#include "async/task.hpp"
#include "base/result.hpp"
#include "run/principal.hpp"
#include "store/named_records.hpp"

namespace errand::server {

// A stored agent, as A2A clients know it.
struct OfferedAgent {
  std::string id;
  std::string name;
  std::string description;
  std::int64_t version = 0;
};

// The agent of the caller's workspace with this id or name. `agents` outlives the task. not_found:
// there is none. forbidden: the caller's key must not run it.
Task<Result<OfferedAgent>> find_agent(NamedRecords* agents, Principal who, std::string id_or_name);

}  // namespace errand::server
