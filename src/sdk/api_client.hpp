#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "net/client/http_client.hpp"
#include "run/ids.hpp"

namespace errand::sdk {

struct ApiRequest {
  net::Method method = net::Method::get;
  std::string path;  // below the workspace, such as "/models"
  std::string body = {};
  seconds timeout{30};
};

// The agent-runs API, wherever it lives. Lives on one home.
// Answers that are not 2xx are an Error with the API's message and hint.
// unavailable with the reason kUnreachable: no answer at all.
class ApiClient {
 public:
  static constexpr std::string_view kUnreachable = "unreachable";

  virtual ~ApiClient() = default;

  // The body of the answer; null if it has none.
  virtual Task<Result<json::Value>> send(ApiRequest request) = 0;

  // The events of a run after a seq. A stream over a network fails once it has been silent for
  // `silence_max`.
  virtual Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string run,
                                                                       EventSeq after,
                                                                       seconds silence_max) = 0;
};

// What an answer with this status and body means. Statuses from 500 on are unavailable, because
// trying again may help.
Error error_of_answer(int status, std::string_view body);

// True if the same request may be answered better a little later.
bool is_worth_retrying(const Error& error);

// What an answer means: its body, null if it has none, or the error it tells. `api` names who
// answered.
Result<json::Value> value_of_answer(int status, std::string_view body, std::string_view api);

// The path of a run below the workspace, such as "/agent-runs/run_1/cancel".
std::string run_path(std::string_view run, std::string_view rest);

}  // namespace errand::sdk
