#pragma once

#include <string>

#include "a2a/server/task_backend.hpp"
#include "engine/engine.hpp"
#include "server/a2a/agent_directory.hpp"

namespace errand::server {

// A stored agent of a workspace, for one caller: a task is a run, and a context is a session. A run
// that has put a question of an MCP server to its client is a task that waits for input, and a
// message answers it. Lives on the engine's home.
class RunBackend final : public a2a::TaskBackend {
 public:
  // The newest tasks of an agent by their beginning; others are asked for by their ids.
  static constexpr std::size_t kListedMax = 1000;
  // Of the files in a task's history, and of those in its artifacts; further ones are only named.
  static constexpr std::size_t kTaskFileBytesMax = 5U * 1024 * 1024;

  // `engine` outlives the object and its streams.
  RunBackend(engine::Engine& engine, Principal who, OfferedAgent agent)
      : engine_(engine), who_(std::move(who)), agent_(std::move(agent)) {}

  Task<Result<std::variant<std::string, a2a::Message>>> take(a2a::Message message) override;
  Task<Result<void>> wait(std::string id) override;
  Task<Result<a2a::Task>> get(std::string id) override;
  Task<Result<std::vector<a2a::Task>>> list(std::string context_id) override;
  Task<Result<void>> cancel(std::string id) override;
  Task<Result<a2a::OpenTask>> open(std::string id) override;

 private:
  Task<Result<RunId>> start(a2a::Message message);
  Task<Result<RunId>> answer(a2a::Message message);
  Task<Result<SessionId>> context_of(std::string context_id, Idempotency idempotency);
  // not_found: no such run, or one of another agent.
  Task<Result<engine::RunView>> find_run(std::string id);
  Task<Result<a2a::Task>> whole_task(const engine::RunView* view);
  Idempotency once(std::string_view what, const std::string& message_id,
                   std::string fingerprint) const;

  engine::Engine& engine_;
  const Principal who_;
  const OfferedAgent agent_;
};

}  // namespace errand::server
