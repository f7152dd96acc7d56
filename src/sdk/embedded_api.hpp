#pragma once

#include <memory>
#include <string>

#include "host/host.hpp"
#include "net/server/router.hpp"
#include "run/ids.hpp"
#include "sdk/api_client.hpp"
#include "server/api.hpp"

namespace errand::sdk {

// The API of a host in this process, without a socket. Lives on the host's home. A request takes as
// long as it takes: there is no network to give up on.
class EmbeddedApi final : public ApiClient {
 public:
  // `host` outlives this.
  explicit EmbeddedApi(host::Host& host);

  Task<Result<json::Value>> send(ApiRequest request) override;
  Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string run, EventSeq after,
                                                               seconds silence_max) override;

 private:
  net::Request make(const ApiRequest& request) const;

  const WorkspaceSlug workspace_;
  server::Api api_;
  net::Router router_;
};

}  // namespace errand::sdk
