#pragma once

#include <memory>
#include <string>

#include "cli/api_client.hpp"
#include "net/server/router.hpp"
#include "run/ids.hpp"

namespace errand::cli {

// The API of this process: requests go to its router, without a socket. Lives on the router's home.
// A request takes as long as it takes: there is no network to give up on.
class EmbeddedApi final : public ApiClient {
 public:
  // `router` outlives this and lets callers in who show no key.
  EmbeddedApi(const net::Router& router, WorkspaceSlug workspace)
      : router_(router), workspace_(workspace) {}

  Task<Result<json::Value>> send(ApiRequest request) override;
  Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string run, EventSeq after,
                                                               seconds silence_max) override;

 private:
  net::Request make(const ApiRequest& request) const;

  const net::Router& router_;
  const WorkspaceSlug workspace_;
};

}  // namespace errand::cli
