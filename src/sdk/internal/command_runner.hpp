#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/timers.hpp"
#include "host/host.hpp"
#include "sdk/credentials.hpp"
#include "sdk/internal/agent_servers.hpp"
#include "sdk/internal/command_tools.hpp"
#include "sdk/internal/followed_run.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

class RunnerCore;

// The runs of a command, and the tools that it lends to them: what is behind errand::Client and
// errand::Runtime, on the command's own loop. Nothing blocks, and the events of a run are those of
// its log, as `--json` shows them. Used in this order: lend() and connect(), open(), and, before
// it is destroyed, stop().
class CommandRunner final {
 public:
  // Of the server that the flags mean.
  static std::unique_ptr<CommandRunner> at_server(asio::io_context& loop, ServerFlags flags);
  // Of this process, on the data directory if the flags name one, or on a store that ends with it.
  // Reads the configuration. invalid_argument: it is wrong.
  static Result<std::unique_ptr<CommandRunner>> here(asio::io_context& loop, ServerFlags flags,
                                                     const std::string& config_file);

  bool is_here() const { return is_here_; }

  // Adds built-in tools. Errors name the flag.
  Result<void> lend(const CommandTools& asked);
  // Adds the tools of servers; see AgentServers. Returns why some of them are missing.
  // "config:NAME" is a server of the configuration, which the process that drives the runs connects
  // to. The programs among the servers are told of the folder, if there is one. invalid_argument:
  // no such name.
  Task<Result<std::vector<Error>>> connect(std::vector<std::string> mcp,
                                           std::vector<std::string> a2a, std::string folder);
  // The same for tools that no run calls.
  Task<Result<std::vector<Error>>> connect_for_others(std::vector<std::string> mcp);
  // Answers what MCP servers ask the user, in runs that are followed here.
  void ask_user_with(ToolPtr elicitation) { elicitation_ = std::move(elicitation); }
  // Ends what connect() has begun.
  Task<void> disconnect();
  const std::vector<ToolPtr>& tools() const { return tools_; }

  // An engine in this process logs to `log_fd`. Errors of a server are those of find_server; of
  // this process, those of OwnHost::open.
  Result<void> open(int log_fd);

  // Once it is open.
  RunApi& api();
  const std::string& where() const { return where_; }  // the runs are: "on http://127.0.0.1:7300"
  // The tools in the form for a run.
  const ToolSetPtr& lent() const { return lent_; }
  // Follows a run that was made here, or, with what is known of it, one that was there. Answers its
  // calls.
  FollowedRun follow(const RunId& run);
  FollowedRun rejoin(const RunInfo& run);
  // Of a run that is not read any more.
  Task<void> leave(FollowedRun run);
  // `pool` waits for handlers that still run.
  Task<void> stop(BlockingPool& pool);
  // Kills every program that tools of this process have started, for a process that ends at once.
  static void kill_programs();

 private:
  CommandRunner(asio::io_context& loop, ServerFlags flags, bool is_here);
  Result<void> open_server();
  Result<void> open_engine(int log_fd);
  Task<std::vector<Error>> connect_to(std::vector<std::string> mcp, std::vector<std::string> a2a,
                                      std::string folder, RunsAt runs);
  std::vector<ToolPtr> answering() const;

  const ServerFlags flags_;
  const bool is_here_;
  std::optional<host::Config> config_;  // of an engine, until it is opened
  const std::shared_ptr<RunnerCore> core_;
  std::optional<AgentServers> servers_;
  std::string where_;
  std::vector<ToolPtr> tools_;
  std::vector<ToolRef> configured_;  // servers of the configuration
  ToolPtr elicitation_;              // null: questions are refused
  ToolSetPtr lent_;
  std::shared_ptr<void> lease_;
};

}  // namespace errand::sdk
