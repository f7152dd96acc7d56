#include "engine/records/agents.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include "async/read_aside.hpp"
#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"
#include "run/unknown_members.hpp"
#include "tool/secrets.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kAgentBytesMax = 1024U * 1024;

// Members that only the server sets. Answers have them, so a file made from an answer may have
// them, too.
constexpr std::span kReadOnly = std::span(kAgentMembers).last<4>();

Result<void> refuse_unknown(const json::Value& body) {
  for (std::string_view name : {"prompt", "messages"}) {
    if (!body.get_object().contains(name)) continue;
    return Error(ErrorCode::invalid_argument,
                 cat("\"", name, "\" belongs to a run and not to an agent"))
        .pointer(json::child_pointer("", name));
  }
  return refuse_unknown_members(body, kAgentMembers);
}

// The room's token is stored as a header of this name.
constexpr std::string_view kRoomHeader = "authorization";
json::Value* room_token(json::Object& members) {
  json::Value* room = members.if_contains("room");
  return room && room->is_object() ? room->get_object().if_contains("token") : nullptr;
}

// Calls visit with the name and the value of each header of each tool, until visit returns false.
template <class Visit>
bool for_each_header(json::Object& members, Visit visit) {
  if (json::Value* token = room_token(members); token && !visit(kRoomHeader, *token)) return false;
  json::Value* tools = members.if_contains("tools");
  if (!tools || !tools->is_array()) return true;
  for (json::Value& tool : tools->get_array()) {
    json::Value* headers = tool.is_object() ? tool.get_object().if_contains("headers") : nullptr;
    if (!headers || !headers->is_object()) continue;
    for (auto& header : headers->get_object()) {
      if (!visit({header.key().data(), header.key().size()}, header.value())) return false;
    }
  }
  return true;
}

// Parses the members as those of a run, which needs a prompt.
Result<Spec> parse_as_run(json::Object members) {
  members["prompt"] = "";
  return parse_spec(json::Value(std::move(members)));
}

// Headers of tools may hold keys. A value that only names secrets is shown.
void hide_headers(json::Object& members) {
  for_each_header(members, [](std::string_view name, json::Value& value) {
    const auto* text = value.if_string();
    if (!text || may_be_secret(name, json::view(*text))) value = json::kRedacted;
    return true;
  });
}

// The placeholder that is shown instead of a header's value must not be stored as its value.
Result<void> refuse_hidden(json::Object members) {
  bool is_fine = for_each_header(members, [](std::string_view, const json::Value& value) {
    return value != json::Value(json::kRedacted);
  });
  if (is_fine) return {};
  return Error(ErrorCode::invalid_argument,
               "a header of a tool has the value \"[redacted]\", which only stands in for the real "
               "value")
      .pointer("/tools")
      .hint("write the value again, or better {{secret:NAME}}");
}

// The name of the tool that the ref has, for comparing refs.
std::string name_in(const ToolRef& ref) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { one.agent_id; }) {
          return one.name.empty() ? one.agent_id : one.name;
        } else if constexpr (requires { one.name; }) {
          return one.name;
        } else {
          return one.id;
        }
      },
      ref);
}

template <class Optional>
void take_over(Optional& runs, const Optional& agents) {
  if (!runs) runs = agents;
}

void take_over(Budgets& runs, const Budgets& agents) {
  take_over(runs.local_tool_timeout, agents.local_tool_timeout);
  take_over(runs.on_local_tool_timeout, agents.on_local_tool_timeout);
  take_over(runs.max_tool_turns, agents.max_tool_turns);
  take_over(runs.on_turns_exceeded, agents.on_turns_exceeded);
}

}  // namespace

Task<Result<AgentParams>> sealed_agent(SecretVault* vault, BlockingPool* pool,
                                       WorkspaceSlug workspace, AgentParams agent) {
  if (!agent.has_headers) co_return agent;
  auto read = [](std::string_view body) { return json::parse(body); };
  ERRAND_CO_TRY(auto members, co_await read_aside(&agent.body, pool, read));
  if (json::Value* token = room_token(members.as_object())) {
    json::Object headers;
    headers[kRoomHeader] = *token;
    json::Object ref;
    ref["headers"] = std::move(headers);
    json::Array refs;
    refs.emplace_back(std::move(ref));
    ERRAND_CO_TRY(auto sealed, co_await vault->seal_headers(workspace, std::move(refs)));
    *token = sealed[0].at("headers").at(kRoomHeader);
  }
  json::Value* tools = members.as_object().if_contains("tools");
  if (tools && tools->is_array()) {
    ERRAND_CO_TRY(auto sealed,
                  co_await vault->seal_headers(workspace, std::move(tools->get_array())));
    *tools = std::move(sealed);
  }
  auto write = [members = std::move(members)] { return Result<std::string>(json::write(members)); };
  BlockingPool* place = agent.body.size() > kBytesInABreath ? pool : nullptr;
  ERRAND_CO_TRY(agent.body, co_await run_aside(place, std::move(write)));
  co_return agent;
}

Result<AgentParams> parse_agent(const json::Value& body, std::string_view name) {
  json::Fields in(body, "");
  AgentParams agent{.name = in.optional_text("name").value_or(std::string(name)), .body = {}};
  if (in.ok() && !is_valid_record_name(agent.name)) {
    in.fail("name", cat("the name of an agent is 1 to ", kRecordNameCharsMax,
                        " letters, digits, dots, underscores and dashes"));
  }
  if (utf8_length(in.optional_text("description").value_or("")) > kAgentDescriptionCharsMax) {
    in.fail(limit_met(cat("a description has at most ", kAgentDescriptionCharsMax, " characters"),
                      "/description", "descriptionChars", kAgentDescriptionCharsMax));
  }
  ERRAND_CHECK(in.finish());
  ERRAND_CHECK(refuse_unknown(body));
  json::Object members = body.get_object();
  for (std::string_view word : kReadOnly) members.stable_erase(word);
  members.stable_erase("name");
  ERRAND_CHECK(refuse_hidden(members));
  agent.has_headers =
      !for_each_header(members, [](std::string_view, const json::Value&) { return false; });
  ERRAND_CHECK(parse_as_run(members));
  agent.body = json::write(members);
  if (agent.body.size() <= kAgentBytesMax) return agent;
  return limit_met(cat("an agent has at most ", kAgentBytesMax, " bytes"), "", "agentBytes",
                   kAgentBytesMax);
}

Result<json::Object> agent_json(const NamedRecord& agent) {
  json::Object out{{"id", agent.id},
                   {"name", agent.name},
                   {"version", agent.version},
                   {"createdAt", to_iso8601(agent.created_at)},
                   {"updatedAt", to_iso8601(agent.updated_at)}};
  ERRAND_TRY(auto members, json::parse(agent.body));
  hide_headers(members.as_object());
  for (auto& member : members.as_object()) out[member.key()] = std::move(member.value());
  return out;
}

Task<Result<std::string>> label_of_agent(NamedRecords* agents, WorkspaceSlug workspace,
                                         std::string asked) {
  auto known = co_await agents->find(workspace, asked);
  if (known) co_return known->id;
  if (known.error().code() != ErrorCode::not_found) co_return std::move(known).error();
  co_return asked;
}

Metadata merged_metadata(Metadata metadata, const Metadata& more) {
  for (const auto& [key, value] : more) {
    std::erase_if(metadata, [&key](const auto& known) { return known.first == key; });
    metadata.emplace_back(key, value);
  }
  return metadata;
}

// With their text: a long one is kept once beside the journals of all runs that have these tools.
ToolSetPtr share_with_text(std::vector<ToolRef> refs) {
  std::string text = json::write(json::Value(to_json(*share_tools(refs))));
  return share_tools(std::move(refs), std::move(text));
}

ToolSetPtr merged_tools(const ToolSetPtr& agents, const ToolSetPtr& runs) {
  if (agents->refs.empty()) return runs;
  if (runs->refs.empty()) return share_with_text(agents->refs);
  std::set<std::string> names;
  for (const ToolRef& ref : runs->refs) names.insert(name_in(ref));
  std::vector<ToolRef> refs;
  for (const ToolRef& ref : agents->refs) {
    const bool is_room = std::holds_alternative<RoomRef>(ref);
    if (is_room || !names.contains(name_in(ref))) refs.push_back(ref);
  }
  refs.insert(refs.end(), runs->refs.begin(), runs->refs.end());
  return share_with_text(std::move(refs));
}

Result<Spec> with_agent(Spec asked, const NamedRecord& agent) {
  ERRAND_TRY(auto members, json::parse(agent.body));
  auto parsed = members.is_object() ? parse_as_run(members.get_object())
                                    : Result<Spec>(Error(ErrorCode::internal, "not an object"));
  if (!parsed) {
    return Error(ErrorCode::internal, cat("the record of the agent \"", agent.name,
                                          "\" is damaged: ", parsed.error().describe()));
  }
  Spec& stored = *parsed;
  // The agent's members are defaults for the run, except for the system prompt, which wins.
  asked.agent_id = agent.id;
  asked.agent_version = agent.version;
  if (asked.name.empty()) asked.name = agent.name;
  if (asked.model_id.empty()) asked.model_id = std::move(stored.model_id);
  if (asked.fallback_model_id.empty()) {
    asked.fallback_model_id = std::move(stored.fallback_model_id);
  }
  if (!stored.system_prompt.empty()) asked.system_prompt = std::move(stored.system_prompt);
  asked.tools = merged_tools(stored.tools, asked.tools);
  asked.metadata = merged_metadata(std::move(stored.metadata), asked.metadata);
  take_over(asked.budgets, stored.budgets);
  take_over(asked.loop_detection, stored.loop_detection);
  take_over(asked.tool_budgets, stored.tool_budgets);
  take_over(asked.reasoning_level, stored.reasoning_level);
  take_over(asked.output_schema, stored.output_schema);
  asked.retains_all = asked.retains_all || stored.retains_all;
  take_over(asked.room, stored.room);
  if (asked.required_toolkits.empty()) {
    asked.required_toolkits = std::move(stored.required_toolkits);
  }
  return asked;
}

}  // namespace errand::engine
