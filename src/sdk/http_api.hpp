#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "net/client/http_client.hpp"
#include "sdk/credentials.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

struct ApiRequest {
  net::Method method = net::Method::get;
  std::string path;  // below the workspace, such as "/models"
  std::string body = {};
  std::string key = {};  // of idempotency
  seconds timeout = kAnswerMax;
};

// The runs of a server. The only place here that knows paths, bodies and statuses. In http_api.cpp,
// http_calls.cpp (calls that wait for a client) and http_sessions.cpp.
class HttpApi final : public RunApi {
 public:
  static constexpr seconds kSilenceMax{45};  // of a stream; a server says something every 15 s
  static constexpr int kPageMax = 1000;      // of journals and events

  HttpApi(Credentials server, net::ClientOptions options);

  // The body of the answer to any request, null if it has none; for those who show it as it is.
  Task<Result<json::Value>> send(ApiRequest request);
  // The items of a list of a run, all pages of it: "events", or "entries" of its "journal".
  Task<Result<std::vector<json::Value>>> read_pages(std::string run, std::string list,
                                                    std::string key);

  Task<Result<RunId>> create(Spec spec, std::string key) override;
  Task<Result<RunId>> fork(RunId run, ForkParams params, std::string key) override;
  Task<Result<std::unique_ptr<EventSource>>> open_stream(RunId run, EventSeq after) override;
  Task<Result<void>> answer(RunId run, ToolUseId call, ToolAnswer answer,
                            std::string claim) override;
  Task<Result<RunStatus>> cancel(RunId run, seconds timeout) override;
  Task<Result<RunInfo>> get(RunId run) override;
  Task<Result<RunPage>> list(RunQuery query) override;
  Task<Result<std::vector<JournalEntry>>> journal(RunId run) override;
  Task<Result<engine::ModelList>> models(ModelQuery query) override;
  Task<Result<std::vector<OpenCall>>> pending_calls(CallQuery query) override;
  Task<Result<std::string>> claim(ToolUseId call, milliseconds ttl) override;
  Task<Result<void>> extend(ToolUseId call, std::string claim, milliseconds ttl) override;
  Task<Result<void>> report_progress(ToolUseId call, ProgressReport report) override;
  Task<Result<SessionId>> create_session(engine::SessionParams params, std::string key) override;
  Task<Result<RunId>> say(SessionId session, engine::SessionMessage message,
                          std::string key) override;
  Task<Result<SessionInfo>> get_session(SessionId session) override;
  Task<Result<SessionPage>> list_sessions(SessionQuery query) override;
  Task<Result<std::vector<SaidMessage>>> history(SessionId session, HistoryQuery query) override;
  Task<Result<void>> end_session(SessionId session) override;

 private:
  net::ClientRequest make(const ApiRequest& request) const;
  Task<Result<json::Value>> post(std::string path, std::string body, std::string key = {});

  const Credentials server_;
  net::HttpClient http_;
};

// The path of a run below the workspace, such as "/agent-runs/run_1/cancel".
std::string run_path(std::string_view run, std::string_view rest);

}  // namespace errand::sdk
