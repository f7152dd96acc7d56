#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/credentials.hpp"
#include "json/value.hpp"
#include "net/http_client.hpp"
#include "run/ids.hpp"

namespace errand::cli {

struct ApiRequest {
  net::Method method = net::Method::get;
  std::string path;  // below the workspace, such as "/models"
  std::string body = {};
  seconds timeout{30};
};

// The one place that speaks to a server: builds URLs, adds the key, and turns answers that are not
// 2xx into an Error with the server's message and hint. Lives on one home.
// unavailable with the reason kUnreachable: no answer at all.
class ApiClient final {
 public:
  static constexpr std::string_view kUnreachable = "unreachable";

  ApiClient(Credentials server, net::ClientOptions options);

  // The body of the answer; null if it has none.
  Task<Result<json::Value>> send(ApiRequest request);

  // The events of a run after a seq. The stream fails once it has been silent for `silence_max`.
  Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string run, EventSeq after,
                                                               seconds silence_max);

 private:
  net::ClientRequest make(const ApiRequest& request) const;

  const Credentials server_;
  net::HttpClient http_;
};

// What an answer with this status and body means. Statuses from 500 on are unavailable, because
// trying again may help.
Error error_of_answer(int status, std::string_view body);

// True if the same request may be answered better a little later.
bool is_worth_retrying(const Error& error);

// The path of a run below the workspace, such as "/agent-runs/run_1/cancel".
std::string run_path(std::string_view run, std::string_view rest);

}  // namespace errand::cli
