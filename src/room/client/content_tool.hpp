#pragma once

#include <memory>
#include <string>

#include "room/client/hosted_call.hpp"
#include "tool/tool.hpp"

namespace errand::room {

// A hosted tool that takes and gives any content, single or streamed. Lives on the client's home.
class ContentTool {
 public:
  virtual ~ContentTool() = default;
  virtual const std::string& name() const = 0;
  // Its members of the registration.
  virtual json::Object members() const = 0;
  // The answer, or anything at the end of a stream; an error content for a failure. Input of a kind
  // that the tool does not declare never comes here, save as an item of a stream. `context` is
  // valid until the task ends, and so is all that it points to.
  virtual Task<Content> serve(HostedCallPtr call, ToolContext context) = 0;
};

}  // namespace errand::room
