#include "sdk/internal/run_place.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {

RunPlace RunPlace::at_server(ServerFlags flags) {
  return RunPlace(std::move(flags));
}

Result<RunPlace> RunPlace::here(ServerFlags flags, const std::string& config_file) {
  RunPlace place(std::move(flags));
  ERRAND_TRY(place.config_, host::load_config(config_file));
  return place;
}

WebAccess RunPlace::web() const {
  if (!config_) return web_access_here();
  return {.networks = config_->networks, .search = config_->search};
}

Result<void> RunPlace::open(const Surroundings& around) {
  return is_here() ? open_host(around) : open_server();
}

Result<void> RunPlace::open_server() {
  ERRAND_TRY(auto server, find_server_here(flags_));
  where_ = cat("on ", server.url);
  server_ = std::make_unique<HttpApi>(std::move(server));
  api_ = server_.get();
  return {};
}

Result<void> RunPlace::open_host(const Surroundings& around) {
  where_ =
      flags_.data ? cat("in this process, kept in ", *flags_.data) : "in this process, not kept";
  auto host = OwnHost::open({.io = around.io,
                             .config = std::move(*config_),
                             .data = flags_.data.value_or(""),
                             .program = &around.tools,
                             .joins_any_room = true,
                             .log_fd = around.log_fd,
                             .on_model_retry = around.on_model_retry});
  if (!host && host.error().code() == ErrorCode::conflict) {
    return Error(host.error())
        .hint(
            "wait for it, be its client with --server URL --key KEY, or choose another "
            "--data DIR");
  }
  ERRAND_TRY(host_, std::move(host));
  api_ = &host_->api();
  return {};
}

void RunPlace::start() {
  if (host_) host_->start();
}

Task<void> RunPlace::stop() {
  if (host_) co_await host_->stop();
}

}  // namespace errand::sdk
