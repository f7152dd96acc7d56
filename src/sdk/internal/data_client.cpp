#include "sdk/internal/data_client.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "engine/access/key_ring.hpp"
#include "net/server/router.hpp"
#include "sdk/client/backend.hpp"
#include "sdk/embedded/own_host.hpp"
#include "sdk/http/http_answers.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"

namespace errand::sdk {
namespace {

constexpr int kSuccessEnd = 300;

Task<Result<void>> finish(OwnHost* host) {
  co_await host->stop();
  co_return Result<void>();
}

// Reads the runs of a host in this process.
class HostBackend final : public Backend {
 public:
  explicit HostBackend(RunApi& api) : api_(api) {}

  RunApi& api() override { return api_; }
  CalledBy called_by() const override { return CalledBy::engine; }
  LentTools lend(const std::vector<ToolPtr>&, const std::vector<ToolRef>&) override { return {}; }
  Task<void> stop() override { co_return; }

 private:
  RunApi& api_;
};

// The routes of a server, over a host in this process.
class DataClient final : public ApiClient {
 public:
  DataClient() = default;
  ~DataClient() override {
    if (!host_) return;
    close();
    auto stopped = wait(finish(host_.get()));
    ERRAND_ASSERT(stopped);
    io().run();  // finishes what the host has left to do
  }

  // `data` is empty for a store in memory.
  Result<void> open(WorkspaceSlug workspace, host::Config config, const std::string& data) {
    ERRAND_TRY(host_, OwnHost::open({.io = io(),
                                     .config = std::move(config),
                                     .data = data,
                                     .workspace = workspace,
                                     .typed_events = false}));
    use(std::make_unique<HostBackend>(host_->api()));
    workspace_ = workspace.str();
    api_.emplace(host_->host().engine(), host_->host().keys(), server::ApiOptions{});
    api_->add_routes(router_);
    return wait(admit_myself(workspace));
  }

  Task<Result<json::Value>> send(ApiRequest request) override {
    std::string target = target_of(request);
    std::size_t end = std::min(target.find('?'), target.size());
    net::Request made{.method = request.method,
                      .path = cat("/api/v1/workspaces/", percent_encode(workspace_),
                                  std::string_view(target).substr(0, end)),
                      .query = end < target.size() ? target.substr(end + 1) : std::string(),
                      .headers = {{"Authorization", cat("Bearer ", key_)}},
                      .body = std::move(request.body)};
    if (request.version) made.headers.push_back({"If-Match", cat('"', *request.version, '"')});
    net::Response answer = co_await router_.handle(std::move(made));
    if (answer.status >= kSuccessEnd) co_return error_of_answer(answer.status, answer.body);
    co_return parse_body(answer.body, "this process");
  }
  const std::string& workspace() const override { return workspace_; }
  bool is_here() const override { return true; }

 private:
  // Makes a key for this client alone, which is not stored.
  Task<Result<void>> admit_myself(WorkspaceSlug workspace) {
    engine::KeyRing& keys = host_->host().keys();
    ERRAND_CO_CHECK(co_await keys.load());
    ERRAND_CO_CHECK(co_await api_->load());
    key_ = engine::KeyRing::make_secret();
    co_return keys.adopt(workspace, key_);
  }

  std::string workspace_;
  std::string key_;
  std::unique_ptr<OwnHost> host_;
  std::optional<server::Api> api_;
  net::Router router_{server::render_error};
};

// A data directory that the flags name takes precedence over ERRAND_SERVER, as in find_server.
bool names_server(const ServerFlags& flags) {
  const char* server = std::getenv("ERRAND_SERVER");
  bool is_in_environment = !flags.data && server && *server;
  return !flags.server.empty() || !flags.key.empty() || is_in_environment;
}

// Whether commands that need a server use one of another folder or of a login, whatever is in this
// data directory. A file that cannot be used counts, because find_server reports what is wrong with
// it.
bool is_server_elsewhere(const std::filesystem::path& data) {
  auto file = nearest_credentials_here();
  if (!file) return true;
  std::error_code ignored;
  return *file && !std::filesystem::equivalent(**file, credentials_file(data), ignored);
}

enum class Where { server, directory, memory };

Where where_of(const DataPlace& place) {
  if (names_server(place.server)) return Where::server;
  std::error_code ignored;
  std::filesystem::path data = data_directory(place.server);
  if (!place.server.data && is_server_elsewhere(data)) return Where::server;
  if (std::filesystem::exists(data / "errand.db", ignored)) return Where::directory;
  if (place.without == WithoutData::is_refused) return Where::server;
  auto server = find_server_here(place.server);
  bool is_known = server || server.error().code() != ErrorCode::not_found;
  return is_known ? Where::server : Where::memory;
}

Result<WorkspaceSlug> workspace_of(const ServerFlags& flags) {
  if (flags.workspace.empty()) return default_workspace();
  if (auto parsed = WorkspaceSlug::parse(flags.workspace)) return *parsed;
  return Error(ErrorCode::invalid_argument, cat("--workspace ", flags.workspace, " is no slug"));
}

Result<ApiClientPtr> open_here(const DataPlace& place, Where where) {
  ERRAND_TRY(auto workspace, workspace_of(place.server));
  ERRAND_TRY(auto config, host::load_config(place.config));
  auto client = std::make_unique<DataClient>();
  std::string data = where == Where::memory ? "" : data_directory(place.server).string();
  ERRAND_CHECK(client->open(std::move(workspace), std::move(config), data));
  return ApiClientPtr(std::move(client));
}

}  // namespace

OpenedData open_data(const DataPlace& place) {
  const Where where = where_of(place);
  if (where != Where::server) {
    auto client = open_here(place, where);
    // If a server uses the directory, that server is asked instead.
    bool is_in_use = !client && client.error().code() == ErrorCode::conflict;
    if (!is_in_use) return {.client = std::move(client)};
  }
  return {.client = client_of_server(place.server), .is_server = true};
}

}  // namespace errand::sdk
