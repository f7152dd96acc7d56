#include "sdk/internal/command_runner.hpp"

#include <utility>

#include "base/text.hpp"
#include "process/subprocess.hpp"
#include "run/tools/tool_decl.hpp"
#include "run/tools/tool_ref.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/engine_backend.hpp"
#include "sdk/client/server_backend.hpp"
#include "sdk/internal/agent_servers.hpp"
#include "sdk/internal/command_core.hpp"

namespace errand::sdk {
namespace {

// Moves the flags that name a server of the configuration ("config:NAME") into refs: the process
// that drives the run connects to that server.
Result<std::vector<ToolRef>> take_configured(std::vector<std::string>& mcp) {
  std::vector<ToolRef> refs;
  for (const std::string& flag : mcp) {
    if (!flag.starts_with(kConfiguredServer)) continue;
    std::string name = flag.substr(kConfiguredServer.size());
    if (!is_valid_tool_name(name)) {
      return Error(ErrorCode::invalid_argument,
                   cat("--mcp ", flag, ": a name has 1 to 64 letters, digits and underscores"));
    }
    refs.emplace_back(
        McpServer{.name = std::move(name), .url = flag, .headers = {}, .tool_filter = {}});
  }
  std::erase_if(mcp, [](const std::string& flag) { return flag.starts_with(kConfiguredServer); });
  return refs;
}

}  // namespace

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
                                                        std::vector<std::string> a2a,
                                                        std::string folder) {
  ERRAND_CO_TRY(configured_, take_configured(mcp));
  co_return co_await connect_to(std::move(mcp), std::move(a2a), std::move(folder),
                                is_here_ ? RunsAt::engine : RunsAt::server);
}

Task<Result<std::vector<Error>>> CommandRunner::connect_for_others(std::vector<std::string> mcp) {
  co_return co_await connect_to(std::move(mcp), {}, {}, RunsAt::nowhere);
}

Task<std::vector<Error>> CommandRunner::connect_to(std::vector<std::string> mcp,
                                                   std::vector<std::string> a2a, std::string folder,
                                                   RunsAt runs) {
  servers_.emplace(core_->home(), core_->timers(), runs);
  co_await servers_->connect(std::move(mcp), std::move(a2a), std::move(folder));
  const std::vector<ToolPtr>& learned = servers_->tools();
  tools_.insert(tools_.end(), learned.begin(), learned.end());
  co_return servers_->failures();
}

Task<void> CommandRunner::disconnect() {
  if (servers_) co_await servers_->stop();
  servers_.reset();
}

// ---- Runs ---------------------------------------------------------------------------------------

Result<void> CommandRunner::open(int log_fd) {
  ERRAND_CHECK(is_here_ ? open_engine(log_fd) : open_server());
  LentTools lent =
      core_->backend().lend(tools_, servers_ ? servers_->refs() : std::vector<ToolRef>());
  lent.refs.insert(lent.refs.end(), configured_.begin(), configured_.end());
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

Result<void> CommandRunner::open_engine(int log_fd) {
  where_ =
      flags_.data ? cat("in this process, kept in ", *flags_.data) : "in this process, not kept";
  auto opened = core_->open([&](const RunnerCore::Surroundings& of_core) {
    return EngineBackend::make({.data = flags_.data.value_or("")}, of_core,
                               {.config = std::move(config_),
                                .absence = ProgramTools::Absence::fails,
                                .joins_any_room = true,
                                .log_fd = log_fd});
  });
  if (opened || opened.error().code() != ErrorCode::conflict) return opened;
  return Error(opened.error())
      .hint("wait for it, be its client with --server URL --key KEY, or choose another --data DIR");
}

RunApi& CommandRunner::api() {
  return core_->api();
}

// The tools that are lent to runs, and the tool that answers questions to the user, which no model
// calls.
std::vector<ToolPtr> CommandRunner::answering() const {
  std::vector<ToolPtr> tools = tools_;
  if (elicitation_) tools.push_back(elicitation_);
  return tools;
}

FollowedRun CommandRunner::follow(const RunId& run) {
  return core_->read(run, {.tools = answering(), .answers = true});
}

FollowedRun CommandRunner::rejoin(const RunInfo& run) {
  auto followed =
      core_->read(run.id, {.tools = answering(), .answers = true, .calls_after = run.last_seq});
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

void CommandRunner::kill_programs() {
  process::Subprocess::kill_all();
}

}  // namespace errand::sdk
