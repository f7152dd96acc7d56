#pragma once

#include <string>
#include <vector>

#include "mcp/server/http_endpoint.hpp"

namespace errand::mcp {

// What the conformance suite asks a server for. The names and texts are the suite's.
class ConformanceFixture final : public ServerFeatures {
 public:
  // `endpoint` outlives the fixture.
  explicit ConformanceFixture(HttpEndpoint& endpoint) : endpoint_(endpoint) {}

  ServerOffer offer() const override;
  Task<Result<std::vector<Tool>>> tools() override;
  Task<Result<CallOutcome>> call_tool(ServeToolParams params, ServedCall* call) override;
  Task<Result<std::vector<Prompt>>> prompts() override;
  Task<Result<PromptOutcome>> get_prompt(GetPromptParams params) override;
  Task<Result<std::vector<Resource>>> resources() override;
  Task<Result<std::vector<ResourceTemplate>>> resource_templates() override;
  Task<Result<std::vector<EmbeddedResource>>> read_resource(std::string uri) override;
  Task<Result<Completion>> complete(CompleteParams params) override;

 private:
  Task<Result<CallOutcome>> call_slow_tool(std::string name, ServedCall* call);
  static Task<Result<CallOutcome>> sample(std::string prompt, ServedCall* call);
  static Task<Result<CallOutcome>> elicit(std::string head, json::Object params, ServedCall* call);

  HttpEndpoint& endpoint_;
};

}  // namespace errand::mcp
