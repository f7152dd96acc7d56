#pragma once

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "host/host.hpp"
#include "sdk/embedded/embedded_api.hpp"

namespace errand::sdk {

// A host in this process with everything that it stands on: a clock, a log, threads for calls that
// block, and a store. For programs and commands that need no server. Lives on the thread that runs
// the loop.
class OwnHost final {
 public:
  struct Params {
    asio::io_context& io;  // outlives the host
    host::Config config;
    // Where runs are kept; empty: in memory, and gone with the host.
    std::string data = {};
    WorkspaceSlug workspace = default_workspace();  // of api()
    ToolSource* program = nullptr;                  // tools of the program itself; outlive the host
    bool typed_events = true;  // for readers of api(), see host::Host::Surroundings
    bool joins_any_room = false;
    int log_fd = STDERR_FILENO;                    // gets warnings and errors
    std::unique_ptr<const Clock> clock = nullptr;  // null: the system's
  };
  // Opens the store. Errors are those of host::open_store; conflict: another process has the
  // directory.
  static Result<std::unique_ptr<OwnHost>> open(Params params);

  OwnHost(const OwnHost&) = delete;
  OwnHost& operator=(const OwnHost&) = delete;

  host::Host& host() { return *host_; }
  Log& log() { return log_; }
  RunApi& api() { return *api_; }

  // Begins to drive runs. A host that only answers questions is not started.
  void start() { host_->engine().start(); }
  // A host that was started is stopped before it is destroyed.
  Task<void> stop();

 private:
  OwnHost(std::unique_ptr<const Clock> clock, int log_fd);

  const std::unique_ptr<const Clock> clock_;
  Log log_;
  BlockingPool pool_;
  std::unique_ptr<host::Host> host_;
  std::unique_ptr<EmbeddedApi> api_;
};

}  // namespace errand::sdk
