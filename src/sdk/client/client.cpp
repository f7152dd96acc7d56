#include <errand/client.hpp>
#include <utility>

#include "sdk/bridge/handler_services.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/credentials.hpp"
#include "sdk/http_api.hpp"
#include "sdk/toolbox.hpp"

namespace errand::v1 {
namespace {

// The runs of a server. This process answers the calls of its tools.
class ServerBackend final : public sdk::Backend {
 public:
  ServerBackend(sdk::Credentials server, sdk::Teller tell)
      : api_(std::move(server), std::move(tell)) {}

  sdk::RunApi& api() override { return api_; }
  sdk::ApiSender* server() override { return &api_; }
  sdk::CalledBy called_by() const override { return sdk::CalledBy::client; }
  sdk::LentTools lend(const std::vector<ToolPtr>& tools,
                      const std::vector<ToolRef>& servers) override {
    return {.refs = sdk::lend_as_client(tools, servers)->refs};
  }
  Task<void> stop() override { co_return; }

 private:
  sdk::HttpApi api_;
};

std::shared_ptr<sdk::RunnerCore> make_core(const ClientOptions& options) {
  auto server = sdk::find_server_here(
      {.server = options.server, .key = options.key, .workspace = options.workspace, .data = {}});
  if (!server) throw sdk::public_error(server.error());
  auto core = std::make_shared<sdk::RunnerCore>(
      sdk::RunnerCore::Options{.handlers = options.handlers, .patience = options.patience});
  auto opened = core->open([&](const sdk::RunnerCore::Surroundings&) {
    return errand::Result<std::unique_ptr<sdk::Backend>>(
        std::make_unique<ServerBackend>(*server, sdk::teller_of(options.handlers)));
  });
  if (!opened) throw sdk::public_error(opened.error());
  return core;
}

}  // namespace

Client::Client(ClientOptions options) : Runner(make_core(options)) {}

Client::~Client() = default;

}  // namespace errand::v1
