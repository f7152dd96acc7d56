#include "engine/models/model_list.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <memory>
#include <utility>

#include "json/fields.hpp"
#include "json/members.hpp"

namespace errand::engine {
namespace {

constexpr std::array<std::string_view, 4> kStates = {"reachable", "wrong_key", "no_such_model",
                                                     "unreachable"};

json::Value pricing_json(const std::optional<Pricing>& pricing) {
  if (!pricing) return nullptr;
  auto price = [](const std::optional<double>& usd) {
    return usd ? json::Value(*usd) : json::Value();
  };
  return json::Object{{"inputPer1MUsd", price(pricing->input_per_1m_usd)},
                      {"outputPer1MUsd", price(pricing->output_per_1m_usd)},
                      {"cacheReadPer1MUsd", price(pricing->cache_read_per_1m_usd)}};
}

std::optional<Pricing> parse_pricing(json::Fields& in) {
  const json::Value* value = in.optional_any("pricing");
  if (!value) return {};
  json::Fields prices(*value, "");
  return Pricing{.input_per_1m_usd = prices.optional_number("inputPer1MUsd"),
                 .output_per_1m_usd = prices.optional_number("outputPer1MUsd"),
                 .cache_read_per_1m_usd = prices.optional_number("cacheReadPer1MUsd")};
}

json::Object model_json(const ListedModel& model) {
  json::Object out{{"id", model.info.id},
                   {"label", model.label},
                   {"provider", model.info.provider},
                   {"vendorModelId", model.info.vendor_model_id},
                   {"source", "workspace_provider"}};
  out["contextWindowTokens"] =
      model.context_window_tokens ? json::Value(*model.context_window_tokens) : json::Value();
  out["pricing"] = pricing_json(model.pricing);
  if (!model.reachability) return out;
  out["status"] = to_string(model.reachability->state);
  const std::string& message = model.reachability->message;
  out["statusMessage"] = message.empty() ? json::Value() : json::Value(message);
  return out;
}

// An unknown word is reported as a problem.
llm::Reachability::State parse_state(std::string_view word) {
  const auto* found = std::find(kStates.begin(), kStates.end(), word);
  if (found == kStates.end()) return llm::Reachability::State::unreachable;
  return static_cast<llm::Reachability::State>(found - kStates.begin());
}

ListedModel parse_model(const json::Value& value) {
  json::Fields in(value, "");
  ListedModel model{
      .info = parse_model_info(value),
      .label = in.optional_text("label").value_or(""),
      .context_window_tokens = in.optional_integer("contextWindowTokens", 0, INT64_MAX),
      .pricing = parse_pricing(in),
      .reachability = {}};
  if (auto status = in.optional_text("status")) {
    model.reachability = {.state = parse_state(*status),
                          .message = in.optional_text("statusMessage").value_or("")};
  }
  return model;
}

struct Checked {
  std::shared_ptr<llm::Model> model;
  llm::Reachability reachability = {};
};

// Checks `count` models from `first` on, all at once. The models must not move until it returns.
Task<void> check_range(Checked* first, std::size_t count) {
  using namespace asio::experimental::awaitable_operators;
  if (count == 0) co_return;
  if (count == 1) {
    first->reachability = co_await first->model->check();
    co_return;
  }
  std::size_t half = count / 2;
  co_await (check_range(first, half) && check_range(first + half, count - half));
}

}  // namespace

Task<Result<ModelList>> list_models(Catalog* catalog, ModelCheck check, std::string named) {
  co_await catalog->refresh();
  std::vector<const CatalogModel*> all = catalog->models();
  if (!named.empty()) {
    auto found = catalog->resolve(named);
    if (!found) co_return Error(found.error()).pointer("");
    if (std::find(all.begin(), all.end(), *found) == all.end()) all.push_back(*found);
  }
  ModelList list{.models = {}, .default_id = catalog->default_id()};
  std::vector<Checked> checked;
  for (const CatalogModel* model : all) {
    list.models.push_back({.info = model->info,
                           .label = model->label,
                           .context_window_tokens = model->context_window_tokens,
                           .pricing = model->pricing,
                           .reachability = {}});
    checked.push_back({.model = model->model});
  }
  if (check == ModelCheck::left_out) co_return list;
  for (std::size_t at = 0; at < checked.size(); at += kChecksAtOnce) {
    co_await check_range(&checked[at], std::min(kChecksAtOnce, checked.size() - at));
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    list.models[i].reachability = std::move(checked[i].reachability);
  }
  co_return list;
}

std::string_view to_string(llm::Reachability::State state) {
  return kStates[static_cast<std::size_t>(state)];
}

json::Object to_json(const ModelList& list) {
  json::Array models;
  for (const ListedModel& model : list.models) models.push_back(model_json(model));
  return {{"models", std::move(models)}, {"defaultModelId", list.default_id}};
}

ModelList parse_model_list(const json::Value& value) {
  const json::Object* members = value.if_object();
  ModelList list{.models = {}, .default_id = std::string(json::text_at(members, "defaultModelId"))};
  const json::Array* models = json::array_at(members, "models");
  for (std::size_t i = 0; models && i < models->size(); ++i) {
    list.models.push_back(parse_model((*models)[i]));
  }
  return list;
}

}  // namespace errand::engine
