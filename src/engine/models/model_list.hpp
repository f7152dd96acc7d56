#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/models/catalog.hpp"
#include "json/value.hpp"
#include "llm/model.hpp"
#include "run/usage.hpp"

namespace errand::engine {

// A model as callers see it.
struct ListedModel {
  ModelInfo info;
  std::string label;
  std::optional<std::int64_t> context_window_tokens;
  std::optional<Pricing> pricing;
  std::optional<llm::Reachability> reachability;  // if that was asked for
};

struct ModelList {
  std::vector<ListedModel> models;  // the preferred ones first
  std::string default_id;
};

enum class ModelCheck { left_out, made };

// The models of a catalog, which outlives the task. A check asks every vendor, kChecksAtOnce of
// them at a time; the others wait for them.
constexpr std::size_t kChecksAtOnce = 16;
// `named` is the name of a model that is to be in the list although it may only be named; empty:
// none. invalid_argument with the reason "invalid_model": no run can use it.
Task<Result<ModelList>> list_models(Catalog* catalog, ModelCheck check, std::string named = {});

// To the JSON that clients get, and back; members that are missing there are empty.
json::Object to_json(const ModelList& list);
ModelList parse_model_list(const json::Value& value);

// The protocol's words: "reachable", "wrong_key", "no_such_model", "unreachable".
std::string_view to_string(llm::Reachability::State state);

}  // namespace errand::engine
