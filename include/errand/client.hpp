#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <errand/handler_options.hpp>
#include <errand/runner.hpp>
#include <errand/toolkit.hpp>

namespace errand::sdk {
class Serving;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// Options that are left out come from where the commands take them: ERRAND_SERVER and
// ERRAND_API_KEY, then the file .errand/credentials in this folder or one above it, which `errand
// serve` writes, then what `errand login` stored for the user. The key of a file is never sent to
// another server, and the file has to be the user's own. Proxies and certificates follow
// HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.
struct ClientOptions {
  std::string server = {};  // "http://127.0.0.1:7300"
  std::string key = {};
  std::string workspace = {};
  HandlerOptions handlers = {};
  // How long requests are repeated while the server that answered before does not.
  std::chrono::seconds patience{30};
};

struct WorkerOptions {
  std::size_t calls_max = 8;  // that run at a time; at least 1
  // How long a call is this worker's own, 100 ms to 24 h; it is extended while the handler runs. A
  // call of a worker that was killed is offered to others after it.
  std::chrono::milliseconds claim{30'000};
  // Told of every failure: a server that does not answer and is asked again, an answer that was
  // refused, and, last, why the worker takes no more calls (Worker::error). Called on the client's
  // own thread, where it must neither block, throw nor call the client. Without it, failures are
  // warnings in the log of HandlerOptions.
  std::function<void(const Error& error)> on_error = {};
};

// Answers calls of any run in the background, until it is stopped or destroyed.
class Worker final {
 public:
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();  // stop()

  // Takes no more calls, and waits until the running calls are answered.
  void stop();
  // Calls that were answered so far.
  std::size_t answered() const;
  // Why the worker takes no more calls without having been stopped: the server refuses its key, or
  // does not know the worker's requests. Nothing while the worker works.
  std::optional<Error> error() const;

 private:
  friend class Client;
  Worker(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::Serving> serving);

  std::shared_ptr<sdk::RunnerCore> core_;
  std::shared_ptr<sdk::Serving> serving_;
};

// A client of a server. Reconnects, repeats requests that are safe to repeat, and gives each
// request an idempotency key, so that none takes effect twice. Has one thread of its own, and one
// for each handler that runs. Its destructor waits for handlers that run; do not call it from one.
class Client final : public Runner {
 public:
  // Throws an Error: not_found if no server is named anywhere, unauthorized without a key,
  // unavailable if a credentials file cannot be read or is open to others.
  explicit Client(ClientOptions options = {});
  ~Client();

  // Answers the calls of these tools that wait for a client, of any run in the workspace. Any
  // number of processes share the work. A handler may be called twice for a call whose worker was
  // killed, with the same ToolContext::call_id; one answer counts. A client that is destroyed while
  // handlers run offers calls of read-only and idempotent tools to others; the other calls fail,
  // and the model is told that they may have taken effect. Throws an Error (invalid_argument with a
  // pointer) for wrong options and for a toolkit without tools.
  [[nodiscard]] Worker serve(Toolkit toolkit, WorkerOptions options = {}) const;
};

}  // namespace errand::ERRAND_V1
