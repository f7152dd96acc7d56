#pragma once

#include <vector>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "mcp/codec.hpp"

namespace errand::mcp {

// What a server may ask of this side. Requests for features that are not offered are answered as
// not supported. Called on the client's home. An Error goes to the server.
class ClientFeatures {
 public:
  virtual ~ClientFeatures() = default;

  virtual ClientCapabilities offered() const = 0;
  virtual Task<Result<std::vector<Root>>> roots();
  virtual Task<Result<CreateMessageResult>> create_message(CreateMessageParams params);
  virtual Task<Result<ElicitResult>> elicit(ElicitParams params);
};

// Answers a request of the server, by whichever way it has come. `features` may be null.
Task<rpc::Answer> answer_request(ClientFeatures* features, std::string method, json::Object params);

}  // namespace errand::mcp
