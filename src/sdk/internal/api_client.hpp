#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/timers.hpp"
#include "sdk/credentials.hpp"
#include "sdk/http/api_request.hpp"
#include "sdk/internal/wait_for.hpp"

namespace errand::sdk {

class Backend;
class Following;
class RunnerCore;

// The API of one workspace, for a command that asks and waits: that of a server, or that of this
// process for a data directory (data_client.hpp). What is behind errand::Client, on a loop of its
// own; used by one thread.
class ApiClient : public ApiSender {
 public:
  ~ApiClient() override;
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // The verbs on runs, in structs.
  RunApi& runs();
  // The events of a run behind `after`. Its calls are left to other clients.
  std::shared_ptr<Following> follow(const RunId& run, EventSeq after);
  virtual const std::string& workspace() const = 0;
  // Whether this process answers itself.
  virtual bool is_here() const = 0;

  // Runs the loop until the task has ended. Blocks.
  template <class T>
  Result<T> wait(Task<Result<T>> task) {
    return run_until(io_, std::move(task));
  }
  // A whole answer, to be shown as it is. Blocks.
  Result<json::Value> ask(ApiRequest request) { return wait(send(std::move(request))); }

  Timers& timers();

 protected:
  // Without a backend, until use() gives it one.
  explicit ApiClient(std::unique_ptr<Backend> backend = nullptr);
  void use(std::unique_ptr<Backend> backend);
  // Lets go of the runs that were followed, which use the backend. Nothing is asked afterwards.
  void close();
  Backend& backend();
  asio::io_context& io() { return io_; }

 private:
  asio::io_context io_{1};
  const std::shared_ptr<RunnerCore> core_;
};

using ApiClientPtr = std::unique_ptr<ApiClient>;

ApiClientPtr make_client(Credentials server);

// A client of the server that the flags name; errors are those of find_server.
Result<ApiClientPtr> client_of_server(const ServerFlags& flags);

}  // namespace errand::sdk
