#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "room/access/storage_grant.hpp"

namespace errand::room {

// The names that a grant allows; without a list, all.
class AllowedNames final {
 public:
  AllowedNames() = default;
  explicit AllowedNames(std::optional<std::vector<std::string>> names) : names_(std::move(names)) {}
  bool allows(std::string_view name) const;
  bool allows_all() const { return !names_; }

 private:
  std::optional<std::vector<std::string>> names_;
};

struct AgentsGrant {
  bool register_public_toolkit = true;
  bool register_private_toolkit = true;
  bool call = true;
  bool use_agents = true;
  bool use_tools = true;
  AllowedNames toolkits;
};

struct MessagingGrant {
  bool broadcast = true;
  bool list = true;
  bool send = true;
};

struct QueuesGrant {
  AllowedNames send;
  AllowedNames receive;
  bool list = true;
};

struct DeveloperGrant {
  bool logs = true;
};

// What a participant may do in a room, by surface. A surface that is not granted is denied.
struct ApiScope {
  std::optional<AgentsGrant> agents;
  std::optional<MessagingGrant> messaging;
  std::optional<QueuesGrant> queues;
  std::optional<StorageGrant> storage;
  std::optional<DeveloperGrant> developer;
};

// Unknown members are ignored. invalid_argument: a known one has a value that it cannot have.
Result<ApiScope> parse_api_scope(const json::Value& scope);

// The api grant that a holder of `own` may give away on the request `asked`: the surfaces that both
// name, each with the narrower limits. forbidden: both limit a surface, and not in the same way.
Result<json::Object> narrow_api(const json::Object& own, const json::Object& asked);

}  // namespace errand::room
