#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/server/server_features.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/mcp/mcp_offer.hpp"
#include "sdk/mcp/served_mcp_call.hpp"

namespace errand::sdk {

// A server of the program as one client sees it. Handlers run on the threads of `handlers`, which
// outlives this. Lives on their home.
class ToolkitFeatures final : public mcp::ServerFeatures {
 public:
  // A tool without a timeout of its own may take any time.
  ToolkitFeatures(std::shared_ptr<McpOffer> offer, Handlers& handlers)
      : offer_(std::move(offer)), handlers_(handlers) {}

  mcp::ServerOffer offer() const override { return offer_->offer(); }
  Task<Result<std::vector<mcp::Tool>>> tools() override;
  Task<Result<mcp::CallOutcome>> call_tool(mcp::ServeToolParams params,
                                           mcp::ServedCall* call) override;
  Task<Result<std::vector<mcp::Prompt>>> prompts() override;
  Task<Result<mcp::PromptOutcome>> get_prompt(mcp::GetPromptParams params,
                                              mcp::ServedCall* call) override;
  Task<Result<std::vector<mcp::Resource>>> resources() override;
  Task<Result<std::vector<mcp::ResourceTemplate>>> resource_templates() override;
  Task<Result<std::vector<mcp::EmbeddedResource>>> read_resource(std::string uri,
                                                                 mcp::ServedCall* call) override;
  Task<Result<mcp::Completion>> complete(mcp::CompleteParams params,
                                         mcp::ServedCall* call) override;

 private:
  using CallPtr = std::shared_ptr<ServedMcpCall>;

  // Runs a handler for a request, and asks the client what it wants to know.
  Task<ToolOutcome> run(HandlerCall made, CallPtr served, mcp::ServedCall* call);
  Result<CallPtr> serve(mcp::ServedCall& call, const std::string& request,
                        const json::Object& responses,
                        const std::optional<std::string>& state) const;
  mcp::InputRequired input_wanted(const ServedMcpCall& served, const std::string& request) const;
  // Runs a function of the program that gives a T.
  template <class T>
  Task<Result<T>> produce(std::function<T(v1::ToolContext&)> function, std::string what,
                          CallPtr served, mcp::ServedCall* call);

  const std::shared_ptr<McpOffer> offer_;
  Handlers& handlers_;
};

}  // namespace errand::sdk
