// The models that runs can use.
#include "engine/models/model_list.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"

namespace errand::server {
Api::Answer Api::list_models(Principal, net::Request request) {
  ERRAND_CO_TRY(auto asked, choice_param(request, query::kCheck));
  auto check = asked == 0 ? engine::ModelCheck::made : engine::ModelCheck::left_out;
  std::string named = text_param(request, query::kNamedModel).value_or("");
  ERRAND_CO_TRY(auto list,
                co_await engine::list_models(&engine_.catalog(), check, std::move(named)));
  co_return json_response(200, json::write(to_json(list)));
}

}  // namespace errand::server
