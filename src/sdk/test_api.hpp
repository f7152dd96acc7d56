#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// An API that can do nothing; tests override what they need.
class NoApi : public RunApi {
 public:
  Task<Result<RunId>> create(Spec, std::string, BodyPtr) override { co_return no(); }
  Task<Result<RunId>> fork(RunId, ForkParams, std::string, BodyPtr) override { co_return no(); }
  Task<Result<std::unique_ptr<EventSource>>> open_stream(RunId, EventSeq) override {
    co_return no();
  }
  Task<Result<void>> answer(RunId, ToolUseId, ToolAnswer, std::string) override { co_return no(); }
  Task<Result<RunStatus>> cancel(RunId, seconds) override { co_return no(); }
  Task<Result<RunInfo>> get(RunId) override { co_return no(); }
  Task<Result<RunPage>> list(RunQuery) override { co_return no(); }
  Task<Result<std::vector<JournalEntry>>> journal(RunId) override { co_return no(); }
  Task<Result<engine::ModelList>> models(ModelQuery) override { co_return no(); }
  Task<Result<std::vector<OpenCall>>> pending_calls(CallQuery) override { co_return no(); }
  Task<Result<Claim>> claim(ToolUseId, milliseconds, std::string) override { co_return no(); }
  Task<Result<void>> extend(ToolUseId, std::string, milliseconds) override { co_return no(); }
  Task<Result<void>> report_progress(ToolUseId, ProgressReport) override { co_return no(); }
  Task<Result<SessionId>> create_session(engine::SessionParams, std::string, BodyPtr) override {
    co_return no();
  }
  Task<Result<RunId>> say(SessionId, engine::SessionMessage, std::string, BodyPtr) override {
    co_return no();
  }
  Task<Result<SessionInfo>> get_session(SessionId) override { co_return no(); }
  Task<Result<SessionPage>> list_sessions(SessionQuery) override { co_return no(); }
  Task<Result<std::vector<SaidMessage>>> history(SessionId, HistoryQuery) override {
    co_return no();
  }
  Task<Result<void>> end_session(SessionId) override { co_return no(); }
  Task<Result<json::Object>> create_agent(json::Object, std::string) override { co_return no(); }
  Task<Result<json::Object>> put_agent(std::string, json::Object,
                                       std::optional<std::int64_t>) override {
    co_return no();
  }
  Task<Result<json::Object>> get_agent(std::string, std::optional<std::int64_t>) override {
    co_return no();
  }
  Task<Result<AgentPage>> list_agents(std::size_t, std::string) override { co_return no(); }
  Task<Result<std::vector<json::Object>>> agent_versions(std::string) override { co_return no(); }
  Task<Result<void>> delete_agent(std::string, std::optional<std::int64_t>) override {
    co_return no();
  }

 private:
  static Error no() { return {ErrorCode::unsupported, "not here"}; }
};

}  // namespace errand::sdk
