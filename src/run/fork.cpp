#include "run/fork.hpp"

#include <cstdint>

#include "json/fields.hpp"
#include "run/unknown_members.hpp"

namespace errand {

SpecOverrides take_overrides(const json::Object& body, Spec spec) {
  SpecOverrides overrides;
  auto is_given = [&body](std::string_view key) {
    const json::Value* value = body.if_contains(key);
    return value && !value->is_null();
  };
  if (is_given("name")) overrides.name = std::move(spec.name);
  if (is_given("modelId")) overrides.model_id = std::move(spec.model_id);
  if (is_given("fallbackModelId")) overrides.fallback_model_id = std::move(spec.fallback_model_id);
  if (is_given("systemPrompt")) overrides.system_prompt = std::move(spec.system_prompt);
  if (is_given("prompt")) overrides.prompt = std::move(spec.prompt);
  if (is_given("tools")) overrides.tools = std::move(spec.tools);
  if (is_given("metadata")) overrides.metadata = std::move(spec.metadata);
  overrides.reasoning_level = spec.reasoning_level;
  overrides.output_schema = std::move(spec.output_schema);
  overrides.budgets = spec.budgets;
  overrides.loop_detection = spec.loop_detection;
  overrides.tool_budgets = std::move(spec.tool_budgets);
  return overrides;
}

Result<ForkParams> parse_fork(const json::Value& body) {
  json::Fields in(body, "");
  ForkParams params{.from_seq = in.optional_integer("fromSeq", 0, INT64_MAX)};
  if (in.optional_any("messages")) {
    in.fail("messages", "a fork continues with the existing messages: give a \"prompt\"");
  }
  if (in.optional_any("agentId")) {
    in.fail("agentId", "a fork keeps the agent of its original run");
  }
  for (std::string_view key : run_members()) {
    if (is_known(key, fork_members()) || !in.optional_any(key)) continue;
    in.fail(key, "a fork keeps this member of its original run");
  }
  ERRAND_CHECK(in.finish());

  // All other members are those of a run, and are parsed as such; a prompt may be missing here.
  json::Object as_run = body.get_object();
  if (!in.optional_any("prompt")) as_run["prompt"] = "";
  as_run.erase("fromSeq");
  ERRAND_CHECK(refuse_unknown_members(json::Value(as_run), run_members()));
  ERRAND_TRY(Spec spec, parse_spec(as_run));
  params.overrides = take_overrides(body.get_object(), std::move(spec));
  return params;
}

json::Object to_json(const ForkParams& params) {
  const SpecOverrides& overrides = params.overrides;
  json::Object out;
  if (params.from_seq) out["fromSeq"] = *params.from_seq;
  if (overrides.name) out["name"] = *overrides.name;
  if (overrides.model_id) out["modelId"] = *overrides.model_id;
  if (overrides.fallback_model_id) out["fallbackModelId"] = *overrides.fallback_model_id;
  if (overrides.system_prompt) out["systemPrompt"] = *overrides.system_prompt;
  if (overrides.prompt) out["prompt"] = *overrides.prompt;
  if (overrides.tools) out["tools"] = to_json(*overrides.tools);
  if (overrides.metadata) out["metadata"] = metadata_json(*overrides.metadata);
  if (json::Object budgets = to_json(overrides.budgets); !budgets.empty()) {
    out["budgets"] = std::move(budgets);
  }
  if (overrides.loop_detection) out["loopDetection"] = to_json(*overrides.loop_detection);
  if (overrides.tool_budgets) out["toolBudgets"] = to_json(*overrides.tool_budgets);
  if (overrides.reasoning_level) out["reasoningLevel"] = *overrides.reasoning_level;
  if (overrides.output_schema) out["outputSchema"] = to_json(*overrides.output_schema);
  return out;
}

Spec override_spec(Spec spec, const SpecOverrides& overrides) {
  if (overrides.name) spec.name = *overrides.name;
  if (overrides.model_id) spec.model_id = *overrides.model_id;
  if (overrides.fallback_model_id) spec.fallback_model_id = *overrides.fallback_model_id;
  if (overrides.system_prompt) spec.system_prompt = *overrides.system_prompt;
  if (overrides.tools) spec.tools = overrides.tools;
  if (overrides.metadata) spec.metadata = *overrides.metadata;
  if (overrides.reasoning_level) spec.reasoning_level = overrides.reasoning_level;
  if (overrides.output_schema) spec.output_schema = overrides.output_schema;
  const Budgets& budgets = overrides.budgets;
  if (budgets.local_tool_timeout) spec.budgets.local_tool_timeout = budgets.local_tool_timeout;
  if (budgets.on_local_tool_timeout) {
    spec.budgets.on_local_tool_timeout = budgets.on_local_tool_timeout;
  }
  if (budgets.max_tool_turns) spec.budgets.max_tool_turns = budgets.max_tool_turns;
  if (budgets.on_turns_exceeded) spec.budgets.on_turns_exceeded = budgets.on_turns_exceeded;
  if (overrides.loop_detection) spec.loop_detection = overrides.loop_detection;
  if (overrides.tool_budgets) spec.tool_budgets = overrides.tool_budgets;
  return spec;
}

}  // namespace errand
