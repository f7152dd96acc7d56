// The models that runs can use.
#include <utility>

#include "engine/model_list.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

json::Value pricing_json(const std::optional<Pricing>& pricing) {
  if (!pricing) return nullptr;
  auto price = [](const std::optional<double>& usd) {
    return usd ? json::Value(*usd) : json::Value();
  };
  return json::Object{{"inputPer1MUsd", price(pricing->input_per_1m_usd)},
                      {"outputPer1MUsd", price(pricing->output_per_1m_usd)},
                      {"cacheReadPer1MUsd", price(pricing->cache_read_per_1m_usd)}};
}

json::Object model_json(const engine::ListedModel& model) {
  json::Object out{{"id", model.info.id},
                   {"label", model.label},
                   {"provider", model.info.provider},
                   {"vendorModelId", model.info.vendor_model_id},
                   {"source", "workspace_provider"}};
  out["contextWindowTokens"] =
      model.context_window_tokens ? json::Value(*model.context_window_tokens) : json::Value();
  out["pricing"] = pricing_json(model.pricing);
  if (!model.reachability) return out;
  out["status"] = engine::to_string(model.reachability->state);
  const std::string& message = model.reachability->message;
  out["statusMessage"] = message.empty() ? json::Value() : json::Value(message);
  return out;
}

Result<engine::ModelCheck> wanted_check(const net::Request& request) {
  std::string asked = request.query_param("check").value_or("false");
  if (asked == "true") return engine::ModelCheck::made;
  if (asked == "false") return engine::ModelCheck::left_out;
  return Error(ErrorCode::invalid_argument, "check is true or false").pointer("/check");
}

}  // namespace

Api::Answer Api::list_models(Principal, net::Request request) {
  ERRAND_CO_TRY(auto check, wanted_check(request));
  engine::ModelList list = co_await engine::list_models(&engine_.catalog(), check);
  json::Array models;
  for (const engine::ListedModel& model : list.models) models.push_back(model_json(model));
  json::Object body{{"models", std::move(models)}, {"defaultModelId", std::move(list.default_id)}};
  co_return json_response(200, json::write(body));
}

}  // namespace errand::server
