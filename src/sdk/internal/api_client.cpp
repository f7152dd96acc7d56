#include "sdk/internal/api_client.hpp"

#include "base/assert.hpp"
#include "sdk/client/server_backend.hpp"
#include "sdk/internal/command_core.hpp"

namespace errand::sdk {
namespace {

class ServerClient final : public ApiClient {
 public:
  explicit ServerClient(Credentials server)
      : ApiClient(std::make_unique<ServerBackend>(server)), workspace_(server.workspace) {}

  Task<Result<json::Value>> send(ApiRequest request) override {
    return backend().server()->send(std::move(request));
  }
  const std::string& workspace() const override { return workspace_; }
  bool is_here() const override { return false; }

 private:
  const std::string workspace_;
};

Task<Result<void>> stop(RunnerCore* core) {
  co_await core->stop();
  co_return Result<void>();
}

}  // namespace

ApiClient::ApiClient(std::unique_ptr<Backend> backend) : core_(make_command_core(io_)) {
  if (backend) use(std::move(backend));
}

ApiClient::~ApiClient() = default;

void ApiClient::use(std::unique_ptr<Backend> backend) {
  auto opened = core_->open([&](const RunnerCore::Surroundings&) {
    return Result<std::unique_ptr<Backend>>(std::move(backend));
  });
  ERRAND_ASSERT(opened);
}

void ApiClient::close() {
  auto stopped = wait(stop(core_.get()));
  ERRAND_ASSERT(stopped);
}

Backend& ApiClient::backend() {
  return core_->backend();
}

RunApi& ApiClient::runs() {
  return core_->api();
}

std::shared_ptr<Following> ApiClient::follow(const RunId& run, EventSeq after) {
  return core_->read(run, {.after = after, .first_failure = RunStream::FirstFailure::is_final});
}

Timers& ApiClient::timers() {
  return core_->timers();
}

ApiClientPtr make_client(Credentials server) {
  return std::make_unique<ServerClient>(std::move(server));
}

Result<ApiClientPtr> client_of_server(const ServerFlags& flags) {
  ERRAND_TRY(auto server, find_server_here(flags));
  return make_client(std::move(server));
}

}  // namespace errand::sdk
