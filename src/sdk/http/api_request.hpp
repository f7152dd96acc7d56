#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "net/url.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

using net::Method;
using net::Query;

// A request of the HTTP API, for those who show its answer as it is.
struct ApiRequest {
  Method method = Method::get;
  std::string path;  // below the workspace, such as "/models"
  Query query = {};
  std::string body = {};
  std::string key = {};  // of idempotency
  // Of a record that the request changes: its latest version must be this one. Nothing: any.
  std::optional<std::int64_t> version = {};
  seconds timeout = kAnswerMax;
};

// "/agent-runs?limit=1": the path of a request with its query.
std::string target_of(const ApiRequest& request);

// The path of a run below the workspace, such as "/agent-runs/run_1/cancel".
std::string run_path(std::string_view run, std::string_view rest);

// Answers requests of the HTTP API: a server, or this process.
class ApiSender {
 public:
  static constexpr int kPageMax = 1000;  // of journals and events

  virtual ~ApiSender() = default;
  // The body of the answer, null if it has none.
  virtual Task<Result<json::Value>> send(ApiRequest request) = 0;
};

// The items of a list of a run, all pages of it: "events", or "entries" of its "journal". `sender`
// outlives the task.
Task<Result<std::vector<json::Value>>> read_pages(ApiSender* sender, std::string run,
                                                  std::string list, std::string key);

}  // namespace errand::sdk
