// The models that runs can use.
#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <utility>

#include "json/write.hpp"
#include "server/api.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

// As many vendors are asked at once; the others wait for them.
constexpr std::size_t kChecksAtOnce = 16;

json::Value pricing_json(const std::optional<Pricing>& pricing) {
  if (!pricing) return nullptr;
  auto price = [](const std::optional<double>& usd) {
    return usd ? json::Value(*usd) : json::Value();
  };
  return json::Object{{"inputPer1MUsd", price(pricing->input_per_1m_usd)},
                      {"outputPer1MUsd", price(pricing->output_per_1m_usd)},
                      {"cacheReadPer1MUsd", price(pricing->cache_read_per_1m_usd)}};
}

json::Object model_json(const engine::CatalogModel& model) {
  json::Object out{{"id", model.info.id},
                   {"label", model.label},
                   {"provider", model.info.provider},
                   {"vendorModelId", model.info.vendor_model_id},
                   {"source", "workspace_provider"}};
  out["contextWindowTokens"] =
      model.context_window_tokens ? json::Value(*model.context_window_tokens) : json::Value();
  out["pricing"] = pricing_json(model.pricing);
  return out;
}

std::string_view state_name(llm::Reachability::State state) {
  switch (state) {
    case llm::Reachability::State::reachable: return "reachable";
    case llm::Reachability::State::wrong_key: return "wrong_key";
    case llm::Reachability::State::no_such_model: return "no_such_model";
    case llm::Reachability::State::unreachable: return "unreachable";
  }
  return "unreachable";
}

struct Checked {
  std::shared_ptr<llm::Model> model;
  llm::Reachability reachability = {};
};

// Checks `count` models from `first` on, all at once. They stay where they are until it returns.
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

Task<std::vector<Checked>> check_all(std::vector<Checked> models) {
  for (std::size_t at = 0; at < models.size(); at += kChecksAtOnce) {
    co_await check_range(&models[at], std::min(kChecksAtOnce, models.size() - at));
  }
  co_return models;
}

Result<bool> wants_check(const net::Request& request) {
  std::string asked = request.query_param("check").value_or("false");
  if (asked == "true" || asked == "false") return asked == "true";
  return Error(ErrorCode::invalid_argument, "check is true or false").pointer("/check");
}

}  // namespace

Api::Answer Api::list_models(Principal, net::Request request) {
  ERRAND_CO_TRY(bool is_checked, wants_check(request));
  engine::Catalog& catalog = engine_.catalog();
  co_await catalog.refresh();
  json::Array models;
  std::vector<Checked> checked;
  for (const engine::CatalogModel* model : catalog.models()) {
    models.push_back(model_json(*model));
    checked.push_back({.model = model->model});
  }
  std::string default_id = catalog.default_id();
  if (is_checked) {
    checked = co_await check_all(std::move(checked));
    for (std::size_t i = 0; i < checked.size(); ++i) {
      const llm::Reachability& found = checked[i].reachability;
      json::Object& model = models[i].as_object();
      model["status"] = state_name(found.state);
      model["statusMessage"] = found.message.empty() ? json::Value() : json::Value(found.message);
    }
  }
  json::Object body{{"models", std::move(models)}, {"defaultModelId", std::move(default_id)}};
  co_return json_response(200, json::write(body));
}

}  // namespace errand::server
