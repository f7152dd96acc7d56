#include <errand/client.hpp>
#include <utility>

#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/client/serving.hpp"

namespace errand::v1 {

Worker::Worker(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::Serving> serving)
    : core_(std::move(core)), serving_(std::move(serving)) {}

Worker::Worker(Worker&&) noexcept = default;

Worker::~Worker() {
  if (serving_) stop();
}

void Worker::stop() {
  // If the client is closed, its workers have stopped already.
  [[maybe_unused]] auto stopped =
      core_->wait<bool>([core = core_.get(), serving = serving_] { return core->finish(serving); });
}

std::size_t Worker::answered() const {
  return serving_->answered();
}

std::optional<Error> Worker::error() const {
  return serving_->error();
}

Worker Client::serve(Toolkit toolkit, WorkerOptions options) const {
  auto serving = sdk::value_or_throw(core_->serve(toolkit, options));
  return {core_, std::move(serving)};
}

}  // namespace errand::v1
