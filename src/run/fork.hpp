#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/sparse.hpp"
#include "run/spec.hpp"

namespace errand {

// What a run has other than the run, or the session, that it goes on with; what is absent stays as
// it is there.
struct SpecOverrides {
  std::optional<std::string> name;
  std::optional<std::string> model_id;
  std::optional<std::string> fallback_model_id;
  std::optional<std::string> system_prompt;
  std::optional<std::string> prompt;  // what the user says next
  ToolSetPtr tools = nullptr;         // null: absent
  std::optional<Metadata> metadata;
  Budgets budgets;  // each of them by itself
  std::optional<LoopDetection> loop_detection;
  Sparse<ToolBudgets> tool_budgets;
  std::optional<int> reasoning_level;
  Sparse<OutputSchema> output_schema;
};

// What of a spec was given in the body that it was read from.
SpecOverrides take_overrides(const json::Object& body, Spec spec);

struct ForkParams {
  std::optional<EventSeq> from_seq;  // absent: the end of the log
  SpecOverrides overrides;
};

// The body of POST .../agent-runs/{id}/fork. invalid_argument: with the pointer.
Result<ForkParams> parse_fork(const json::Value& body);
json::Object to_json(const ForkParams& params);

// Everything but the prompt, whose place depends on where the run is forked.
Spec override_spec(Spec spec, const SpecOverrides& overrides);

}  // namespace errand
