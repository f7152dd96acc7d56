#include "room/access/grants.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "room/access/grant_fields.hpp"

namespace errand::room {
namespace {

Result<AgentsGrant> parse_agents(const json::Value& value) {
  json::Fields in(value, "/agents");
  AgentsGrant grant;
  grant.register_public_toolkit =
      flag_of(in, "register_public_toolkit", "registerPublicToolkit").value_or(true);
  grant.register_private_toolkit =
      flag_of(in, "register_private_toolkit", "registerPrivateToolkit").value_or(true);
  grant.call = in.optional_flag("call").value_or(true);
  grant.use_agents = flag_of(in, "use_agents", "useAgents").value_or(true);
  grant.use_tools = flag_of(in, "use_tools", "useTools").value_or(true);
  grant.toolkits = AllowedNames(texts_of(in, "allowed_toolkits", "allowedToolkits"));
  return in.finish(std::move(grant));
}

Result<MessagingGrant> parse_messaging(const json::Value& value) {
  json::Fields in(value, "/messaging");
  MessagingGrant grant;
  grant.broadcast = in.optional_flag("broadcast").value_or(true);
  grant.list = in.optional_flag("list").value_or(true);
  grant.send = in.optional_flag("send").value_or(true);
  return in.finish(grant);
}

Result<QueuesGrant> parse_queues(const json::Value& value) {
  json::Fields in(value, "/queues");
  QueuesGrant grant;
  grant.send = AllowedNames(texts_of(in, "send", "send"));
  grant.receive = AllowedNames(texts_of(in, "receive", "receive"));
  grant.list = in.optional_flag("list").value_or(true);
  return in.finish(std::move(grant));
}

Result<StorageGrant> parse_storage(const json::Value& value) {
  return StorageGrant::parse(value.as_object());
}

Result<DeveloperGrant> parse_developer(const json::Value& value) {
  json::Fields in(value, "/developer");
  DeveloperGrant grant;
  grant.logs = in.optional_flag("logs").value_or(true);
  return in.finish(grant);
}

// Parses a grant: an object, or null if there is none.
template <class Grant, class Parse>
Result<std::optional<Grant>> parse_surface(const json::Object& scope, std::string_view name,
                                           Parse parse) {
  const json::Value* value = scope.if_contains(name);
  if (!value || value->is_null()) return std::optional<Grant>();
  if (!value->is_object()) {
    return Error(ErrorCode::invalid_argument, "expected an object")
        .pointer(json::child_pointer("", name));
  }
  ERRAND_TRY(Grant grant, parse(*value));
  return std::optional<Grant>(std::move(grant));
}

}  // namespace

bool AllowedNames::allows(std::string_view name) const {
  return !names_ || std::find(names_->begin(), names_->end(), name) != names_->end();
}

Result<ApiScope> parse_api_scope(const json::Value& scope) {
  ApiScope parsed;
  if (!scope.is_object()) return Error(ErrorCode::invalid_argument, "expected an object");
  const json::Object& in = scope.as_object();
  ERRAND_TRY(parsed.agents, parse_surface<AgentsGrant>(in, "agents", parse_agents));
  ERRAND_TRY(parsed.messaging, parse_surface<MessagingGrant>(in, "messaging", parse_messaging));
  ERRAND_TRY(parsed.queues, parse_surface<QueuesGrant>(in, "queues", parse_queues));
  ERRAND_TRY(parsed.storage, parse_surface<StorageGrant>(in, "storage", parse_storage));
  ERRAND_TRY(parsed.developer, parse_surface<DeveloperGrant>(in, "developer", parse_developer));
  return parsed;
}

Result<json::Object> narrow_api(const json::Object& own, const json::Object& asked) {
  json::Object narrowed;
  for (const auto& member : asked) {
    const std::string_view surface = member.key();
    const json::Object* wanted = member.value().if_object();
    const json::Object* held = json::object_at(&own, surface);
    if (!wanted || !held) continue;  // nobody can grant what they do not have
    if (!wanted->empty() && !held->empty() && *wanted != *held) {
      return Error(ErrorCode::forbidden,
                   cat("the token limits ", surface, " in another way than the request"));
    }
    narrowed[surface] = held->empty() ? *wanted : *held;
  }
  return narrowed;
}

}  // namespace errand::room
