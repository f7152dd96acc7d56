#include "sdk/bridge/run_request.hpp"

#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "run/unknown_members.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {
namespace {

std::string_view word_of(v1::Role role) {
  switch (role) {
    case v1::Role::system: return "system";
    case v1::Role::user: return "user";
    case v1::Role::assistant: return "assistant";
  }
  return "user";
}

json::Object attachment(const v1::FileContent& file) {
  return {{"type", "input_file"},
          {"filename", file.name},
          {"mimeType", file.mime_type},
          {"data", to_base64(file.bytes)}};
}

json::Object attachment(const v1::LinkContent& link) {
  json::Object out{{"type", "input_file_url"}, {"url", link.url}};
  if (!link.mime_type.empty()) out["mimeType"] = link.mime_type;
  if (!link.name.empty()) out["filename"] = link.name;
  return out;
}

json::Object message_json(const v1::Message& message) {
  json::Object out{{"role", word_of(message.role)}, {"content", message.text}};
  json::Array attachments;
  for (const auto& one : message.attachments) {
    attachments.push_back(std::visit([](const auto& part) { return attachment(part); }, one));
  }
  if (!attachments.empty()) out["attachments"] = std::move(attachments);
  return out;
}

void set_text(json::Object& body, std::string_view key, const std::string& text) {
  if (!text.empty()) body[key] = text;
}

json::Value level_json(const v1::ReasoningLevel& level) {
  if (const int* number = std::get_if<int>(&level)) return *number;
  return json::Value(std::get<std::string>(level));
}

json::Value loop_json(const v1::LoopDetection& asked) {
  if (!asked.enabled) return false;
  json::Object out;
  if (asked.consecutive_threshold) out["consecutiveThreshold"] = *asked.consecutive_threshold;
  if (asked.hard_cutoff_threshold) out["hardCutoffThreshold"] = *asked.hard_cutoff_threshold;
  return out;
}

json::Object output_json(const v1::OutputSchema& output) {
  json::Object out{{"name", output.name}, {"schema", v1::detail::to_value(output.schema)}};
  if (output.strict) out["enforcement"] = "strict";
  return out;
}

void add_conversation(json::Object& body, const v1::RunOptions& options) {
  set_text(body, "prompt", options.prompt);
  if (options.messages.empty()) return;
  json::Array messages;
  for (const v1::Message& message : options.messages) messages.push_back(message_json(message));
  body["messages"] = std::move(messages);
}

void add_limits(json::Object& body, const v1::RunOptions& options) {
  if (options.reasoning_level) body["reasoningLevel"] = level_json(*options.reasoning_level);
  if (options.loop_detection) body["loopDetection"] = loop_json(*options.loop_detection);
  if (options.tool_budgets) {
    json::Object budgets;
    for (const auto& [name, calls] : *options.tool_budgets) budgets[name] = {{"maxCalls", calls}};
    body["toolBudgets"] = std::move(budgets);
  }
  json::Object budgets;
  if (options.max_tool_turns) budgets["maxToolTurns"] = *options.max_tool_turns;
  if (options.tool_timeout.count() > 0) {
    budgets["localToolTimeoutMs"] = options.tool_timeout.count();
  }
  if (options.on_tool_timeout) {
    bool goes_on = *options.on_tool_timeout == v1::OnToolTimeout::tell_model;
    budgets["onLocalToolTimeout"] = goes_on ? "continue" : "fail";
  }
  if (!budgets.empty()) body["budgets"] = std::move(budgets);
}

void add_members(json::Object& body, const v1::JsonObject& more) {
  for (const v1::JsonMember& member : more) {
    body[member.name] = v1::detail::to_value(member.value);
  }
}

json::Object body_of(const v1::RunOptions& options, const std::string& inherited_prompt) {
  json::Object body;
  add_conversation(body, options);
  add_limits(body, options);
  const std::string& said =
      needs_inherited_prompt(options) ? inherited_prompt : options.system_prompt;
  set_text(body, "systemPrompt", with_rules(said, options.tools, options.toolkits));
  set_text(body, "agentId", options.agent);
  set_text(body, "modelId", options.model);
  set_text(body, "name", options.name);
  if (options.output) body["outputSchema"] = output_json(*options.output);
  if (!options.metadata.empty()) {
    json::Object metadata;
    for (const auto& [key, value] : options.metadata) metadata[key] = value;
    body["metadata"] = std::move(metadata);
  }
  json::Array tools;
  for (const v1::Json& tool : options.server_tools) tools.push_back(v1::detail::to_value(tool));
  if (!tools.empty()) body["tools"] = std::move(tools);
  add_members(body, options.more);
  return body;
}

}  // namespace

json::Object agent_body(const v1::AgentSpec& agent) {
  v1::RunOptions as_run;
  as_run.name = agent.name;
  as_run.system_prompt = agent.system_prompt;
  as_run.model = agent.model;
  as_run.server_tools = agent.server_tools;
  as_run.reasoning_level = agent.reasoning_level;
  as_run.loop_detection = agent.loop_detection;
  as_run.tool_budgets = agent.tool_budgets;
  as_run.output = agent.output;
  as_run.metadata = agent.metadata;
  as_run.max_tool_turns = agent.max_tool_turns;
  json::Object body = body_of(as_run, {});
  set_text(body, "description", agent.description);
  add_members(body, agent.more);
  return body;
}

bool needs_inherited_prompt(const v1::RunOptions& options) {
  return options.system_prompt.empty() && has_rules(options.tools, options.toolkits);
}

namespace {

bool is_known(const json::Value& tool) {
  const json::Object* members = tool.if_object();
  const json::Value* kind = members ? members->if_contains("kind") : nullptr;
  return !kind || !kind->is_string() || !tool_members(json::view(kind->get_string())).empty();
}

}  // namespace

Result<RunRequest> read_request(const v1::RunOptions& options, RequestRules rules,
                                const std::string& inherited_prompt) {
  if (options.fork_of && !options.messages.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "a fork continues with the existing messages: give a prompt")
        .pointer("/messages");
  }
  if (options.fork_of && !options.agent.empty()) {
    return Error(ErrorCode::invalid_argument, "a fork keeps the agent of its original run")
        .pointer("/agentId");
  }
  RunRequest request{.body = body_of(options, inherited_prompt), .spec = {}};
  json::Object as_run = request.body;
  const bool may_be_silent = options.fork_of || rules.says == Says::anything;
  bool says_nothing = !as_run.if_contains("prompt") && !as_run.if_contains("messages");
  if (says_nothing && may_be_silent) as_run["prompt"] = "";
  json::Value* tools = as_run.if_contains("tools");
  if (tools && tools->is_array() && rules.kinds == ToolKinds::any) {
    json::Array known;
    for (json::Value& tool : tools->get_array()) {
      if (is_known(tool)) known.push_back(std::move(tool));
    }
    *tools = std::move(known);
  }
  ERRAND_TRY(request.spec, parse_spec(json::Value(std::move(as_run))));
  return request;
}

void add_refs(RunRequest& request, std::vector<ToolRef> refs) {
  if (refs.empty()) return;
  json::Value& sent = request.body["tools"];
  if (!sent.is_array()) sent = json::Array();
  for (json::Value& ref : to_json(ToolSet{.refs = refs})) {
    sent.get_array().push_back(std::move(ref));
  }
  std::vector<ToolRef> all = request.spec.tools->refs;
  std::move(refs.begin(), refs.end(), std::back_inserter(all));
  request.spec.tools = share_with_text(std::move(all));
}

Result<RunId> forked_run(const v1::ForkPoint& point) {
  if (auto run = RunId::parse(point.run_id)) return *run;
  return Error(ErrorCode::invalid_argument, "the run to fork has no id of a run")
      .pointer("/fork_of/run_id");
}

ForkParams fork_params(RunRequest request, const v1::ForkPoint& point) {
  ToolSetPtr tools = request.spec.tools;
  ForkParams params{.from_seq = point.seq,
                    .overrides = take_overrides(request.body, std::move(request.spec))};
  if (!tools->refs.empty()) params.overrides.tools = std::move(tools);
  return params;
}

}  // namespace errand::sdk
