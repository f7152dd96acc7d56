#pragma once

#include <utility>
#include <vector>

#include "sdk/client/backend.hpp"
#include "sdk/credentials.hpp"
#include "sdk/http/http_api.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {

// The runs of a server. This process answers the calls of its tools.
class ServerBackend final : public Backend {
 public:
  // `tell` hears the warnings of answers.
  explicit ServerBackend(Credentials server, Teller tell = {})
      : api_(std::move(server), std::move(tell)) {}

  RunApi& api() override { return api_; }
  ApiSender* server() override { return &api_; }
  CalledBy called_by() const override { return CalledBy::client; }
  LentTools lend(const std::vector<ToolPtr>& tools, const std::vector<ToolRef>& servers) override {
    return {.refs = lend_as_client(tools, servers)->refs};
  }
  Task<void> stop() override { co_return; }

 private:
  HttpApi api_;
};

}  // namespace errand::sdk
