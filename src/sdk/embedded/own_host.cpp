#include "sdk/embedded/own_host.hpp"

#include <utility>

#include "store/memory/memory_store.hpp"

namespace errand::sdk {
namespace {

Result<std::unique_ptr<Store>> make_store(const std::string& data, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  if (!data.empty()) return host::open_store({.data = data, .store = {}}, clock, pool, log);
  return std::unique_ptr<Store>(std::make_unique<MemoryStore>(make_memory_store_data(), clock));
}

}  // namespace

OwnHost::OwnHost(std::unique_ptr<const Clock> clock, int log_fd)
    : clock_(clock ? std::move(clock) : std::make_unique<const SystemClock>()),
      log_(*clock_, log_fd, LogFormat::text, LogLevel::warning),
      pool_(host::kBlockingThreads, host::kBlockingQueueMax) {}

Result<std::unique_ptr<OwnHost>> OwnHost::open(Params params) {
  std::unique_ptr<OwnHost> made(new OwnHost(std::move(params.clock), params.log_fd));
  ERRAND_TRY(auto store, make_store(params.data, *made->clock_, made->pool_, made->log_));
  host::Host::Surroundings around{.io = params.io,
                                  .clock = *made->clock_,
                                  .log = made->log_,
                                  .program = params.program,
                                  .typed_events = params.typed_events,
                                  .joins_any_room = params.joins_any_room,
                                  .data = params.data};
  made->host_ =
      std::make_unique<host::Host>(std::move(around), std::move(params.config), std::move(store));
  made->api_ = std::make_unique<EmbeddedApi>(*made->host_, params.workspace);
  return made;
}

Task<void> OwnHost::stop() {
  host_->engine().drain();
  co_await host_->stop();
}

}  // namespace errand::sdk
