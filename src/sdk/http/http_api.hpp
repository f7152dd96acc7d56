#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/client/http_client.hpp"
#include "sdk/credentials.hpp"
#include "sdk/http/api_request.hpp"
#include "sdk/run_api.hpp"
#include "sdk/teller.hpp"

namespace errand::sdk {

// The runs of a server. The only place here that knows paths, bodies and statuses. In http_api.cpp,
// http_calls.cpp (calls that wait for a client), http_sessions.cpp and http_agents.cpp.
class HttpApi final : public RunApi, public ApiSender {
 public:
  static constexpr seconds kSilenceMax{45};  // of a stream; a server says something every 15 s

  // Proxies and certificates are those of the environment of this process.
  explicit HttpApi(Credentials server);
  HttpApi(Credentials server, net::ClientOptions options);
  // `tell` hears the warnings of the server about what is sent.
  HttpApi(Credentials server, Teller tell);

  Task<Result<json::Value>> send(ApiRequest request) override;

  Task<Result<RunId>> create(Spec spec, std::string key, BodyPtr body) override;
  Task<Result<RunId>> fork(RunId run, ForkParams params, std::string key, BodyPtr body) override;
  Task<Result<std::unique_ptr<EventSource>>> open_stream(RunId run, EventSeq after) override;
  Task<Result<void>> answer(RunId run, ToolUseId call, ToolAnswer answer,
                            std::string claim) override;
  Task<Result<RunStatus>> cancel(RunId run, seconds timeout) override;
  Task<Result<RunInfo>> get(RunId run) override;
  Task<Result<RunPage>> list(RunQuery query) override;
  Task<Result<std::vector<JournalEntry>>> journal(RunId run) override;
  Task<Result<engine::ModelList>> models(ModelQuery query) override;
  Task<Result<std::vector<OpenCall>>> pending_calls(CallQuery query) override;
  Task<Result<Claim>> claim(ToolUseId call, milliseconds ttl, std::string key) override;
  Task<Result<void>> extend(ToolUseId call, std::string claim, milliseconds ttl) override;
  Task<Result<void>> report_progress(ToolUseId call, ProgressReport report) override;
  Task<Result<SessionId>> create_session(engine::SessionParams params, std::string key,
                                         BodyPtr body) override;
  Task<Result<RunId>> say(SessionId session, engine::SessionMessage message, std::string key,
                          BodyPtr body) override;
  Task<Result<SessionInfo>> get_session(SessionId session) override;
  Task<Result<SessionPage>> list_sessions(SessionQuery query) override;
  Task<Result<std::vector<SaidMessage>>> history(SessionId session, HistoryQuery query) override;
  Task<Result<void>> end_session(SessionId session) override;
  Task<Result<json::Object>> create_agent(json::Object agent, std::string key) override;
  Task<Result<json::Object>> put_agent(std::string name, json::Object agent,
                                       std::optional<std::int64_t> version) override;
  Task<Result<json::Object>> get_agent(std::string name_or_id,
                                       std::optional<std::int64_t> version) override;
  Task<Result<AgentPage>> list_agents(std::size_t limit, std::string cursor) override;
  Task<Result<std::vector<json::Object>>> agent_versions(std::string name_or_id) override;
  Task<Result<void>> delete_agent(std::string name_or_id,
                                  std::optional<std::int64_t> version) override;

 private:
  net::ClientRequest make(const ApiRequest& request) const;
  void tell_warnings(const json::Value& answer) const;
  Task<Result<json::Value>> post(std::string path, std::string body, std::string key = {});

  const Credentials server_;
  const Teller tell_;  // may be empty
  net::HttpClient http_;
};

}  // namespace errand::sdk
