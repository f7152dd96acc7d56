#include "run/spec.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/member_text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"
#include "run/unknown_members.hpp"

namespace errand {
namespace {

// The names of a run's tools, each with the place in the body that gives it.
class ToolNames final {
 public:
  Result<void> add(const ToolRef& ref, std::string_view pointer) {
    if (const auto* host = std::get_if<HostTool>(&ref)) {
      return add_name(host->name, cat(pointer, "/name"));
    }
    if (const auto* local = std::get_if<LocalTool>(&ref)) {
      return add_name(local->name, cat(pointer, "/name"));
    }
    for (const OfferedTool& tool : offered_tools(ref)) {
      ERRAND_CHECK(add_name(tool.decl.name, cat(pointer, tool.name_pointer)));
    }
    return {};
  }

 private:
  Result<void> add_name(const std::string& name, std::string pointer) {
    auto [known, is_new] = places_.emplace(name, pointer);
    if (!is_new) {
      return Error(ErrorCode::invalid_argument,
                   cat("two tools are called \"", name, "\": ", known->second, " and ", pointer))
          .pointer(pointer);
    }
    if (places_.size() <= kOfferedToolsMax) return {};
    return limit_met(cat("there are more than ", kOfferedToolsMax, " tools in all"), "/tools",
                     "offeredTools", kOfferedToolsMax);
  }

  std::unordered_map<std::string, std::string> places_;
};

Result<std::vector<ToolRef>> parse_refs(const json::Array& tools, Origin origin,
                                        const ValuePtr& keeper) {
  if (tools.size() > kToolsMax) {
    return limit_met(cat("there are ", tools.size(), " tools; at most ", kToolsMax, " are allowed"),
                     "/tools", "tools", kToolsMax);
  }
  ToolNames names;
  std::vector<ToolRef> refs;
  refs.reserve(tools.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    std::string pointer = json::child_pointer("/tools", i);
    ERRAND_TRY(ToolRef tool, parse_tool_ref(tools[i], pointer, origin, keeper));
    ERRAND_CHECK(names.add(tool, pointer));
    refs.push_back(std::move(tool));
  }
  return refs;
}

constexpr std::string_view kUncheckedPattern = ": RE2 lacks this pattern, which is not checked";

void add_unchecked_patterns(std::vector<std::string>& lines, const json::Value& schema,
                            std::string_view pointer) {
  for (const std::string& place : json::unchecked_patterns(schema)) {
    lines.push_back(cat(pointer, place, kUncheckedPattern));
  }
}

// The refs as they were sent, with the warnings that the caller gets about them.
ToolSetPtr share_with_warnings(std::vector<ToolRef> refs, const json::Array& tools,
                               std::string text) {
  ToolSet set{.refs = std::move(refs), .text = std::move(text), .hash = {}};
  for (std::size_t i = 0; i < tools.size(); ++i) {
    std::string pointer = json::child_pointer("/tools", i);
    add_unknown_of_tool(set.warnings, tools[i], pointer);
    add_unchecked_patterns(set.warnings, tools[i], pointer);
  }
  return std::make_shared<const ToolSet>(std::move(set));
}

void parse_tools(json::Fields& in, Spec& spec, Origin origin) {
  const json::Array* tools = in.optional_array("tools");
  if (!tools) return;
  auto refs = parse_refs(*tools, origin, nullptr);
  if (!refs) return in.fail(std::move(refs).error());
  spec.tools = origin == Origin::wire ? share_with_warnings(std::move(*refs), *tools, "")
                                      : share_tools(std::move(*refs));
}

// Tools as a caller sends them, parsed apart from the body. Null if anything is wrong with them.
ToolSetPtr parse_tool_set(std::string_view text) {
  auto value = json::parse_shared(
      text, {.depth_max = json::kDepthMax - 1, .values_max = json::kStrangersValuesMax});
  const json::Array* tools = value ? (*value)->if_array() : nullptr;
  if (!tools) return nullptr;
  auto refs = parse_refs(*tools, Origin::wire, *value);
  return refs ? share_with_warnings(std::move(*refs), *tools, std::string(text)) : nullptr;
}

void parse_messages(json::Fields& in, Spec& spec, Origin origin) {
  spec.prompt = in.optional_text("prompt");
  const json::Array* messages = in.optional_array("messages");
  if (spec.prompt && messages) {
    in.fail("messages", "give either \"prompt\" or \"messages\", not both");
    return;
  }
  if (!spec.prompt && (!messages || messages->empty())) {
    in.fail("prompt", "\"prompt\" is missing: give a \"prompt\" or \"messages\"");
    return;
  }
  if (!messages) return;
  if (messages->size() > kMessagesMax) {
    return in.fail(limit_met(cat("at most ", kMessagesMax, " messages are allowed"),
                             in.pointer_to("messages"), "messages", kMessagesMax));
  }
  for (std::size_t i = 0; i < messages->size(); ++i) {
    auto message = parse_input_message((*messages)[i],
                                       json::child_pointer(in.pointer_to("messages"), i), origin);
    if (!message) return in.fail(std::move(message).error());
    spec.messages.push_back(std::move(*message));
  }
}

// Unlike other unknown members, these are refused: the run would do something else than was asked.
void refuse_misleading(json::Fields& in) {
  const json::Array* attachments = in.optional_array("attachments");
  if (attachments && !attachments->empty()) {
    in.fail("attachments", "attachments belong to the last of the \"messages\"");
  }
  const json::Value* plan = in.optional_any("plan");
  const json::Object* members = plan ? plan->if_object() : nullptr;
  const json::Value* plan_only = members ? members->if_contains("planOnly") : nullptr;
  if (plan_only && !plan_only->is_null() && *plan_only != json::Value(false)) {
    in.fail(Error(ErrorCode::invalid_argument, "this server cannot plan without running the agent")
                .pointer(json::child_pointer(in.pointer_to("plan"), "planOnly"))
                .hint("leave \"planOnly\" out to run the agent"));
  }
}

bool is_valid_metadata_key(std::string_view key) {
  return !key.empty() && key.size() <= kMetadataKeyCharsMax &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

// The stored metadata of a run may hold entries of both its caller and its agent.
void parse_metadata(json::Fields& in, Spec& spec, Origin origin) {
  const json::Object* metadata = in.optional_object("metadata");
  if (!metadata) return;
  if (origin == Origin::journal) {
    spec.metadata = errand::parse_metadata(metadata);
    return;
  }
  if (metadata->size() > kMetadataEntriesMax) {
    return in.fail(limit_met(cat("at most ", kMetadataEntriesMax, " entries are allowed"),
                             in.pointer_to("metadata"), "metadataEntries", kMetadataEntriesMax));
  }
  std::string text;
  json::write(text, *metadata);
  if (text.size() > kMetadataBytesMax) {
    return in.fail(limit_met(cat("the metadata is longer than ", kMetadataBytesMax, " bytes"),
                             in.pointer_to("metadata"), "metadataBytes", kMetadataBytesMax));
  }
  for (const auto& member : *metadata) {
    std::string key(member.key().data(), member.key().size());
    std::string pointer = json::child_pointer(in.pointer_to("metadata"), key);
    if (!is_valid_metadata_key(key)) {
      return in.fail(
          Error(ErrorCode::invalid_argument, cat("a metadata key is 1 to ", kMetadataKeyCharsMax,
                                                 " letters, digits, dots, underscores and dashes"))
              .pointer(pointer));
    }
    if (key == kParentRunKey) {
      return in.fail(
          Error(ErrorCode::invalid_argument, cat("\"", kParentRunKey, "\" is the server's own"))
              .pointer(pointer));
    }
    const auto* value = member.value().if_string();
    if (!value || utf8_length(json::view(*value)) > kMetadataValueCharsMax) {
      return in.fail(
          Error(ErrorCode::invalid_argument, cat("a metadata value is a string of at most ",
                                                 kMetadataValueCharsMax, " characters"))
              .pointer(pointer));
    }
    spec.metadata.emplace_back(std::move(key), std::string(json::view(*value)));
  }
}

void parse_budgets(json::Fields& in, Spec& spec) {
  constexpr std::int64_t kDayMillis = 86'400'000;
  constexpr std::int64_t kTurnsMax = 1000;
  const json::Value* value = in.optional_any("budgets");
  if (!value) return;
  json::Fields budgets(*value, in.pointer_to("budgets"));
  if (auto millis = budgets.optional_integer("localToolTimeoutMs", 1, kDayMillis)) {
    spec.budgets.local_tool_timeout = milliseconds(*millis);
  }
  if (auto policy = budgets.optional_choice("onLocalToolTimeout", {"fail", "continue"})) {
    spec.budgets.on_local_tool_timeout = *policy == 0 ? OnTimeout::fail : OnTimeout::go_on;
  }
  if (auto turns = budgets.optional_integer("maxToolTurns", 0, kTurnsMax)) {
    spec.budgets.max_tool_turns = static_cast<int>(*turns);
  }
  if (auto policy = budgets.optional_choice("maxToolTurnsExceeded", {"error", "finalize"})) {
    spec.budgets.on_turns_exceeded =
        *policy == 0 ? OnTurnsExceeded::fail : OnTurnsExceeded::finalize;
  }
  if (auto done = budgets.finish(); !done) in.fail(std::move(done).error());
}

void parse_guards(json::Fields& in, Spec& spec) {
  if (const json::Value* value = in.optional_any("loopDetection")) {
    auto asked = parse_loop_detection(*value, in.pointer_to("loopDetection"));
    if (!asked) return in.fail(std::move(asked).error());
    spec.loop_detection = *asked;
  }
  if (const json::Value* value = in.optional_any("toolBudgets")) {
    auto budgets = parse_tool_budgets(*value, in.pointer_to("toolBudgets"));
    if (!budgets) return in.fail(std::move(budgets).error());
    spec.tool_budgets = std::move(*budgets);
  }
}

// Either a word or a number from 0 to 100.
void parse_reasoning_level(json::Fields& in, Spec& spec) {
  const json::Value* value = in.optional_any("reasoningLevel");
  if (!value) return;
  if (value->is_string()) {
    if (in.optional_choice("reasoningLevel", {"off", "low", "medium", "high"})) {
      spec.reasoning_level = reasoning_level(json::view(value->get_string()));
    }
  } else if (auto level = in.optional_integer("reasoningLevel", 0, kReasoningLevelMax)) {
    spec.reasoning_level = static_cast<int>(*level);
  }
}

bool is_agent_id(std::string_view text) {
  return !text.empty() && text.size() <= kAgentIdCharsMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

// A request names an agent; a journaled run also has the version of the agent that was merged in.
void parse_agent(json::Fields& in, Spec& spec, Origin origin) {
  auto agent = in.optional_text("agentId");
  if (!agent) return;
  if (!is_agent_id(*agent)) {
    in.fail("agentId", cat("\"", utf8_prefix(*agent, 80), "\" is not the id or name of an agent"));
  }
  spec.agent_id = std::move(*agent);
  if (origin == Origin::wire) return;
  spec.agent_version = in.optional_integer("agentVersion", 0, INT64_MAX).value_or(0);
}

void parse_room_members(json::Fields& in, Spec& spec) {
  if (const json::Value* value = in.optional_any("room")) {
    auto room = parse_room(*value, in.pointer_to("room"));
    if (!room) return in.fail(std::move(room).error());
    spec.room = std::move(*room);
  }
  if (const json::Value* value = in.optional_any("requiredToolkits")) {
    auto required = parse_required_toolkits(*value, in.pointer_to("requiredToolkits"));
    if (!required) return in.fail(std::move(required).error());
    spec.required_toolkits = std::move(*required);
  }
}

void parse_output(json::Fields& in, Spec& spec) {
  const json::Value* value = in.optional_any("outputSchema");
  if (!value) return;
  auto output = parse_output_schema(*value, in.pointer_to("outputSchema"));
  if (!output) return in.fail(std::move(output).error());
  spec.output_schema = std::move(*output);
}

Result<Spec> parse_spec_from(const json::Value& body, Origin origin) {
  json::Fields in(body, "");
  Spec spec;
  spec.name = in.optional_text("name").value_or("");
  if (utf8_length(spec.name) > kNameCharsMax) {
    in.fail(limit_met(cat("a name has at most ", kNameCharsMax, " characters"),
                      in.pointer_to("name"), "nameChars", kNameCharsMax));
  }
  spec.model_id = in.optional_text("modelId").value_or("");
  spec.fallback_model_id = in.optional_text("fallbackModelId").value_or("");
  spec.system_prompt = in.optional_text("systemPrompt").value_or("");
  parse_messages(in, spec, origin);
  parse_tools(in, spec, origin);
  parse_metadata(in, spec, origin);
  parse_budgets(in, spec);
  parse_guards(in, spec);
  parse_reasoning_level(in, spec);
  parse_output(in, spec);
  spec.retains_all = in.optional_choice("retainTools", {"marked", "all"}) == 1;
  parse_agent(in, spec, origin);
  parse_room_members(in, spec);
  if (origin == Origin::wire) refuse_misleading(in);
  return in.finish(std::move(spec));
}

json::Object members_of(const Spec& spec, json::Array tools, Origin origin) {
  json::Object out;
  if (!spec.name.empty()) out["name"] = spec.name;
  if (!spec.model_id.empty()) out["modelId"] = spec.model_id;
  if (!spec.fallback_model_id.empty()) out["fallbackModelId"] = spec.fallback_model_id;
  if (!spec.system_prompt.empty()) out["systemPrompt"] = spec.system_prompt;
  if (spec.prompt) {
    out["prompt"] = *spec.prompt;
  } else {
    json::Array messages;
    for (const Message& message : spec.messages) {
      messages.push_back(to_input_json(message, origin));
    }
    out["messages"] = std::move(messages);
  }
  out["tools"] = std::move(tools);
  if (!spec.metadata.empty()) out["metadata"] = metadata_json(spec);
  if (json::Object budgets = to_json(spec.budgets); !budgets.empty()) {
    out["budgets"] = std::move(budgets);
  }
  if (spec.loop_detection) out["loopDetection"] = to_json(*spec.loop_detection);
  if (spec.tool_budgets) out["toolBudgets"] = errand::to_json(*spec.tool_budgets);
  if (spec.reasoning_level) out["reasoningLevel"] = *spec.reasoning_level;
  if (spec.output_schema) out["outputSchema"] = to_json(*spec.output_schema);
  if (spec.retains_all) out["retainTools"] = "all";
  if (!spec.agent_id.empty()) out["agentId"] = spec.agent_id;
  if (spec.agent_version > 0) out["agentVersion"] = spec.agent_version;
  if (spec.room) out["room"] = to_json(*spec.room);
  if (!spec.required_toolkits.empty()) out["requiredToolkits"] = to_json(spec.required_toolkits);
  return out;
}

}  // namespace

std::size_t unchecked_patterns(const Spec& spec) {
  auto count_in = [](const std::vector<std::string>& lines) {
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.ends_with(kUncheckedPattern); });
  };
  return static_cast<std::size_t>(count_in(spec.warnings) + count_in(spec.tools->warnings));
}

Result<Spec> parse_spec(const json::Value& body) {
  ERRAND_TRY(Spec spec, parse_spec_from(body, Origin::wire));
  if (!spec.prompt) ERRAND_CHECK(check_conversation(spec.messages, "/messages"));
  add_unknown_members(spec.warnings, body, "", run_members());
  if (const json::Value* budgets = body.get_object().if_contains("budgets")) {
    add_unknown_members(spec.warnings, *budgets, "/budgets", budget_members());
  }
  if (const json::Value* output = body.get_object().if_contains("outputSchema")) {
    add_unchecked_patterns(spec.warnings, *output, "/outputSchema");
  }
  return spec;
}

Result<Spec> parse_spec(std::string_view body, ToolSetCache& known) {
  std::string_view text = json::member_text(body, "tools");
  ToolSetPtr tools = known.find(text);
  if (!tools && !text.empty()) tools = parse_tool_set(text);
  if (!tools) {
    ERRAND_TRY(auto value, json::parse(body, {.values_max = json::kStrangersValuesMax}));
    return parse_spec(value);
  }
  // The tools were parsed on their own, so a short value stands in for them while the rest is
  // parsed.
  std::size_t begin = static_cast<std::size_t>(text.data() - body.data());
  std::string rest = cat(body.substr(0, begin), "[]", body.substr(begin + text.size()));
  const json::ParseOptions options{.values_max = json::kStrangersValuesMax};
  auto value = json::parse(rest, options);
  if (!value)
    value = json::parse(body, options);  // the message of this attempt names the right byte
  if (!value) return std::move(value).error();
  ERRAND_TRY(Spec spec, parse_spec(*value));
  spec.tools = std::move(tools);
  return spec;
}

Result<Spec> parse_journaled_spec(const json::Value& value) {
  return parse_spec_from(value, Origin::journal);
}

json::Object metadata_json(const Spec& spec) {
  return metadata_json(spec.metadata);
}

json::Object metadata_json(const Metadata& metadata) {
  json::Object out;
  for (const auto& [key, value] : metadata) out[key] = value;
  return out;
}

json::Object labels_json(const Spec& spec) {
  json::Object out = metadata_json(spec.metadata);
  if (!spec.agent_id.empty()) out[kAgentLabel] = spec.agent_id;
  return out;
}

Metadata parse_metadata(const json::Object* members) {
  Metadata metadata;
  if (!members) return metadata;
  for (const auto& member : *members) {
    if (member.key().starts_with(kLabelBegin)) continue;
    metadata.emplace_back(member.key(), json::text_at(members, member.key()));
  }
  return metadata;
}

json::Object to_json(const Budgets& budgets) {
  json::Object out;
  if (budgets.local_tool_timeout) out["localToolTimeoutMs"] = budgets.local_tool_timeout->count();
  if (budgets.on_local_tool_timeout) {
    out["onLocalToolTimeout"] =
        *budgets.on_local_tool_timeout == OnTimeout::fail ? "fail" : "continue";
  }
  if (budgets.max_tool_turns) out["maxToolTurns"] = *budgets.max_tool_turns;
  if (budgets.on_turns_exceeded) {
    out["maxToolTurnsExceeded"] =
        *budgets.on_turns_exceeded == OnTurnsExceeded::fail ? "error" : "finalize";
  }
  return out;
}

json::Object to_json(const Spec& spec, Origin origin) {
  return members_of(spec, to_json(*spec.tools), origin);
}

void write(std::string& out, const Spec& spec) {
  json::ObjectWriter writer(out);
  for (const auto& member : members_of(spec, {}, Origin::journal)) {
    std::string_view key(member.key().data(), member.key().size());
    if (key == "tools" && !spec.tools->hash.empty()) {
      writer.field(key, json::Object{{"sha256", spec.tools->hash}});
    } else if (key == "tools") {
      writer.raw(key, "");
      write(out, *spec.tools);
    } else {
      writer.field(key, member.value());
    }
  }
  writer.end();
}

std::optional<int> reasoning_level(std::string_view word) {
  if (word == "off") return 0;
  if (word == "low") return 30;
  if (word == "medium") return 50;
  if (word == "high") return 80;
  return {};
}

std::string_view reasoning_effort(int level) {
  constexpr int kLowMax = 35;
  constexpr int kMediumMax = 65;
  if (level <= 0) return "off";
  if (level <= kLowMax) return "low";
  return level <= kMediumMax ? "medium" : "high";
}

std::vector<std::shared_ptr<const Message>> opening_messages(std::shared_ptr<const Spec> spec) {
  std::vector<std::shared_ptr<const Message>> out;
  if (spec->prompt) {
    Message said;
    said.text = *spec->prompt;
    out.push_back(std::make_shared<const Message>(std::move(said)));
  }
  for (const Message& message : spec->messages) {
    if (message.role != Role::system) out.emplace_back(spec, &message);
  }
  return out;
}

std::string whole_system_prompt(const Spec& spec) {
  std::string out = spec.system_prompt;
  for (const Message& message : spec.messages) {
    if (message.role != Role::system || message.text.empty()) continue;
    append(out, out.empty() ? "" : "\n\n", message.text);
  }
  return out;
}

}  // namespace errand
