#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/records/agents.hpp"
#include "host/host.hpp"
#include "run/principal.hpp"
#include "sdk/embedded/embedded_events.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// A client cannot tell a bug, or a cut-off request, from a server that is in trouble.
Error as_seen(const Error& error);

template <class T>
Result<T> as_seen(Result<T> result) {
  if (!result) return as_seen(result.error());
  return result;
}

// What a caller may ask for; everything else is checked by the engine.
Result<void> check(const Sparse<OutputSchema>& output);

// Of a request for what `asked` says.
Idempotency idempotency_of(std::string key, const json::Value& asked);

WorkspaceSlug default_workspace();

// The runs of a host in this process: the verbs of its engine, for one workspace. Lives on the
// host's home. In embedded_api.cpp, embedded_sessions.cpp and embedded_agents.cpp.
class EmbeddedApi final : public RunApi {
 public:
  // `host` outlives this.
  explicit EmbeddedApi(host::Host& host, WorkspaceSlug workspace = default_workspace());

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
  // An agent as it is to be stored.
  Task<Result<engine::AgentParams>> read_agent(json::Object agent, std::string name);

  engine::Engine& engine_;
  const Principal who_;
};

}  // namespace errand::sdk
