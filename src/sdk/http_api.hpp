#pragma once

#include <memory>
#include <string>

#include "sdk/api_client.hpp"
#include "sdk/credentials.hpp"

namespace errand::sdk {

// The API of a server: builds URLs and adds the key.
class HttpApi final : public ApiClient {
 public:
  HttpApi(Credentials server, net::ClientOptions options);

  Task<Result<json::Value>> send(ApiRequest request) override;
  Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string run, EventSeq after,
                                                               seconds silence_max) override;

 private:
  net::ClientRequest make(const ApiRequest& request) const;

  const Credentials server_;
  net::HttpClient http_;
};

}  // namespace errand::sdk
