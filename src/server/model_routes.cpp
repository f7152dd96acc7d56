// The models that runs can use.
#include "engine/models/model_list.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

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
  co_return json_response(200, json::write(to_json(list)));
}

}  // namespace errand::server
