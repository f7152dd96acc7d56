#include "sdk/internal/command_runner.hpp"

#include <utility>

#include "base/text.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/engine_backend.hpp"
#include "sdk/client/server_backend.hpp"
#include "sdk/internal/agent_servers.hpp"
#include "sdk/internal/command_core.hpp"

namespace errand::sdk {

CommandRunner::CommandRunner(asio::io_context& loop, ServerFlags flags, bool is_here)
    : flags_(std::move(flags)), is_here_(is_here), core_(make_command_core(loop)) {}

std::unique_ptr<CommandRunner> CommandRunner::at_server(asio::io_context& loop, ServerFlags flags) {
  return std::unique_ptr<CommandRunner>(new CommandRunner(loop, std::move(flags), false));
}

Result<std::unique_ptr<CommandRunner>> CommandRunner::here(asio::io_context& loop,
                                                           ServerFlags flags,
                                                           const std::string& config_file) {
  std::unique_ptr<CommandRunner> made(new CommandRunner(loop, std::move(flags), true));
  ERRAND_TRY(made->config_, host::load_config(config_file));
  return made;
}

// ---- Tools --------------------------------------------------------------------------------------

Result<void> CommandRunner::lend(const CommandTools& asked) {
  WebAccess web = web_access_here();
  if (config_) web = {.networks = config_->networks, .search = config_->search};
  ERRAND_TRY(auto toolkits, make_toolkits(asked, std::move(web)));
  ERRAND_TRY(tools_, bridge_tools(core_->handlers(), {}, toolkits));
  return {};
}

Task<Result<std::vector<Error>>> CommandRunner::connect(std::vector<std::string> mcp,
                                                        std::vector<std::string> a2a) {
  servers_.emplace(core_->home(), core_->timers());
  co_await servers_->connect(std::move(mcp), std::move(a2a));
  const std::vector<ToolPtr>& learned = servers_->tools();
  tools_.insert(tools_.end(), learned.begin(), learned.end());
  co_return servers_->failures();
}

Task<void> CommandRunner::disconnect() {
  if (servers_) co_await servers_->stop();
  servers_.reset();
}

// ---- Runs ---------------------------------------------------------------------------------------

Result<void> CommandRunner::open(Surroundings around) {
  ERRAND_CHECK(is_here_ ? open_engine(std::move(around)) : open_server());
  LentTools lent =
      core_->backend().lend(tools_, servers_ ? servers_->refs() : std::vector<ToolRef>());
  lent_ = share_with_text(std::move(lent.refs));
  lease_ = std::move(lent.lease);
  return {};
}

Result<void> CommandRunner::open_server() {
  ERRAND_TRY(auto server, find_server_here(flags_));
  where_ = cat("on ", server.url);
  return core_->open([&](const RunnerCore::Surroundings&) {
    return Result<std::unique_ptr<Backend>>(std::make_unique<ServerBackend>(std::move(server)));
  });
}

Result<void> CommandRunner::open_engine(Surroundings around) {
  where_ =
      flags_.data ? cat("in this process, kept in ", *flags_.data) : "in this process, not kept";
  auto opened = core_->open([&](const RunnerCore::Surroundings& of_core) {
    return EngineBackend::make({.data = flags_.data.value_or("")}, of_core,
                               {.config = std::move(config_),
                                .absence = ProgramTools::Absence::fails,
                                .joins_any_room = true,
                                .log_fd = around.log_fd,
                                .on_model_retry = std::move(around.on_model_retry)});
  });
  if (opened || opened.error().code() != ErrorCode::conflict) return opened;
  return Error(opened.error())
      .hint("wait for it, be its client with --server URL --key KEY, or choose another --data DIR");
}

RunApi& CommandRunner::api() {
  return core_->api();
}

FollowedRun CommandRunner::follow(const RunId& run) {
  return core_->read(run, {.tools = tools_, .answers = true});
}

FollowedRun CommandRunner::rejoin(const RunInfo& run) {
  auto followed =
      core_->read(run.id, {.tools = tools_, .answers = true, .calls_after = run.last_seq});
  for (const LocalToolCall& call : run.pending) followed->answer(call);
  return followed;
}

Task<void> CommandRunner::leave(FollowedRun run) {
  return core_->leave(std::move(run));
}

Task<void> CommandRunner::stop(BlockingPool& pool) {
  co_await core_->stop();
  co_await disconnect();
  [[maybe_unused]] auto closed = co_await pool.run([core = core_.get()] {
    core->handlers().close();
    return Result<void>();
  });
}

}  // namespace errand::sdk
