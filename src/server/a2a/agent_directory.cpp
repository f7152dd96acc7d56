#include "server/a2a/agent_directory.hpp"

#include <utility>

#include "base/text.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/records/agents.hpp"
#include "json/members.hpp"

namespace errand::server {

Task<Result<OfferedAgent>> find_agent(NamedRecords* agents, Principal who, std::string id_or_name) {
  auto record = co_await agents->find(who.workspace, id_or_name);
  if (!engine::may_run(who, id_or_name, record)) {
    co_return engine::agent_not_allowed(utf8_prefix(id_or_name, kRecordNameCharsMax));
  }
  if (!record) co_return std::move(record).error();
  ERRAND_CO_TRY(auto body, engine::agent_json(*record));
  std::string description(json::text_at(&body, "description"));
  if (description.empty()) description = cat("The agent \"", record->name, "\" of Errand.");
  co_return OfferedAgent{.id = record->id,
                         .name = record->name,
                         .description = std::move(description),
                         .version = record->version};
}

}  // namespace errand::server
