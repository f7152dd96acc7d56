#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sdk/credentials.hpp"
#include "sdk/http_api.hpp"
#include "sdk/own_host.hpp"
#include "sdk/web_access.hpp"

namespace errand::sdk {

// Where the runs of a command are driven: by a server, or by a host of this process. Lives on the
// thread that runs the loop. Made first, and opened once.
class RunPlace final {
 public:
  // The server that the flags mean.
  static RunPlace at_server(ServerFlags flags);
  // This process, on the data directory if the flags name one, or on a store that ends with it.
  // Reads the configuration. invalid_argument: it is wrong.
  static Result<RunPlace> here(ServerFlags flags, const std::string& config_file);

  bool is_here() const { return config_.has_value() || host_; }
  // For tools of this process: what the configuration of its host allows, or the environment.
  WebAccess web() const;

  // What a host of this process is made with; outlives the place.
  struct Surroundings {
    asio::io_context& io;
    ToolSource& tools;  // that runs may call
    int log_fd;
    // Told of each pause before a model is asked again, of runs that are driven here.
    std::function<void(const ModelFailure&, milliseconds)> on_model_retry = {};
  };
  // Errors of a server are those of find_server; of a host, those of OwnHost::open.
  Result<void> open(const Surroundings& around);

  // Once it is open.
  RunApi& api() { return *api_; }
  const std::string& where() const { return where_; }  // the runs are: "on http://127.0.0.1:7300"
  // Begins to drive runs, if they are driven here.
  void start();
  // Before the place is destroyed.
  Task<void> stop();

 private:
  explicit RunPlace(ServerFlags flags) : flags_(std::move(flags)) {}
  Result<void> open_server();
  Result<void> open_host(const Surroundings& around);

  ServerFlags flags_;
  std::optional<host::Config> config_;  // of a host, until it is opened
  std::string where_;
  std::unique_ptr<HttpApi> server_;
  std::unique_ptr<OwnHost> host_;
  RunApi* api_ = nullptr;
};

}  // namespace errand::sdk
