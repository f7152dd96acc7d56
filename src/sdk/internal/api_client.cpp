#include "sdk/internal/api_client.hpp"

#include "sdk/http_api.hpp"

namespace errand::sdk {
namespace {

class ServerClient final : public ApiClient {
 public:
  explicit ServerClient(Credentials server)
      : workspace_(server.workspace), api_(std::move(server)) {}

  Task<Result<json::Value>> send(ApiRequest request) override {
    return api_.send(std::move(request));
  }
  RunApi& runs() override { return api_; }
  const std::string& workspace() const override { return workspace_; }
  bool is_here() const override { return false; }

 private:
  const std::string workspace_;
  HttpApi api_;
};

}  // namespace

ApiClientPtr make_client(Credentials server) {
  return std::make_unique<ServerClient>(std::move(server));
}

Result<ApiClientPtr> client_of_server(const ServerFlags& flags) {
  ERRAND_TRY(auto server, find_server_here(flags));
  return make_client(std::move(server));
}

}  // namespace errand::sdk
