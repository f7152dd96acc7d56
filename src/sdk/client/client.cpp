#include <errand/client.hpp>
#include <utility>

#include "sdk/bridge/handler_services.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/client/server_backend.hpp"

namespace errand::v1 {
namespace {

std::shared_ptr<sdk::RunnerCore> make_core(const ClientOptions& options) {
  auto server = sdk::find_server_here(
      {.server = options.server, .key = options.key, .workspace = options.workspace, .data = {}});
  if (!server) throw sdk::public_error(server.error());
  auto core = std::make_shared<sdk::RunnerCore>(
      sdk::RunnerCore::Options{.handlers = options.handlers, .patience = options.patience});
  auto opened = core->open([&](const sdk::RunnerCore::Surroundings&) {
    return errand::Result<std::unique_ptr<sdk::Backend>>(
        std::make_unique<sdk::ServerBackend>(*server, sdk::teller_of(options.handlers)));
  });
  if (!opened) throw sdk::public_error(opened.error());
  return core;
}

}  // namespace

Client::Client(ClientOptions options) : Runner(make_core(options)) {}

Client::~Client() = default;

}  // namespace errand::v1
