#include "sdk/http/api_request.hpp"

#include <utility>

#include "base/text.hpp"
#include "sdk/http/http_answers.hpp"

namespace errand::sdk {

std::string target_of(const ApiRequest& request) {
  return net::with_query(request.path, request.query);
}

std::string run_path(std::string_view run, std::string_view rest) {
  return cat("/agent-runs/", percent_encode(run), rest);
}

Task<Result<std::vector<json::Value>>> read_pages(ApiSender* sender, std::string run,
                                                  std::string list, std::string key) {
  std::vector<json::Value> all;
  std::string after = "0";
  while (!after.empty()) {
    ApiRequest request{.path = run_path(run, cat("/", list)),
                       .query = {{"limit", std::to_string(ApiSender::kPageMax)}, {"after", after}}};
    ERRAND_CO_TRY(auto page, co_await sender->send(std::move(request)));
    after = take_page(page, key, all);
  }
  co_return all;
}

}  // namespace errand::sdk
