#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "host/host.hpp"
#include "run/principal.hpp"
#include "sdk/embedded_events.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// The runs of a host in this process: the verbs of its engine, for the workspace "default". Lives
// on the host's home.
class EmbeddedApi final : public RunApi {
 public:
  // `host` outlives this.
  explicit EmbeddedApi(host::Host& host);

  Task<Result<RunId>> create(Spec spec) override;
  Task<Result<RunId>> fork(RunId run, ForkParams params) override;
  Task<Result<std::unique_ptr<EventSource>>> open_stream(RunId run, EventSeq after) override;
  Task<Result<void>> answer(RunId run, ToolUseId call, ToolAnswer answer) override;
  Task<Result<RunStatus>> cancel(RunId run, seconds timeout) override;
  Task<Result<RunInfo>> get(RunId run) override;
  Task<Result<RunPage>> list(RunQuery query) override;
  Task<Result<std::vector<JournalEntry>>> journal(RunId run) override;
  Task<Result<engine::ModelList>> models(ModelQuery query) override;
  Task<Result<SessionId>> create_session(engine::SessionParams params) override;
  Task<Result<RunId>> say(SessionId session, engine::SessionMessage message) override;
  Task<Result<SessionInfo>> get_session(SessionId session) override;
  Task<Result<SessionPage>> list_sessions(SessionQuery query) override;
  Task<Result<std::vector<SaidMessage>>> history(SessionId session, HistoryQuery query) override;

  const EventCounters& counters() const { return counters_; }

 private:
  engine::Engine& engine_;
  const Principal who_;
  EventCounters counters_;
};

}  // namespace errand::sdk
